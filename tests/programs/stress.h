/* SPDX-License-Identifier: MIT */
/*
 * Counters of stress.c: each call on a socket, by the name magnet logs it as, and its bytes. Forked
 * children share the counters.
 */
#ifndef MAGNET_TESTS_STRESS_H
#define MAGNET_TESTS_STRESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* X(name, whether it returns bytes) */
#define STRESS_CALLS(X)  \
	X(send, 1)       \
	X(sendto, 1)     \
	X(sendmsg, 1)    \
	X(sendmmsg, 0)   \
	X(write, 1)      \
	X(writev, 1)     \
	X(pwritev2, 1)   \
	X(sendfile, 1)   \
	X(splice, 1)     \
	X(recv, 1)       \
	X(recvfrom, 1)   \
	X(recvmsg, 1)    \
	X(recvmmsg, 0)   \
	X(read, 1)       \
	X(readv, 1)      \
	X(preadv2, 1)    \
	X(splice_in, 1)  \
	X(connect, 0)    \
	X(accept, 0)     \
	X(accept4, 0)    \
	X(socket, 0)     \
	X(socketpair, 0) \
	X(bind, 0)       \
	X(listen, 0)     \
	X(shutdown, 0)   \
	X(close, 0)      \
	X(setsockopt, 0) \
	X(getsockopt, 0)

enum stress_call {
#define STRESS_ENUM(name, moves) CALL_##name,
	STRESS_CALLS(STRESS_ENUM) CALLS_END
};

struct stress_shared {
	uint64_t calls[CALLS_END], bytes[CALLS_END];
	uint64_t others; /* calls on other descriptors */
	uint64_t wrong;  /* failed checks */
	uint64_t signals, rounds, children, threads;
	/* calls by handlers; a sanitizer may run one only in a child that was forked meanwhile */
	uint64_t next_number, sum_sent, messages_sent;
};

extern struct stress_shared *shared;

ssize_t counted_call(enum stress_call call, ssize_t ret);
ssize_t other_call(ssize_t ret);
void count_bytes(enum stress_call call, size_t bytes);
#define CALL(name, ...) counted_call(CALL_##name, name(__VA_ARGS__))

/* Reports and counts a failed check. */
#define EXPECT(what) expect(what, #what, __LINE__)
bool expect(bool ok, const char *what, int line);

void pause_us(long us);
bool over(void);

/* A stream of bytes, each a function of its position and of the stream. */
struct stream {
	unsigned int id, seed;
	int fd, pipe[2], file;
	uint64_t done;
	size_t most; /* bytes per call */
};

void connect_tcp(int fds[2], unsigned int round);
/* Makes one call of a random kind. Returns false when the stream has ended. */
bool send_some(struct stream *s);
bool receive_some(struct stream *s);
void stream_open(struct stream *s, unsigned int id, int fd);
void stream_close(struct stream *s);

#endif
