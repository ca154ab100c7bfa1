/* SPDX-License-Identifier: MIT */
/*
 * libmagnet.so: the wrapped calls. Nothing here allocates, prints, takes a lock, or fails the
 * program; return values and errno are those of the real call.
 */
#define _GNU_SOURCE
#include "wrapped.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <link.h>
#include <lttng/ust-fork.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include "cycles.h"
#include "events.h"
#include "fdkind.h"
#include "provider.h"

#define HOT     __attribute__((tls_model("initial-exec"))) /* no allocation at first use */
#define NOTHING (void)0

/* Every how many traced calls a thread measures what the logging cost it. */
#define MEASURE_EVERY 16

static __thread struct {
	uint32_t tid, pid;
	uint32_t logged; /* cycles of the last measured logging, until it is told */
	uint32_t calls;
} self HOT;

static __thread sigset_t fork_signals HOT;

/*
 * Bytes a vector asks for; to be called after the real call, and only looks where the kernel must
 * have looked before: a bad pointer is the program's EFAULT, not our crash.
 */
static size_t iov_bytes(const struct iovec *iov, size_t count)
{
	size_t sum = 0;

	for (size_t i = 0; i < count && i < IOV_MAX; i++)
		sum += iov[i].iov_len;
	return sum;
}

static inline int vector_was_read(int64_t ret, int error)
{
	return ret >= 0 || error == EAGAIN || error == EINTR || error == EPIPE ||
	       error == ECONNRESET || error == ETIMEDOUT;
}

#define IOV_BYTES(iov, n) (vector_was_read(ret, error) ? iov_bytes(iov, (size_t)(n)) : 0)
#define MSG_BYTES(m)      (vector_was_read(ret, error) ? iov_bytes((m)->msg_iov, (m)->msg_iovlen) : 0)

/* ---- the real functions: each pointer first leads to a stub that binds them all ---- */

static void bind_all(void);

#define STUB(type, name, params, args)                  \
	static type stub_##name params;                 \
	static type(*real_##name) params = stub_##name; \
	static type stub_##name params                  \
	{                                               \
		bind_all();                             \
		return real_##name args;                \
	}
#define STUB_W(event, fallback, type, name, params, args, ...) STUB(type, name, params, args)
#define STUB_B(type, name, params, args, before, after)        STUB(type, name, params, args)
MG_WRAPPED(STUB_W)
MG_BOOKKEEPING(STUB_B)

/* The next definition of a name after ours; the plain call where the C library has no alias. */
static void *next(const char *name, const char *fallback)
{
	void *f = dlsym(RTLD_NEXT, name);

	return f ? f : dlsym(RTLD_NEXT, fallback);
}

/* Object pointers to function pointers: POSIX allows it, ISO C has no cast for it. */
static void set(void *pointer, void *f)
{
	memcpy(pointer, &f, sizeof(f));
}

/* LTTng has to know of a fork; liblttng-ust-fork.so tells it if the user preloaded that too. */
static int lttng_fork_loaded;

static int look_at_object(struct dl_phdr_info *info, size_t size, void *arg)
{
	const char *base = strrchr(info->dlpi_name, '/');

	(void)size;
	(void)arg;
	base = base ? base + 1 : info->dlpi_name;
	if (strncmp(base, "liblttng-ust", 12) != 0)
		return 0;
	if (strncmp(base, "liblttng-ust-fork", 17) == 0)
		lttng_fork_loaded = 1;
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *p = &info->dlpi_phdr[i];
		const char *start = (const char *)info->dlpi_addr + p->p_vaddr;

		if (p->p_type == PT_LOAD && p->p_flags & PF_X)
			mg_fd_add_lttng(start, start + p->p_memsz);
	}
	return 0;
}

static void bind_all(void)
{
	int saved = errno;

	/* first of all: LTTng's own start-up may be what calls us first */
	dl_iterate_phdr(look_at_object, NULL);
#define BIND_W(event, fallback, type, name, ...) set(&real_##name, next(#name, #fallback));
#define BIND_B(type, name, ...)                  set(&real_##name, next(#name, #name));
	MG_WRAPPED(BIND_W)
	MG_BOOKKEEPING(BIND_B)
	errno = saved;
}

/* ---- logging ---- */

static void __attribute__((noinline)) learn_self(void)
{
	self.tid = (uint32_t)syscall(SYS_gettid);
	self.pid = (uint32_t)getpid();
}

/* What is the same for every call; `error` is errno as the real call left it. */
static inline void complete(struct mg_call *c, int fd, int64_t ret, int error, int kind)
{
	if (__builtin_expect(self.tid == 0, 0))
		learn_self();
	c->ret = ret;
	c->fd = fd;
	c->error = ret == -1 ? error : 0;
	c->tid = self.tid;
	c->pid = self.pid;
	c->logged = self.logged;
	c->kind = (uint8_t)kind;
	self.logged = 0;
}

static inline void measure(const struct mg_call *c)
{
	if (++self.calls % MEASURE_EVERY == 0)
		self.logged = (uint32_t)(mg_cycles() - c->exit);
}

/* clang-format off */
#define DEFINE_W(event, fallback, type, name, params, args, kind_of_fd, fd_, asked_, flags_, after)  \
	type wrapped_##name params __asm__(#name) __attribute__((visibility("default")));          \
	type wrapped_##name params                                                                 \
	{                                                                                          \
		int kind = kind_of_fd;                                                             \
		struct mg_call c;                                                                  \
		type ret;                                                                          \
		int error;                                                                         \
                                                                                                   \
		if (__builtin_expect(!MG_KIND_TRACED(kind), 1) ||                                  \
			__builtin_expect(!lttng_ust_tracepoint_enabled(magnet, event), 0)) {       \
			ret = real_##name args;                                                    \
			after;                                                                     \
			return ret;                                                                \
		}                                                                                  \
		c.enter = mg_cycles();                                                             \
		ret = real_##name args;                                                            \
		c.exit = mg_cycles();                                                              \
		error = errno;                                                                     \
		c.asked = asked_;                                                                  \
		c.flags = (uint32_t)(flags_);                                                      \
		after;                                                                             \
		complete(&c, fd_, ret, error, kind);                                               \
		lttng_ust_do_tracepoint(magnet, event, &c);                                        \
		measure(&c);                                                                       \
		errno = error;                                                                     \
		return ret;                                                                        \
	}

#define DEFINE_B(type, name, params, args, before, after)                                            \
	type wrapped_##name params __asm__(#name) __attribute__((visibility("default")));          \
	type wrapped_##name params                                                                 \
	{                                                                                          \
		type ret;                                                                          \
                                                                                                   \
		before;                                                                            \
		ret = real_##name args;                                                            \
		after;                                                                             \
		return ret;                                                                        \
	}
/* clang-format on */

MG_WRAPPED(DEFINE_W)
MG_BOOKKEEPING(DEFINE_B)

/* ---- the life of the process ---- */

static void before_fork(void)
{
	if (!lttng_fork_loaded)
		lttng_ust_before_fork(&fork_signals);
}

static void after_fork_parent(void)
{
	if (!lttng_fork_loaded)
		lttng_ust_after_fork_parent(&fork_signals);
}

static void after_fork_child(void)
{
	memset(&self, 0, sizeof(self));
	if (!lttng_fork_loaded)
		lttng_ust_after_fork_child(&fork_signals);
}

static void __attribute__((constructor)) init(void)
{
	int saved = errno;

	if (real_send == stub_send)
		bind_all();
	pthread_atfork(before_fork, after_fork_parent, after_fork_child);
	errno = saved;
}
