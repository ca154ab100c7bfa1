/* SPDX-License-Identifier: MIT */
/*
 * syscall(), by which some programs make calls the C library has a function for, and closefrom(),
 * which returns nothing: what the table of wrapped calls has no form for.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/seccomp.h>
#include <stdarg.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "fdkind.h"
#include "guard.h"
#include "log_call.h"
#include "raw.h"
#include "room.h"

static long (*real_syscall)(long, ...);
static void (*real_closefrom)(int);

static void bind_raw(void)
{
	void *f[] = {dlsym(RTLD_NEXT, "closefrom"), dlsym(RTLD_NEXT, "syscall")};

	memcpy(&real_closefrom, &f[0], sizeof(f[0]));
	memcpy(&real_syscall, &f[1], sizeof(f[1]));
	mg_life_begin();
}

/* Before there are threads that would do it at the same time. */
static void __attribute__((constructor)) bind_now(void)
{
	if (!real_syscall)
		bind_raw();
}

long mg_system_call(long nr, long a, long b, long c)
{
	if (!real_syscall)
		bind_raw();
	return real_syscall(nr, a, b, c);
}

/* Of each call that names its descriptor first: the event, and which argument is what. */
struct row {
	long nr;
	unsigned int fn;
	int len, flags; /* -1: has none */
};

#define ROW(name, len, flags)                        \
	{                                            \
		SYS_##name, MG_FN_##name, len, flags \
	}
static const struct row rows[] = {ROW(read, 2, -1), ROW(write, 2, -1), ROW(readv, -1, -1),
	ROW(writev, -1, -1), ROW(sendto, 2, 3), ROW(recvfrom, 2, 3), ROW(sendmsg, -1, 2),
	ROW(recvmsg, -1, 2), ROW(sendmmsg, -1, 3), ROW(recvmmsg, -1, 3), ROW(preadv2, -1, -1),
	ROW(pwritev2, -1, -1), ROW(sendfile, 3, -1), ROW(connect, -1, -1), ROW(accept, -1, -1),
	ROW(accept4, -1, 3), ROW(shutdown, -1, -1), ROW(close, -1, -1), ROW(bind, -1, -1),
	ROW(listen, -1, -1)};

#ifdef SYS_dup2
#define REPLACES(nr) ((nr) == SYS_dup2 || (nr) == SYS_dup3)
#else
#define REPLACES(nr) ((nr) == SYS_dup3)
#endif

static const struct row *row_of(long nr)
{
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		if (rows[i].nr == nr)
			return &rows[i];
	return NULL;
}

/* What becomes of descriptors; `kind` is that of the one it was called with. */
static void book(long nr, const long a[6], long ret, int kind, const void *caller)
{
	int saved = errno;

	switch (nr) {
	case SYS_accept:
	case SYS_accept4:
		fd_set_kind((int)ret, kind);
		break;
	case SYS_dup:
	case SYS_dup3:
#ifdef SYS_dup2
	case SYS_dup2:
#endif
		fd_copied((int)a[0], (int)ret);
		break;
	case SYS_fcntl:
		if (a[1] == F_DUPFD || a[1] == F_DUPFD_CLOEXEC)
			fd_copied((int)a[0], (int)ret);
		break;
	case SYS_socket:
		fd_set_kind((int)ret, socket_kind((int)a[0], (int)a[1], (int)a[2], caller));
		break;
	case SYS_seccomp:
		if (a[0] == SECCOMP_SET_MODE_FILTER || a[0] == SECCOMP_SET_MODE_STRICT)
			mg_after_sandbox((int)ret);
		break;
	case SYS_recvmsg:
		if (ret >= 0)
			fd_received((struct msghdr *)a[1], caller);
		break;
	default:
		break;
	}
	errno = saved;
}

__attribute__((visibility("default"))) long syscall(long nr, ...)
{
	const struct row *r = row_of(nr);
	struct mg_call c = {0};
	int kind = MG_KIND_other, error;
	va_list ap;
	long a[6], ret;

	va_start(ap, nr);
	for (int i = 0; i < 6; i++)
		a[i] = va_arg(ap, long);
	va_end(ap);
	if (!real_syscall)
		bind_raw();
	if (nr == SYS_close)
		a[0] = guard_close((int)a[0], __builtin_return_address(0));
	if (nr == SYS_close_range && guard_needed())
		return close_range((unsigned int)a[0], (unsigned int)a[1], (int)a[2]);
	if (nr == SYS_seccomp &&
		(a[0] == SECCOMP_SET_MODE_FILTER || a[0] == SECCOMP_SET_MODE_STRICT))
		mg_before_sandbox();
	if (r)
		kind = nr == SYS_close ? fd_ending((int)a[0]) : fd_kind((int)a[0]);
	else if (nr == SYS_close_range && !(a[2] & CLOSE_RANGE_CLOEXEC))
		fd_ending_range((unsigned int)a[0], (unsigned int)a[1]);
	else if (REPLACES(nr))
		fd_replaced((int)a[0], (int)a[1]);
	if (!r || !MG_KIND_TRACED(kind) || !*mg_wanted[r->fn]) {
		ret = real_syscall(nr, a[0], a[1], a[2], a[3], a[4], a[5]);
		book(nr, a, ret, kind, __builtin_return_address(0));
		return ret;
	}
	c.enter = mg_cycles();
	ret = real_syscall(nr, a[0], a[1], a[2], a[3], a[4], a[5]);
	c.exit = mg_cycles();
	error = errno;
	c.asked = r->len >= 0 ? (uint64_t)a[r->len] : 0;
	c.flags = r->flags >= 0 ? (uint32_t)a[r->flags] : 0;
	book(nr, a, ret, kind, __builtin_return_address(0));
	if (was_no_socket(ret, error, kind, (int)a[0])) {
		errno = error;
		return ret;
	}
	complete(&c, (int)a[0], ret, error, kind);
	mg_log[r->fn](r->fn, &c);
	measure(&c);
	errno = error;
	return ret;
}

#define EXPORTED __attribute__((visibility("default")))

/* In the C library it is no more than the system call. */
EXPORTED int close_range(unsigned int first, unsigned int last, int flags)
{
	if (!(flags & CLOSE_RANGE_CLOEXEC))
		fd_ending_range(first, last);
	if (guard_needed())
		return guard_close_range(first, last, flags);
	return (int)mg_system_call(SYS_close_range, first, last, flags);
}

EXPORTED void closefrom(int lowest)
{
	int saved = errno;

	if (guard_needed() || !real_closefrom) {
		close_range(lowest > 0 ? (unsigned int)lowest : 0, ~0u, 0);
	} else {
		fd_ending_range(lowest > 0 ? (unsigned int)lowest : 0, ~0u);
		real_closefrom(lowest);
	}
	errno = saved;
}
