/* SPDX-License-Identifier: MIT */
/*
 * Parts of a recording that can each be read alone. A part is a trace of its own in a directory of
 * its own below the trace directory: 0001, 0002, ... So babeltrace2 opens one or all of them, the
 * oldest can be deleted, and merged they are what was recorded. It begins with what a reader must
 * know: hooks, costs, the clock, and every connection and task that is alive.
 */
#ifndef MAGNET_KERNEL_TRACER_CHUNK_H
#define MAGNET_KERNEL_TRACER_CHUNK_H

#include "run/run.h"

/* The directory of the first part, or of all if there is only one; made with what leads to it. */
int chunk_first_dir(struct run *r, char *dir, size_t size);
/* The first part's head, once it records. */
int chunk_begin_first(struct run *r);
/* Begin another part if the present one has reached its limit; and stop at that of all. */
int chunk_look(struct run *r, uint64_t now);
/* The head of a part, written at `ts`: `before_ns` is where the part before ends, 0 = none. */
int chunk_write_head(const struct run *r, struct ctf_writer *w, const struct identities *alive,
	const struct mg_clock_sync *sync, uint32_t number, uint64_t ts, uint64_t before_ns);
/*
 * Make the directory of a part. Returns a descriptor of it, and its path by that, which is good
 * while the descriptor is open; or a negative errno.
 */
int chunk_make_dir(const struct run *r, uint32_t number, char *dir, size_t size);
/* Delete the parts older than the newest `keep` ones. */
void chunk_forget_old(struct run *r);

#endif
