/* SPDX-License-Identifier: MIT */
/*
 * Has listeners of facts run in a thread of their own. Facts of the kinds that are handed over are
 * copied into large buffers; a listener gets them in the same order, later, and so it does what
 * is handed over about a flow's state. All else about its state waits for them
 * (facts_apart_await()), so that every result is the same as without the thread.
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

/* Listeners do this, too, with the state that they keep of a flow, after all facts so far. */
enum facts_of_state { STATE_ENDED, STATE_TRIMMED, STATE_CHANGES };
typedef void (*facts_state_fn)(void *state, uint64_t now);

/*
 * Takes over the listeners that are registered, as long as they do not ask for more than what is
 * in a fact, and what they do with a state. Returns NULL where a second thread is of no use or
 * cannot be had: nothing changes then.
 */
struct facts_apart *facts_apart_begin(
	struct facts *f, const struct facts_due *due, const facts_state_fn of_state[STATE_CHANGES]);
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
 * Hands over a change of the flow's state that is at that place by then; if none is, nothing is
 * done. The place must stay until the listeners have been waited for.
 */
void facts_apart_change(
	struct facts_apart *a, enum facts_of_state change, void **state, uint64_t now);
/* Work for the listeners' thread: see handover_leave() and handover_done(). */
bool facts_apart_leave(struct facts_apart *a, struct errand *e);
bool facts_apart_done(struct facts_apart *a, struct errand *e);
/* Has the listeners called directly again, and frees it. */
void facts_apart_end(struct facts_apart *a);

#endif
