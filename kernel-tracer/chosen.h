/* SPDX-License-Identifier: MIT */
/*
 * Tracepoints chosen with --event: recorded by perf, in a ring a CPU of their own, which the
 * tracer's loop empties into streams of their own. Functions return 0 or a negative errno; NULL
 * stands for no events, and does nothing.
 */
#ifndef MAGNET_KERNEL_TRACER_CHOSEN_H
#define MAGNET_KERNEL_TRACER_CHOSEN_H

#include "chosen_format.h"
#include "tracer.h"

struct chosen_event {
	char category[64], name[64];
	char *filter; /* NULL = none */
	struct event_format format;
	uint16_t id;  /* in the trace */
	bool pattern; /* one of several that a pattern fits */
	int status;   /* negative errno: one of those that perf may not record, and is left out */
};

struct chosen_list {
	struct chosen_event *event;
	size_t count;
};

/*
 * chosen_find.c: what the options name, as this kernel has it. -EINVAL: they name what is not
 * there; `why` says so.
 */
int chosen_find(
	struct chosen_list *l, int tracefs, const struct tracer_options *o, char *why, size_t size);
void chosen_list_free(struct chosen_list *l);

/* chosen_rings.c */
struct chosen_rings;
/* Open, but not begun. `ring_bytes` is a power of two. */
int chosen_rings_open(struct chosen_rings **out, struct chosen_list *l, int tracefs,
	uint64_t ring_bytes, char *why, size_t size);
int chosen_rings_start(struct chosen_rings *r, struct ctf_writer *w);
/* Returns the fullest ring's fill in percent, or a negative errno. */
int chosen_rings_pass(struct chosen_rings *r);
/* Whether occurrences are recorded. */
int chosen_rings_record(struct chosen_rings *r, bool on);
/* No more occurrences; then everything that is still in the rings, and what was lost last. */
int chosen_rings_finish(struct chosen_rings *r);
uint64_t chosen_rings_lost(const struct chosen_rings *r);
void chosen_rings_free(struct chosen_rings *r);

/* chosen.c: the whole */
struct chosen;
/* Before anything else: -EINVAL is wrong usage. `out` is NULL without --event. */
int chosen_open(struct chosen **out, const struct tracer_options *o, char *why, size_t size);
/* Describe the events to the trace, tell their hooks, and begin. */
int chosen_start(struct chosen *c, struct ctf_writer *w, hook_report_fn report, void *report_arg);
int chosen_pass(struct chosen *c);
/* Record nothing, until it is resumed. */
int chosen_pause(struct chosen *c);
int chosen_resume(struct chosen *c);
int chosen_finish(struct chosen *c);
uint64_t chosen_lost(const struct chosen *c);
void chosen_free(struct chosen *c);

#endif
