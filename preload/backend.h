/* SPDX-License-Identifier: MIT */
/*
 * Interface of a back end: where wrapped calls are logged. A process has one back end: the rings
 * that `magnet record` reads if it runs under `magnet record`, else LTTng-UST. Without a back end
 * no call is wanted.
 */
#ifndef MAGNET_PRELOAD_BACKEND_H
#define MAGNET_PRELOAD_BACKEND_H

#include <stdint.h>

#include "events.h"

struct mg_backend {
	/*
	 * for each MG_FN_*: points to a nonzero value while somebody wants calls of that function;
	 * the value may change at any time
	 */
	const int *wanted[MG_FN_END];
	/* writes one call; async-signal-safe; may change errno */
	void (*log[MG_FN_END])(unsigned int fn, const struct mg_call *c);
	/* counts a wanted call that was made without a timestamp; same rules as log; may be NULL */
	void (*count_untimed)(void);
	/* counts programs that are executed where they cannot be recorded; may be NULL */
	void (*count_unreached)(int programs);
	const int *wanted_mark;
	void (*mark)(const struct mg_mark *m);
	void (*before_fork)(void);
	void (*after_fork_parent)(void);
	void (*after_fork_child)(void);
	/* limits the address space the back end uses from now on to `bytes`, if possible */
	void (*make_room)(uint64_t bytes);
};

/*
 * Returns the back end that writes into shared rings; NULL where there are no rings or they cannot
 * be mapped.
 */
const struct mg_backend *mg_ring_backend(void);

/*
 * libmagnet-lttng.so is loaded only when LTTng is the back end, as it makes every process
 * multithreaded.
 */
#define MG_LTTNG_LIBRARY "libmagnet-lttng.so"
#define MG_LTTNG_SYMBOL  "mg_lttng_backend"
typedef const struct mg_backend *(*mg_lttng_backend_fn)(void);

#endif
