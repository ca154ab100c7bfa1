/* SPDX-License-Identifier: MIT */
/* What fuzz_calls.c calls with: descriptors of all kinds, and memory of which much is not there. */
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

#define SPARE_FD 150 /* below it everything is the current set of descriptors */
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

/* The same sequence for the same seed. */
extern uint32_t seed;
uint32_t any(uint32_t below);
#define PICK(list) ((list)[any(sizeof(list) / sizeof((list)[0]))])

/* At fixed addresses, so that also pointers are the same in every run. */
void memory_make(void);
void memory_clear(void); /* of the structures, before each call */
uint32_t memory_sum(void);

void set_open(void);
void set_close(void);
/* What was sent has arrived: else what a call returns would be a matter of time. */
void set_settle(void);

int any_fd(void); /* decides how much the others ask for */
void *any_pointer(void);
void *any_value(void); /* where what the kernel writes is seen by no later call */
size_t any_length(void);
int any_flags(void);
void *any_structure(size_t size); /* mostly there, filled by the caller if it is */
bool is_there(const void *p, size_t size);
const void *any_address(socklen_t *len);
socklen_t *any_socklen(void);
struct iovec *any_vector(int *count);
struct msghdr *any_message(void);
struct mmsghdr *any_messages(unsigned int *count);

#endif
