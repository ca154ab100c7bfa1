/* SPDX-License-Identifier: MIT */
/*
 * Wrappers of the functions that execute another program. A program that would not start with
 * libmagnet.so gets an environment without it, and so does one that could not load it, as in a
 * chroot: the loader would complain. A program whose sanitizer runtime must be loaded first gets
 * one that lists the runtime first. All other environments pass unchanged.
 */
#define _GNU_SOURCE
#include <alloca.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "app_ring.h"
#include "exec.h"
#include "fdkind.h"
#include "kernel_call.h"
#include "life.h"
#include "pool.h"
#include "program_kind.h"

#define EXPORTED    __attribute__((visibility("default")))
#define OUR_LIBRARY "libmagnet.so"
#define LIST        "LD_PRELOAD="
#define RUNTIME     MG_RUNTIME_ENV "="
#define RINGS       MG_POOL_ENV "="
/* limit of environment entries, as a changed environment is copied onto the stack */
#define ENTRIES_MAX 4096

typedef char *const *strings;

static int (*real_execve)(const char *, strings, strings);
static int (*real_execvpe)(const char *, strings, strings);
static int (*real_fexecve)(int, strings, strings);
static int (*real_execveat)(int, const char *, strings, strings, int);
static int (*real_posix_spawn)(pid_t *, const char *, const posix_spawn_file_actions_t *,
	const posix_spawnattr_t *, strings, strings);
static int (*real_posix_spawnp)(pid_t *, const char *, const posix_spawn_file_actions_t *,
	const posix_spawnattr_t *, strings, strings);

static void bind_one(void *pointer, const char *name)
{
	void *f = dlsym(RTLD_NEXT, name);

	memcpy(pointer, &f, sizeof(f));
}

static void __attribute__((constructor)) bind_exec(void)
{
	bind_one(&real_execvpe, "execvpe");
	bind_one(&real_fexecve, "fexecve");
	bind_one(&real_execveat, "execveat");
	bind_one(&real_posix_spawn, "posix_spawn");
	bind_one(&real_posix_spawnp, "posix_spawnp");
	bind_one(&real_execve, "execve");
}

#define BOUND()                      \
	do {                         \
		if (!real_execve)    \
			bind_exec(); \
	} while (0)

/* ---- the environment ---- */

static const char *value_of(strings env, const char *name)
{
	size_t len = strlen(name);

	for (; env && *env; env++)
		if (strncmp(*env, name, len) == 0)
			return *env + len;
	return NULL;
}

static bool separates(char c)
{
	return c == ':' || c == ' ';
}

/*
 * Returns the next library of a list, starting at `*at`, stores its length in `len` and moves `*at`
 * behind it; NULL at the end of the list.
 */
static const char *next_library(const char **at, size_t *len)
{
	const char *begin;

	while (separates(**at))
		(*at)++;
	begin = *at;
	while (**at && !separates(**at))
		(*at)++;
	*len = (size_t)(*at - begin);
	return *len ? begin : NULL;
}

static bool is_named(const char *library, size_t len, const char *name)
{
	size_t n = strlen(name);

	return len >= n && memcmp(library + len - n, name, n) == 0 &&
	       (len == n || library[len - n - 1] == '/');
}

static bool has_library(const char *list, const char *name)
{
	const char *at = list ? list : "", *library;
	size_t len;

	while ((library = next_library(&at, &len)))
		if (is_named(library, len, name))
			return true;
	return false;
}

/* Changes to make to one program's environment; none if `entries` is 0. */
struct change {
	struct mg_program_kind kind;
	const char *list; /* unchanged value of LD_PRELOAD */
	size_t entries;   /* number of environment entries after the change, including the NULL */
	size_t text;      /* bytes that the new strings take */
	bool unreached;   /* it would load libmagnet.so, if that and its rings were there */
};

/* Returns whether the loader finds our library in the list, as far as that can be known. */
static bool is_there(const char *list)
{
	const char *at = list, *library;
	char path[PATH_MAX];
	struct stat st; /* the kernel's layout */
	size_t len;

	while ((library = next_library(&at, &len)))
		if (is_named(library, len, OUR_LIBRARY))
			break;
	if (!library || !memchr(library, '/', len) || len >= sizeof(path))
		return true;
	memcpy(path, library, len);
	path[len] = 0;
	return mg_kernel_call(SYS_newfstatat, AT_FDCWD, (long)path, (long)&st, 0, 0, 0) == 0;
}

/* Returns whether the program is one of those that would be recorded elsewhere, but not here. */
static bool is_out_of_reach(const struct change *c, strings env)
{
	const char *rings = value_of(env, RINGS);

	return c->kind.loads && rings && !(is_there(c->list) && pool_can_be_reached(rings));
}

static bool may_change(struct change *c, strings env)
{
	c->entries = 0;
	c->unreached = false;
	c->list = value_of(env, LIST);
	/* a sandbox may forbid opening the program's file */
	return has_library(c->list, OUR_LIBRARY) && !mg_fd_ask_no_more;
}

static void decide(struct change *c, strings env)
{
	size_t n = 0;

	if (is_out_of_reach(c, env)) {
		c->unreached = true;
		c->kind.preload = MG_PRELOAD_REFUSED;
	}
	if (c->kind.preload == MG_PRELOAD_PLAIN || (c->kind.preload == MG_PRELOAD_AFTER_RUNTIME &&
							   has_library(c->list, c->kind.runtime)))
		return;
	while (env[n])
		n++;
	if (n > ENTRIES_MAX)
		return;
	c->entries = n + 2;
	c->text =
		sizeof(LIST) + strlen(c->list) + 1 + sizeof(RUNTIME) + 2 * sizeof(c->kind.runtime);
}

/*
 * Writes LD_PRELOAD without libmagnet.so, or with the runtime in front. Returns the end of what it
 * wrote.
 */
static char *write_list(char *to, const struct change *c)
{
	const char *at = c->list, *library;
	bool first = true;
	size_t len;

	to = stpcpy(to, LIST);
	if (c->kind.preload == MG_PRELOAD_AFTER_RUNTIME) {
		to = stpcpy(to, c->kind.runtime);
		*to++ = ':';
		return stpcpy(to, c->list) + 1;
	}
	while ((library = next_library(&at, &len))) {
		if (is_named(library, len, OUR_LIBRARY))
			continue;
		if (!first)
			*to++ = ':';
		first = false;
		memcpy(to, library, len);
		to += len;
	}
	*to++ = 0;
	return to;
}

/*
 * Writes the changed environment into `memory`, which has room for the entries followed by the
 * text. Returns it.
 */
static strings change_environment(const struct change *c, strings env, void *memory)
{
	char **out = memory, *text = (char *)(out + c->entries);
	size_t n = 0;

	for (; *env; env++) {
		if (strncmp(*env, LIST, sizeof(LIST) - 1) != 0) {
			out[n++] = *env;
			continue;
		}
		out[n] = text;
		text = write_list(text, c);
		if (out[n][sizeof(LIST) - 1]) /* other libraries are left in the list */
			n++;
	}
	if (c->kind.preload == MG_PRELOAD_AFTER_RUNTIME) {
		out[n++] = text;
		stpcpy(stpcpy(text, RUNTIME), c->kind.runtime);
	}
	out[n] = NULL;
	return out;
}

/*
 * Replaces `env` where the program needs a changed one. `look` is the expression that fills in
 * c.kind. The new environment lives until the caller, a wrapper, returns. A program out of reach is
 * counted before it is executed, and NOT_EXECUTED() takes that back.
 */
#define SUIT(env, look)                                                                \
	struct change c;                                                               \
                                                                                       \
	do {                                                                           \
		BOUND();                                                               \
		if (may_change(&c, env)) {                                             \
			look;                                                          \
			decide(&c, env);                                               \
		}                                                                      \
		if (c.entries)                                                         \
			env = change_environment(                                      \
				&c, env, alloca(c.entries * sizeof(char *) + c.text)); \
		if (c.unreached)                                                       \
			mg_life_count_unreached(1);                                    \
	} while (0)
#define NOT_EXECUTED()                               \
	do {                                         \
		if (c.unreached)                     \
			mg_life_count_unreached(-1); \
	} while (0)

#define LOOK_AT(path)  mg_program_look(&c.kind, AT_FDCWD, path)
#define LOOK_FOR(file) mg_program_look_search(&c.kind, file, value_of(environ, "PATH="))
#define LOOK_AT_FD(fd) mg_program_look_fd(&c.kind, fd)
#define LOOK_FROM(at, path, flags) \
	((flags)&AT_EMPTY_PATH && !*(path) ? LOOK_AT_FD(at) : mg_program_look(&c.kind, at, path))

/* ---- the wrapped functions ---- */

EXPORTED int execve(const char *path, strings argv, strings env)
{
	int ret;

	SUIT(env, LOOK_AT(path));
	ret = real_execve(path, argv, env);
	NOT_EXECUTED();
	return ret;
}

EXPORTED int execv(const char *path, strings argv)
{
	return execve(path, argv, environ);
}

EXPORTED int execvpe(const char *file, strings argv, strings env)
{
	int ret;

	SUIT(env, LOOK_FOR(file));
	ret = real_execvpe(file, argv, env);
	NOT_EXECUTED();
	return ret;
}

EXPORTED int execvp(const char *file, strings argv)
{
	return execvpe(file, argv, environ);
}

EXPORTED int fexecve(int fd, strings argv, strings env)
{
	int ret;

	SUIT(env, LOOK_AT_FD(fd));
	ret = real_fexecve(fd, argv, env);
	NOT_EXECUTED();
	return ret;
}

EXPORTED int execveat(int dir, const char *path, strings argv, strings env, int flags)
{
	int ret = -1;

	SUIT(env, LOOK_FROM(dir, path, flags));
	if (real_execveat)
		ret = real_execveat(dir, path, argv, env, flags);
	else
		errno = ENOSYS; /* an older C library has no execveat() */
	NOT_EXECUTED();
	return ret;
}

EXPORTED int posix_spawn(pid_t *pid, const char *path, const posix_spawn_file_actions_t *actions,
	const posix_spawnattr_t *attributes, strings argv, strings env)
{
	int error;

	SUIT(env, LOOK_AT(path));
	error = real_posix_spawn(pid, path, actions, attributes, argv, env);
	if (error)
		NOT_EXECUTED();
	return error;
}

EXPORTED int posix_spawnp(pid_t *pid, const char *file, const posix_spawn_file_actions_t *actions,
	const posix_spawnattr_t *attributes, strings argv, strings env)
{
	int error;

	SUIT(env, LOOK_FOR(file));
	error = real_posix_spawnp(pid, file, actions, attributes, argv, env);
	if (error)
		NOT_EXECUTED();
	return error;
}

/* Fills `argv` with `first` and the n - 1 arguments after it; the last one is the NULL. */
static void collect(char **argv, const char *first, size_t n, va_list ap)
{
	argv[0] = (char *)first;
	for (size_t i = 1; i < n; i++)
		argv[i] = va_arg(ap, char *);
}

static size_t count(const char *first, va_list ap)
{
	size_t n = 1;

	for (const char *a = first; a; a = va_arg(ap, const char *))
		n++;
	return n;
}

#define VECTOR(argv, first)               \
	char **argv;                      \
	va_list ap;                       \
	size_t n;                         \
                                          \
	va_start(ap, first);              \
	n = count(first, ap);             \
	va_end(ap);                       \
	argv = alloca(n * sizeof(*argv)); \
	va_start(ap, first);              \
	collect(argv, first, n, ap)

EXPORTED int execl(const char *path, const char *arg, ...)
{
	VECTOR(argv, arg);
	va_end(ap);
	return execve(path, argv, environ);
}

EXPORTED int execlp(const char *file, const char *arg, ...)
{
	VECTOR(argv, arg);
	va_end(ap);
	return execvpe(file, argv, environ);
}

EXPORTED int execle(const char *path, const char *arg, ...)
{
	strings env;

	VECTOR(argv, arg);
	env = va_arg(ap, strings);
	va_end(ap);
	return execve(path, argv, env);
}

/* ---- this process ---- */

/*
 * Restores this process's own environment: if a runtime was put before libmagnet.so to start it,
 * its children get the original list again. Changes the strings in place; call it before the
 * program reads its environment.
 */
void mg_exec_begin(void)
{
	char *list = (char *)value_of(environ, LIST);
	const char *runtime = value_of(environ, RUNTIME);
	size_t len = runtime ? strlen(runtime) : 0, n;

	if (!len || !list)
		return;
	if (strncmp(list, runtime, len) == 0 && separates(list[len]))
		memmove(list, list + len + 1, strlen(list + len + 1) + 1);
	for (n = 0; environ[n] + sizeof(RUNTIME) - 1 != runtime; n++)
		;
	for (; environ[n]; n++)
		environ[n] = environ[n + 1];
}
