/* SPDX-License-Identifier: MIT */
/*
 * What each file descriptor of the process is: a byte a descriptor, so that calls on files and
 * pipes pass at the price of a load. All functions are async-signal-safe, and touch neither errno
 * nor thread-local storage: the caller may have none.
 */
#ifndef MAGNET_PRELOAD_FDKIND_H
#define MAGNET_PRELOAD_FDKIND_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>

#include "calls.h"
#include "self.h"

#define FD_TABLE 65536

extern uint8_t mg_fd_table[FD_TABLE];

/* The program has given up the system calls that would take. */
extern bool mg_fd_ask_no_more;
/* Ask the kernel, and remember. */
int mg_fd_classify(int fd);

static inline int fd_kind(int fd)
{
	if (__builtin_expect((unsigned int)fd < FD_TABLE, 1)) {
		int kind = __atomic_load_n(&mg_fd_table[fd], __ATOMIC_RELAXED);

		if (__builtin_expect(kind != MG_KIND_unknown, 1))
			return kind;
	}
	return mg_fd_classify(fd);
}

/* As far as known: no question to the kernel. */
static inline int fd_peek(int fd)
{
	return (unsigned int)fd < FD_TABLE ? __atomic_load_n(&mg_fd_table[fd], __ATOMIC_RELAXED)
					   : MG_KIND_unknown;
}

static inline void fd_set_kind(int fd, int kind)
{
	if (__builtin_expect(mg_in_vfork(), 0)) {
		/* its descriptors are its own, but the table is its parent's, who may not be able
		 * to ask again */
		if (mg_fd_ask_no_more)
			return;
		kind = MG_KIND_unknown;
	}
	if ((unsigned int)fd < FD_TABLE)
		__atomic_store_n(&mg_fd_table[fd], (uint8_t)kind, __ATOMIC_RELAXED);
}

/*
 * The descriptor is about to be closed: its kind, forgotten before the call, since afterwards
 * another thread may already have the number again. In the child of a vfork() nothing is forgotten:
 * the descriptors are its own, but the table is its parent's.
 */
int fd_ending(int fd);
void fd_ending_range(unsigned int first, unsigned int last);
/* Descriptors that came with a message have kinds of their own; those LTTng gets are guarded. */
void fd_received(struct msghdr *msg, const void *caller);
/*
 * `to` is to become a copy of `from`, and is one now. In between nothing is known of it, so that a
 * child that another thread forks just then does not keep the old kind.
 */
void fd_replaced(int from, int to);
void fd_copied(int from, int to);
void fd_set_pair(const int fds[2], int kind);
/* The kind socket() will make; one that LTTng's own threads make is not the program's. */
int socket_kind(int domain, int type, int protocol, const void *caller);

#endif
