/* SPDX-License-Identifier: MIT */
/* libmagnet-lttng.so: writes calls as LTTng-UST events, for the user's own LTTng sessions. */
#define _GNU_SOURCE
#define LTTNG_UST_TRACEPOINT_DEFINE
#define LTTNG_UST_TRACEPOINT_CREATE_PROBES
#include <dlfcn.h>
#include <lttng/ust-fork.h>
#include <signal.h>

#include "backend.h"
#include "provider.h"

#define LOG(n, name, dir)                                                \
	static void log_##name(unsigned int fn, const struct mg_call *c) \
	{                                                                \
		(void)fn;                                                \
		lttng_ust_do_tracepoint(magnet, name, c);                \
	}
MG_FUNCTIONS(LOG)

static void log_mark(const struct mg_mark *m)
{
	lttng_ust_do_tracepoint(magnet, mark, m);
}

static __thread sigset_t signals __attribute__((tls_model("initial-exec")));

static void before_fork(void)
{
	lttng_ust_before_fork(&signals);
}

static void after_fork_parent(void)
{
	lttng_ust_after_fork_parent(&signals);
}

static void after_fork_child(void)
{
	lttng_ust_after_fork_child(&signals);
}

#define ROW(n, name, dir)    [n] = log_##name,
#define WANTED(n, name, dir) [n] = &lttng_ust_tracepoint_magnet___##name.state,
static struct mg_backend backend = {.wanted = {MG_FUNCTIONS(WANTED)},
	.log = {MG_FUNCTIONS(ROW)},
	.wanted_mark = &lttng_ust_tracepoint_magnet___mark.state,
	.mark = log_mark};

__attribute__((visibility("default"))) const struct mg_backend *mg_lttng_backend(void);

const struct mg_backend *mg_lttng_backend(void)
{
	/* LTTng must learn of a fork; liblttng-ust-fork.so does that if the user preloaded it */
	void *fork_library = dlopen("liblttng-ust-fork.so.1", RTLD_NOW | RTLD_NOLOAD);

	if (fork_library) {
		dlclose(fork_library);
		return &backend;
	}
	backend.before_fork = before_fork;
	backend.after_fork_parent = after_fork_parent;
	backend.after_fork_child = after_fork_child;
	return &backend;
}
