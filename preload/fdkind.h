/* SPDX-License-Identifier: MIT */
/*
 * The kind of each file descriptor of the process, one byte per descriptor, so that calls on files
 * and pipes cost one load. All functions are async-signal-safe and touch neither errno nor
 * thread-local storage: the calling thread may have neither.
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

/*
 * Set once the program gives up the system calls that a look-up needs; no descriptor is looked up
 * then.
 */
extern bool mg_fd_ask_no_more;
/* Asks the kernel for the kind of `fd`, remembers and returns it. */
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

/*
 * Returns the remembered kind of `fd` without asking the kernel; MG_KIND_unknown if none is
 * remembered.
 */
static inline int fd_peek(int fd)
{
	return (unsigned int)fd < FD_TABLE ? __atomic_load_n(&mg_fd_table[fd], __ATOMIC_RELAXED)
					   : MG_KIND_unknown;
}

static inline void fd_set_kind(int fd, int kind)
{
	if (__builtin_expect(mg_in_vfork(), 0)) {
		/*
		 * a vfork child has its own descriptors but its parent's table, and the parent may
		 * not be able to look the kind up again
		 */
		if (mg_fd_ask_no_more)
			return;
		kind = MG_KIND_unknown;
	}
	if ((unsigned int)fd < FD_TABLE)
		__atomic_store_n(&mg_fd_table[fd], (uint8_t)kind, __ATOMIC_RELAXED);
}

/*
 * Returns the kind of `fd` and forgets it. Call it before the descriptor is closed: afterwards
 * another thread may already own the number. The child of a vfork() forgets nothing: it has its own
 * descriptors, but its parent's table.
 */
int fd_ending(int fd);
void fd_ending_range(unsigned int first, unsigned int last);
/*
 * Updates the table for descriptors received in a message: each is looked up anew; those received
 * by LTTng are moved and guarded.
 */
void fd_received(struct msghdr *msg, const void *caller);
/*
 * Call fd_replaced() before dup2() and the like, fd_copied() after it. In between the kind of `to`
 * is unknown, so that a child forked by another thread meanwhile does not keep the old kind.
 */
void fd_replaced(int from, int to);
void fd_copied(int from, int to);
void fd_set_pair(const int fds[2], int kind);
/*
 * Returns the kind of the socket that socket() will make; MG_KIND_other for one that LTTng's own
 * threads make.
 */
int socket_kind(int domain, int type, int protocol, const void *caller);

#endif
