/* SPDX-License-Identifier: MIT */
/*
 * libmagnet.so: the wrapped calls. No code here allocates, prints, takes a lock or makes the
 * program fail; return values and errno are those of the real call. A call that is not traced goes
 * straight through: errno and thread-local storage are touched only once it is known that the call
 * is to be logged and that both exist.
 */
#define _GNU_SOURCE
#include "wrapped.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/select.h>
#include <sys/uio.h>
#include <unistd.h>

#include "fdkind.h"
#include "guard.h"
#include "log_call.h"
#include "nested.h"
#include "room.h"

#define NOTHING (void)0
/* return address of the function that uses the macro */
#define CALLER __builtin_return_address(0)

/*
 * Returns the sum of a vector's lengths. Call it after the real call, and only where the kernel has
 * read the vector: a bad pointer must be the program's EFAULT, not a crash. (One case remains: a
 * program that receives data over its own vector.)
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

/*
 * Returns how many bytes the `done` messages hold that were sent or received; the array may end
 * after them.
 */
static size_t mmsg_asked(const struct mmsghdr *msgs, int done)
{
	size_t sum = 0;

	for (int i = 0; i < done; i++)
		sum += iov_bytes(msgs[i].msg_hdr.msg_iov, msgs[i].msg_hdr.msg_iovlen);
	return sum;
}

static uint32_t mmsg_bytes(const struct mmsghdr *msgs, int done)
{
	uint32_t sum = 0;

	for (int i = 0; i < done; i++)
		sum += msgs[i].msg_len;
	return sum;
}

static void mmsg_received(struct mmsghdr *msgs, int done, const void *caller)
{
	for (int i = 0; i < done; i++)
		fd_received(&msgs[i].msg_hdr, caller);
}

/*
 * Returns a socket option's value to log: only an int, and only where the kernel has read one.
 * SO_GET_FILTER returns a number of instructions as the length, and other protocols return the
 * length they would have written.
 */
static int32_t option_value(int level, int option, const void *value, size_t len)
{
	int32_t v;

	if (!value || len != sizeof(v) || (level == SOL_SOCKET && option == SO_GET_FILTER) ||
		((level == IPPROTO_IP || level == IPPROTO_IPV6) && (unsigned int)option >= 80) ||
		(level != SOL_SOCKET && level != IPPROTO_TCP && level != IPPROTO_UDP &&
			level != IPPROTO_IP && level != IPPROTO_IPV6))
		return 0;
	memcpy(&v, value, sizeof(v));
	return v;
}

#define OPTION_VALUE(value, len) (ret == 0 ? option_value(level, option, value, len) : 0)
#define OPTION(level, option)    ((uint32_t)(level) << 16 | ((uint32_t)(option)&0xffff))
#define MMSG_ASKED(msgs)         mmsg_asked(msgs, ret)
#define IOV_BYTES(iov, n)        (vector_was_read(ret, error) ? iov_bytes(iov, (size_t)(n)) : 0)
#define MSG_BYTES(m)             (vector_was_read(ret, error) ? iov_bytes((m)->msg_iov, (m)->msg_iovlen) : 0)

/* Forgets the descriptor of a stream. A stream may have none; fileno() would then set errno. */
static void end_stream(FILE *stream)
{
	int saved = mg_get_errno();

	fd_ending(fileno(stream));
	mg_set_errno(saved);
}

/* ---- the real functions: each pointer leads at first to a function that binds them all ---- */

static void *next(const char *name, const char *fallback);
static int bind_all(void);

/*
 * A symbol look-up may itself call a wrapped function, as an allocator that reads its settings at
 * first use does. While binding, such a call binds its own function only.
 */
#define STUB(type, name, fallback, params, args)                 \
	static type stub_##name params;                          \
	static type(*real_##name) params = stub_##name;          \
	static type stub_##name params                           \
	{                                                        \
		type(*only) params;                              \
                                                                 \
		if (bind_all())                                  \
			return real_##name args;                 \
		set_function(&only, next(#fallback, #fallback)); \
		return only args;                                \
	}
#define STUB_W(fn, fallback, type, name, params, args, ...) STUB(type, name, fallback, params, args)
#define STUB_B(type, name, params, args, before, after)     STUB(type, name, name, params, args)

/* Converts an object pointer to a function pointer: POSIX allows it, ISO C has no cast for it. */
static void set_function(void *pointer, void *f)
{
	memcpy(pointer, &f, sizeof(f));
}

MG_WRAPPED(STUB_W)
MG_BOOKKEEPING(STUB_B)

static void *real_vfork;
static mg_clone_fn real_clone;

/*
 * Returns the next definition of `name` after ours, else that of `fallback`, where the C library
 * has no alias.
 */
static void *next(const char *name, const char *fallback)
{
	void *f = dlsym(RTLD_NEXT, name);

	return f ? f : dlsym(RTLD_NEXT, fallback);
}

/*
 * Binds all functions. Returns whether all are bound; false while an outer call is still binding.
 */
static int bind_all(void)
{
	static __thread char binding __attribute__((tls_model("initial-exec")));
	int saved = errno;

	if (binding)
		return 0;
	binding = 1;
#define BIND_W(fn, fallback, type, name, ...) set_function(&real_##name, next(#name, #fallback));
#define BIND_B(type, name, ...)               set_function(&real_##name, next(#name, #name));
	MG_WRAPPED(BIND_W)
	MG_BOOKKEEPING(BIND_B)
	real_vfork = next("vfork", "fork");
	set_function(&real_clone, next("clone", "__clone"));
	mg_life_begin();
	binding = 0;
	errno = saved;
	return 1;
}

void *mg_real_vfork(void)
{
	if (!real_vfork)
		bind_all();
	return real_vfork;
}

mg_clone_fn mg_real_clone(void)
{
	if (!real_clone)
		bind_all();
	return real_clone;
}

/* clang-format off */
#define DEFINE_W(fn_, fallback, type, name, params, args, kind_of_fd, fd_, asked_, flags_, after)  \
	type wrapped_##name params __asm__(#name) __attribute__((visibility("default")));          \
	type wrapped_##name params                                                                 \
	{                                                                                          \
		unsigned int fn = fn_;                                                             \
		int kind = kind_of_fd;                                                             \
		struct mg_call c;                                                                  \
		type ret = -1;                                                                          \
		int error;                                                                         \
                                                                                                   \
		if (__builtin_expect(!MG_KIND_TRACED(kind), 1) ||                                  \
			__builtin_expect(!*mg_wanted[fn], 0) || !mg_tls_is_ours()) {       \
			ret = real_##name args;                                                    \
			after;                                                                     \
			if (__builtin_expect(mg_counter_forbidden, 0) && MG_KIND_TRACED(kind))     \
				mg_life_count_untimed(fn, (int64_t)ret);                           \
			return ret;                                                                \
		}                                                                                  \
		if (__builtin_expect(*mg_wanted[MG_FN_entry], 0))                                                             \
			mg_log_entry(fn, fd_, kind);                                                             \
		c.enter = mg_cycles_after();                                                       \
		ret = real_##name args;                                                            \
		c.exit = mg_cycles_after();                                                        \
		error = errno;                                                                     \
		c.asked = c.value = c.waited = 0;                                                  \
		if (MG_FN_HAS_OPTION(fn_))                                                         \
			c.value = (int32_t)(asked_);                                               \
		else if (mg_fn_waits(fn_))                                                         \
			c.waited = (uint32_t)(asked_);                                             \
		else                                                                               \
			c.asked = (uint64_t)(asked_);                                              \
		c.bytes = 0;                                                                       \
		c.flags = MG_FN_HAS_OPTION(fn_) ? 0 : (uint32_t)(flags_);                          \
		c.option = MG_FN_HAS_OPTION(fn_) ? (uint32_t)(flags_) : 0;                         \
		after;                                                                             \
		if (was_no_socket(ret, error, kind, fd_)) {                                        \
			errno = error;                                                             \
			return ret;                                                                \
		}                                                                                  \
		complete(&c, fd_, ret, error, kind);                                               \
		mg_log[fn](fn, &c);                                         \
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

void mg_log_entry(unsigned int fn, int fd, int kind)
{
	struct mg_call c = {0};
	int saved = errno;

	c.enter = c.exit = mg_cycles_after();
	complete(&c, fd, fn, 0, kind);
	mg_log[MG_FN_entry](MG_FN_entry, &c);
	errno = saved;
}

MG_WRAPPED(DEFINE_W)
MG_BOOKKEEPING(DEFINE_B)

/* Binds the functions before main(), even if the program calls none of them earlier. */
static void __attribute__((constructor)) bind_now(void)
{
	if (!real_vfork)
		bind_all();
}
