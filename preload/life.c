/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "life.h"

#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "app_ring.h"
#include "config.h"
#include "exec.h"
#include "self.h"

static void log_nothing(unsigned int fn, const struct mg_call *c)
{
	(void)fn;
	(void)c;
}

/*
 * Until mg_life_begin() has run, every call counts as wanted: the first wrapped call starts the
 * library and learns only on return whether it is logged.
 */
static const int nobody, perhaps = 1;
const int *mg_wanted[MG_FN_END] = {[0 ... MG_FN_END - 1] = &perhaps, [MG_FN_entry] = &nobody};
void (*mg_log[MG_FN_END])(unsigned int fn, const struct mg_call *c) = {
	[0 ... MG_FN_END - 1] = log_nothing};

const int *mg_wanted_mark = &nobody;
void (*mg_log_mark)(const struct mg_mark *m);

static const struct mg_backend *backend;
static bool begun;
volatile bool mg_counter_forbidden;
static bool forbidden_in_vfork; /* forbidden to a vfork child only, not to its parent */

static void use(const struct mg_backend *b)
{
	backend = b;
	if (mg_counter_forbidden)
		return;
	memcpy(mg_log, b->log, sizeof(mg_log));
	mg_log_mark = b->mark;
	__atomic_store_n(&mg_wanted_mark, b->wanted_mark, __ATOMIC_RELEASE);
	for (int i = 0; i < MG_FN_END; i++)
		if (mg_config_allows((unsigned int)i))
			__atomic_store_n(&mg_wanted[i], b->wanted[i], __ATOMIC_RELEASE);
}

static void want_nothing(void)
{
	__atomic_store_n(&mg_wanted_mark, &nobody, __ATOMIC_RELEASE);
	for (int i = 0; i < MG_FN_END; i++)
		__atomic_store_n(&mg_wanted[i], &nobody, __ATOMIC_RELEASE);
}

void mg_life_forbid_counter(bool in_vfork)
{
	forbidden_in_vfork = in_vfork && (forbidden_in_vfork || !mg_counter_forbidden);
	mg_counter_forbidden = true;
	want_nothing();
}

void mg_life_allow_counter(bool in_vfork)
{
	if (in_vfork && !forbidden_in_vfork)
		return;
	mg_counter_forbidden = forbidden_in_vfork = false;
	if (backend)
		use(backend);
}

/*
 * Ends the ban once the vfork child is gone. Strict seccomp allows the child only read() and
 * write(): in those no system call may be made to find out.
 */
static void end_childs_ban(unsigned int fn)
{
	if (fn == MG_FN_read || fn == MG_FN_write)
		return;
	if (mg_tls_is_ours())
		mg_self_check();
	if (!mg_sharing) /* the child is gone */
		mg_life_allow_counter(false);
}

void mg_life_count_untimed(unsigned int fn, int64_t ret)
{
	int error = ret == -1 ? mg_get_errno() : 0;

	if (forbidden_in_vfork)
		end_childs_ban(fn);
	if (error == EBADF || error == ENOTSOCK) /* the call was not on a socket */
		return;
	if (backend && backend->count_untimed && mg_config_allows(fn) && *backend->wanted[fn])
		backend->count_untimed();
}

void mg_life_count_untimed_mark(void)
{
	if (backend && backend->count_untimed && *backend->wanted_mark)
		backend->count_untimed();
}

void mg_life_count_unreached(int programs)
{
	if (backend && backend->count_unreached)
		backend->count_unreached(programs);
}

static void before_fork(void)
{
	if (backend && backend->before_fork && mg_tls_is_ours())
		backend->before_fork();
}

static void after_fork_parent(void)
{
	if (backend && backend->after_fork_parent && mg_tls_is_ours())
		backend->after_fork_parent();
}

static void after_fork_child(void)
{
	mg_self_forked();
	if (backend && backend->after_fork_child && mg_tls_is_ours())
		backend->after_fork_child();
}

void mg_life_make_room(uint64_t bytes)
{
	if (backend && backend->make_room)
		backend->make_room(bytes);
}

/* Loads libmagnet-lttng.so from the directory of this library. */
static void load_lttng(void)
{
	const struct mg_backend *b = NULL;
	mg_lttng_backend_fn get;
	char path[PATH_MAX];
	const char *slash;
	void *library, *symbol;
	Dl_info self;

	if (!dladdr((void *)&begun, &self))
		return;
	slash = strrchr(self.dli_fname, '/');
	if (snprintf(path, sizeof(path), "%.*s" MG_LTTNG_LIBRARY,
		    slash ? (int)(slash + 1 - self.dli_fname) : 0, self.dli_fname) >= PATH_MAX)
		return;
	library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	symbol = library ? dlsym(library, MG_LTTNG_SYMBOL) : NULL;
	if (symbol) {
		memcpy(&get, &symbol, sizeof(get));
		b = get();
	}
	if (b)
		use(b);
}

/* Address at which the kernel put argc, argv and the environment, one after another. */
extern void *__libc_stack_end;

/* Sets `environ` for a program's own .preinit_array, which runs before the C library does. */
static void find_environment(void)
{
	long *argc = __libc_stack_end;

	if (!environ && argc)
		environ = (char **)(argc + 1 + *argc + 1);
}

void mg_life_begin(void)
{
	const struct mg_backend *rings;
	int saved;

	if (begun)
		return;
	begun = true;
	saved = errno;
	find_environment();
	mg_exec_begin();
	mg_self_init();
	mg_config_read();
	want_nothing();
	rings = mg_ring_backend();
	if (rings)
		use(rings);
	errno = saved;
}

static void __attribute__((constructor)) init(void)
{
	int saved = errno;

	mg_life_begin();
	/* under `magnet record` LTTng is not loaded, even where the rings cannot be mapped */
	if (!getenv(MG_POOL_ENV))
		load_lttng();
	pthread_atfork(before_fork, after_fork_parent, after_fork_child);
	errno = saved;
}
