/* SPDX-License-Identifier: MIT */
/* Arguments for fuzz_calls.c: descriptors of all kinds, and memory that is partly unmapped. */
#ifndef MAGNET_TESTS_FUZZ_H
#define MAGNET_TESTS_FUZZ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>
#include <sys/uio.h>

struct fuzz_call {
	const char *name;
	long (*call)(void);
};
#define ROW(name)                  \
	{                          \
#name, call_##name \
	}
extern const struct fuzz_call data_calls[];
extern const size_t data_call_count;

#define SPARE_FD 150 /* all numbers below are the current set of descriptors */
#define HIGH_FD  1023

enum fuzz_fd {
	TCP_A,
	TCP_B,
	LISTENER,
	UDP,
	NETLINK,
	STREAM_A,
	STREAM_B,
	DGRAM_A,
	DGRAM_B,
	SEQ_A,
	SEQ_B,
	PIPE_IN,
	PIPE_OUT,
	MEMFD,
	EPOLL,
	EVENT,
	NULLDEV,
	FDS
};

extern int fds[FDS];

/* Returns the same sequence for the same seed. */
extern uint32_t seed;
uint32_t any(uint32_t below);
#define PICK(list) ((list)[any(sizeof(list) / sizeof((list)[0]))])

/* The memory has fixed addresses, so that pointers are the same in every run. */
void memory_make(void);
void memory_clear(void); /* clears the structures; called before each call */
uint32_t memory_sum(void);

void set_open(void);
void set_close(void);
/* Waits until sent data have arrived; otherwise results would depend on timing. */
void set_settle(void);

int any_fd(void); /* its choice decides how much the other functions ask for */
void *any_pointer(void);
void *any_value(void); /* memory whose content, as the kernel writes it, no later call reads */
size_t any_length(void);
int any_flags(void);
void *any_structure(size_t size); /* mostly mapped, and then filled by the caller */
bool is_there(const void *p, size_t size);
const void *any_address(socklen_t *len);
socklen_t *any_socklen(void);
struct iovec *any_vector(int *count);
struct msghdr *any_message(void);
struct mmsghdr *any_messages(unsigned int *count);

#endif
