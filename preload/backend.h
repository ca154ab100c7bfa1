/* SPDX-License-Identifier: MIT */
/*
 * Where calls are logged to. A process has one back end: rings that `magnet record` reads, if it
 * runs under it, else LTTng-UST. Without either nothing is wanted.
 */
#ifndef MAGNET_PRELOAD_BACKEND_H
#define MAGNET_PRELOAD_BACKEND_H

#include <stdint.h>

#include "events.h"

struct mg_backend {
	/* of each MG_FN_*: nonzero where somebody wants it; may change at any time */
	const int *wanted[MG_FN_END];
	/* async-signal-safe; may change errno */
	void (*log[MG_FN_END])(unsigned int fn, const struct mg_call *c);
	/* a call that is wanted was made without a time; as log. May be NULL */
	void (*count_untimed)(void);
	const int *wanted_mark;
	void (*mark)(const struct mg_mark *m);
	void (*before_fork)(void);
	void (*after_fork_parent)(void);
	void (*after_fork_child)(void);
	/* take no more than so many bytes of address space from now on, if possible */
	void (*make_room)(uint64_t bytes);
};

/* NULL where there are no rings, or they cannot be had */
const struct mg_backend *mg_ring_backend(void);

/* libmagnet-lttng.so, which is loaded only then: it makes every process multithreaded */
#define MG_LTTNG_LIBRARY "libmagnet-lttng.so"
#define MG_LTTNG_SYMBOL  "mg_lttng_backend"
typedef const struct mg_backend *(*mg_lttng_backend_fn)(void);

#endif
