/* SPDX-License-Identifier: MIT */
/*
 * Has listeners of facts run in a thread of their own. Facts of the kinds that are handed over are
 * copied into large buffers; a listener gets them in the same order, later, and is told
 * of ended connections among them. All else about its state waits for them (facts_apart_await()),
 * so that every result is the same as without the thread.
 */
#ifndef MAGNET_CORRELATE_FACTS_APART_H
#define MAGNET_CORRELATE_FACTS_APART_H

#include "facts/facts.h"
#include "handover.h"

struct facts_apart;

/*
 * Listeners ask for something by setting the flag: `between` is called after the event whose fact
 * made them set it, before they get one of the next, in the thread of facts_apart_begin().
 */
struct facts_due {
	bool *flag;
	void (*between)(void *arg);
	void *arg;
};

/* Is called for the state that a listener keeps of a flow, when its connection has ended. */
typedef void (*facts_ended_fn)(void *state, uint64_t now);

/*
 * Takes over the listeners that are registered, as long as they do not ask for more than what is
 * in a fact. Returns NULL where a second thread is of no use or cannot be had: nothing changes
 * then.
 */
struct facts_apart *facts_apart_begin(
	struct facts *f, const struct facts_due *due, facts_ended_fn ended);
/* Is looked at by facts_apart_event(); every struct facts_apart begins with it. */
struct facts_apart_turn {
	uint64_t event; /* number of the present event */
	bool is_idle;   /* nothing is on its way to the listeners */
	bool is_full;   /* the buffer is */
	const bool *due, *asks;
};
void facts_apart_turn(struct facts_apart *a);
/* Says that the facts of an event are complete; this also does what is due. */
static inline void facts_apart_event(struct facts_apart *a)
{
	struct facts_apart_turn *t = (struct facts_apart_turn *)a;

	t->event++;
	if (t->is_full || (t->is_idle && *t->due) || __atomic_load_n(t->asks, __ATOMIC_RELAXED))
		facts_apart_turn(a);
}
/* Waits until the listeners have got all facts so far: their state may be used then. */
void facts_apart_await(struct facts_apart *a);
/*
 * Has `ended` called after all facts so far, for the state that is at that place by then, if there
 * is one. The place must stay until the listeners have been waited for.
 */
void facts_apart_ended(struct facts_apart *a, void **state, uint64_t now);
/* Work for the listeners' thread: see handover_leave() and handover_done(). */
bool facts_apart_leave(struct facts_apart *a, struct errand *e);
bool facts_apart_done(struct facts_apart *a, struct errand *e);
/* Has the listeners called directly again, and frees it. */
void facts_apart_end(struct facts_apart *a);

#endif
