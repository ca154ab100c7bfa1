/* SPDX-License-Identifier: MIT */
/*
 * Every call libmagnet.so wraps, with arguments that are mostly wrong: pointers to nothing, lengths
 * that are absurd, vectors that end early, descriptors of the wrong kind. None blocks, and none
 * depends on time, so that what they return is a function of SEED.
 *
 *   fuzz_calls SEED CALLS [list]   prints a sum of all results, or each
 */
#define _GNU_SOURCE
#include "fuzz.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/filter.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <sys/syscall.h>
#include <unistd.h>

#define A_SET 48 /* calls between two sets of fresh descriptors */

/* ---- descriptors: what is made is closed at once, and its number, a matter of chance, not told */

static long made(int fd)
{
	int saved = errno;

	if (fd > 2)
		close(fd);
	errno = saved;
	return fd < 0 ? fd : 0;
}

static long call_socket(void)
{
	static const int families[] = {AF_UNIX, AF_INET, AF_INET6, AF_NETLINK, 0, -1, 200};
	static const int types[] = {SOCK_STREAM, SOCK_DGRAM, SOCK_SEQPACKET, 0, 15, -1, INT_MAX};

	return made(socket(PICK(families), PICK(types) | (any(2) ? SOCK_CLOEXEC : 0), (int)any(7)));
}

static long call_socketpair(void)
{
	static const int types[] = {SOCK_STREAM, SOCK_DGRAM, SOCK_SEQPACKET, 0, -1};
	int *pair = any_structure(2 * sizeof(int));
	int ret = socketpair(any(4) ? AF_UNIX : AF_INET, PICK(types), (int)any(2), pair);

	if (ret == 0) {
		close(pair[0]);
		close(pair[1]);
		pair[0] = pair[1] = 0;
	}
	return ret;
}

static long call_accept(void)
{
	int fd = any_fd();
	void *from = any(2) ? any_structure(128) : NULL;

	return made(
		any(2) ? accept(fd, from, any_socklen())
		       : accept4(fd, from, any_socklen(), PICK(((int[]){0, 0x800, 0x80000, 3}))));
}

static long call_close(void)
{
	int fd = any_fd(), copy;

	if (fd < 3 || fd >= SPARE_FD)
		return fd == HIGH_FD ? 0 : close(fd);
	copy = dup(fd);
	return close(copy) * 2 + (any(2) ? close(copy) : (int)syscall(SYS_close, copy));
}

static long call_dup(void)
{
	static const int to[] = {SPARE_FD, SPARE_FD, SPARE_FD, -1, INT_MIN, INT_MAX};
	int fd = any_fd(), target = any(6) ? PICK(to) : fd, ret;

	switch (any(5)) {
	case 0:
		return made(dup(fd));
	case 1:
		return made(fcntl(fd, any(2) ? F_DUPFD : F_DUPFD_CLOEXEC,
			PICK(((int[]){0, SPARE_FD, -1, INT_MAX}))));
	case 2:
		ret = dup3(fd, target, PICK(((int[]){0, O_CLOEXEC, 1, -1})));
		break;
	default:
		ret = dup2(fd, target);
	}
	if (ret == SPARE_FD && any(2)) /* remembers the kind of the new file */
		ret = (int)write(SPARE_FD, "x", 1);
	return ret == fd ? 0 : ret;
}

static long call_close_range(void)
{
	static const unsigned int some[] = {SPARE_FD, SPARE_FD + 1, 700, 70000, INT_MAX, UINT_MAX};
	static const int flags[] = {0, 0, 4, 1 << 5, -1};
	unsigned int first = PICK(some), last = PICK(some);

	if (first < HIGH_FD && last > 700) /* keeps the other descriptors there */
		last = 700;
	return any(2) ? close_range(first, last, PICK(flags))
		      : (int)syscall(SYS_close_range, first, last, PICK(flags));
}

static long call_fclose(void)
{
	FILE *f = fdopen(dup(fds[any(FDS)]), "r+");

	if (f && any(2))
		f = freopen("/dev/null", "r", f);
	return f ? fclose(f) : -1;
}

/* ---- control ---- */

static long call_address(void)
{
	int fd = any_fd();
	socklen_t len;
	const void *to = any_address(&len);

	return any(2) ? connect(fd, to, len) : bind(fd, to, len);
}

static long call_listen(void)
{
	int fd = any_fd();

	if (fd == fds[LISTENER] || any(2))
		return listen(fd == fds[UDP] ? -1 : fd, PICK(((int[]){0, 1, -1, INT_MAX})));
	return shutdown(
		fd, fd == fds[TCP_A] || fd == fds[TCP_B] ? 3 + (int)any(9) : (int)any(5) - 1);
}

/* Uses a socket of its own, as options change how later calls behave. */
static long call_option(void)
{
	static const int levels[] = {SOL_SOCKET, SOL_SOCKET, 6, 17, 270, 999, -1};
	static const int families[] = {AF_UNIX, AF_INET, AF_NETLINK};
	int fd = any(4) ? socket(PICK(families), any(2) ? SOCK_STREAM : SOCK_DGRAM, 0) : any_fd();
	int level = PICK(levels), option = (int)any(50), ret, saved;
	bool get = fd < SPARE_FD && fd == fds[EPOLL] ? true : any(2),
	     own = fd >= 0 && fd < SPARE_FD;

	for (int i = 0; i < FDS; i++)
		own = own && fds[i] != fd;
	if (level == 6 && (option == 13 || option == 31)) /* these load modules */
		option = 1;
	if (own && any(4) == 0) { /* a filter has as many instructions as an int has bytes */
		struct sock_filter code[4] = {
			{6, 0, 0, 1}, {6, 0, 0, 1}, {6, 0, 0, 1}, {6, 0, 0, 1}};
		struct sock_fprog filter = {4, code};

		setsockopt(fd, SOL_SOCKET, SO_ATTACH_FILTER, &filter, sizeof(filter));
		level = SOL_SOCKET;
		option = SO_ATTACH_FILTER;
		get = true;
	}
	errno = 0;
	if (get || !own) {
		socklen_t *len = any_socklen();

		if (any(2) && is_there(len, sizeof(*len)))
			*len = any(2) * 4;
		ret = getsockopt(fd, level, option, any_value(), len);
	} else {
		ret = setsockopt(fd, level, option, any_pointer(), (socklen_t)any_length());
	}
	saved = errno;
	if (own)
		close(fd);
	errno = saved;
	return ret;
}

/* ---- waits, of no time at all; the C library itself reads some of the times ---- */

static long call_poll(void)
{
	static const nfds_t many[] = {0, 1, 3, 30000, UINT_MAX, SIZE_MAX};
	struct pollfd *p = any_structure(3 * sizeof(*p));
	struct timespec none = {0};
	nfds_t n = any(2) ? 3 : PICK(many);

	for (int i = 0; i < 3 && is_there(p + i, sizeof(*p)); i++)
		p[i] = (struct pollfd){any_fd(), (short)any(65536), 0};
	if (any(2))
		return poll(p, n, 0);
	return ppoll(p, n, &none, any(2) ? NULL : any_value());
}

static long call_select(void)
{
	static const int many[] = {0, 1, 20, 64, 1024, -1, INT_MIN};
	fd_set *s[3];
	struct timeval none = {0};
	struct timespec none_ns = {0};

	for (int i = 0; i < 3; i++)
		s[i] = any(2) ? NULL : any_structure(128);
	if (any(2))
		return select(PICK(many), s[0], s[1], s[2], &none);
	return pselect(PICK(many), s[0], s[1], s[2], &none_ns, NULL);
}

static long call_epoll(void)
{
	int fd = any(2) ? fds[EPOLL] : any_fd(), n = PICK(((int[]){0, 1, 5, -1, INT_MAX, INT_MIN}));
	struct epoll_event *e = any_structure(5 * sizeof(*e));
	struct timespec none = {0};

	switch (any(3)) {
	case 0:
		return epoll_wait(fd, e, n, 0);
	case 1:
		return epoll_pwait(fd, e, n, 0, any(2) ? NULL : any_value());
	default:
		return epoll_pwait2(fd, e, n, any(3) ? &none : (void *)8, NULL);
	}
}

/*
 * Calls those that take a descriptor, a pointer and a length; other calls get arguments that fail.
 */
static long call_syscall(void)
{
	static const long calls[] = {SYS_read, SYS_write, SYS_readv, SYS_writev, SYS_sendto,
		SYS_recvfrom, SYS_sendmsg, SYS_recvmsg, -1, 100000};
	long nr = PICK(calls);
	int fd = any_fd(), n, flags = any_flags();

	if (nr == SYS_readv || nr == SYS_writev) {
		void *v = any_vector(&n);

		return syscall(nr, fd, v, n);
	}
	if (nr == SYS_sendmsg || nr == SYS_recvmsg)
		return syscall(nr, fd, any_message(), flags);
	return syscall(nr, fd, any_pointer(), any_length(), flags, NULL, NULL);
}

static const struct fuzz_call calls[] = {ROW(socket), ROW(socketpair), ROW(accept), ROW(close),
	ROW(dup), ROW(close_range), ROW(fclose), ROW(address), ROW(listen), ROW(option),
	ROW(option), ROW(poll), ROW(select), ROW(epoll), ROW(syscall)};
#define CALLS (sizeof(calls) / sizeof(calls[0]))

int main(int argc, char **argv)
{
	bool list = argc > 3;
	uint64_t sum = 14695981039346656037ull;
	long succeeded = 0;
	int n = argc > 2 ? atoi(argv[2]) : 0;

	if (n < 1) {
		fprintf(stderr, "usage: fuzz_calls SEED CALLS [list]\n");
		return 2;
	}
	seed = (uint32_t)atoi(argv[1]);
	signal(SIGPIPE, SIG_IGN);
	memory_make();
	for (int i = 0; i < n; i++) {
		uint32_t which = any((uint32_t)(data_call_count + CALLS)), now;
		const struct fuzz_call *c =
			which < CALLS ? &calls[which] : &data_calls[which - CALLS];
		long ret;
		int error;

		if (i % A_SET == 0) {
			set_close();
			set_open();
		}
		memory_clear();
		now = seed;
		errno = 4242; /* a successful call must not change errno */
		ret = c->call();
		error = errno;
		set_settle();
		/* closes passed descriptors */
		close_range((unsigned int)fds[NULLDEV] + 1, SPARE_FD, 0);
		succeeded += ret >= 0;
		for (size_t k = 0; k < 3; k++)
			sum = (sum ^ (uint64_t[]){(uint64_t)ret, (uint64_t)error,
					     memory_sum()}[k]) *
			      1099511628211ull;
		if (list)
			printf("%d %s %u: %ld %d %08x\n", i, c->name, now, ret, error,
				memory_sum());
	}
	printf("%d calls, %ld succeeded, %016llx\n", n, succeeded, (unsigned long long)sum);
	return 0;
}
