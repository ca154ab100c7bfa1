/* SPDX-License-Identifier: MIT */
/*
 * Estimates the relation of counter and clock from the program's calls, for a trace without
 * readings of both. An event has the clock's time T; by then the counter had passed the call's exit
 * X, and had not reached N, where the thread's next call begins. Usually T is just after X. The
 * narrowest of these intervals serve as readings: X at T, off by N - X at most (method, "Clock").
 */
#include "clock/clock_guess.h"

#include <math.h>
#include <string.h>

#include "core.h"
#include "event_table.h"
#include "clock/clockmap.h"
#include "clock/queue.h"

#define BLOCKS  16   /* blocks of time; the narrowest interval of each counts */
#define THREADS 1024 /* threads whose last call is kept */

struct interval {
	uint64_t ns, low, high;
};

struct last_call {
	uint32_t tid;
	uint64_t ns, exit;
};

static uint64_t width(const struct interval *i)
{
	return i->high - i->low;
}

/* Returns the time span of the waiting calls, from the end of the readings on. */
static bool span(const struct core *c, uint64_t *from, uint64_t *to)
{
	uint64_t until = clockmap_until(&c->clock);
	bool any = false;

	for (const struct mg_event *e = queue_first(&c->due.pending); e;
		e = queue_after(&c->due.pending, e)) {
		if (!MG_IS_CALL(e->id) || e->time_ns <= until)
			continue;
		if (!any)
			*from = *to = e->time_ns;
		any = true;
		if (e->time_ns > *to)
			*to = e->time_ns;
	}
	return any;
}

/* Keeps the narrower interval. A handler's call lies within the next event: that is no interval. */
static void narrow(struct interval *best, const struct last_call *last, uint64_t next_enter)
{
	if (next_enter < last->exit || next_enter - last->exit > UINT32_MAX)
		return;
	if (best->ns && width(best) <= next_enter - last->exit)
		return;
	*best = (struct interval){last->ns, last->exit, next_enter};
}

static void find_narrowest(
	const struct core *c, uint64_t from, uint64_t to, struct interval best[BLOCKS])
{
	static struct last_call last[THREADS];

	memset(last, 0, sizeof(last));
	memset(best, 0, BLOCKS * sizeof(*best));
	for (const struct mg_event *e = queue_first(&c->due.pending); e;
		e = queue_after(&c->due.pending, e)) {
		struct last_call *l;

		if (!MG_IS_CALL(e->id))
			continue;
		l = &last[e->call.tid % THREADS];
		if (l->tid == e->call.tid && l->ns >= from)
			narrow(&best[(l->ns - from) * (BLOCKS - 1) / (to - from + 1)], l,
				e->call.enter);
		*l = (struct last_call){e->call.tid, e->time_ns, e->call.exit};
	}
}

static void add(struct core *c, const struct interval *i)
{
	clockmap_add(&c->clock, i->ns, i->low, (uint32_t)width(i));
}

/* Adds the two intervals that give the rate with the least error. */
static bool add_pair(struct core *c, const struct interval best[BLOCKS])
{
	const struct interval *first = NULL, *second = NULL;
	double least = 0;

	for (int a = 0; a < BLOCKS; a++)
		for (int b = a + 1; b < BLOCKS; b++) {
			double error;

			if (!best[a].ns || best[b].ns <= best[a].ns || best[b].low <= best[a].high)
				continue;
			error = fmax((double)width(&best[a]), (double)width(&best[b])) /
				(double)(best[b].ns - best[a].ns);
			if (first && error >= least)
				continue;
			least = error;
			first = &best[a];
			second = &best[b];
		}
	if (!first)
		return false;
	add(c, first);
	add(c, second);
	return true;
}

/* Adds one more reading from the later half, so that it is far from the previous one. */
static void add_one(struct core *c, const struct interval best[BLOCKS])
{
	const struct interval *narrowest = NULL;

	for (int i = BLOCKS / 2; i < BLOCKS; i++)
		if (best[i].ns && (!narrowest || width(&best[i]) < width(narrowest)))
			narrowest = &best[i];
	if (narrowest)
		add(c, narrowest);
}

/*
 * Without such intervals, takes the rate from the ends of the first and the last call, without a
 * bound.
 */
static bool add_ends(struct core *c)
{
	const struct mg_event *first = NULL, *last = NULL;

	for (const struct mg_event *e = queue_first(&c->due.pending); e;
		e = queue_after(&c->due.pending, e)) {
		if (!MG_IS_CALL(e->id))
			continue;
		if (!first)
			first = e;
		last = e;
	}
	if (!first || last->call.exit <= first->call.exit || last->time_ns <= first->time_ns)
		return false;
	clockmap_add(&c->clock, first->time_ns, first->call.exit, 0);
	clockmap_add(&c->clock, last->time_ns, last->call.exit, 0);
	return true;
}

void clock_guess(struct core *c)
{
	struct interval best[BLOCKS];
	uint64_t from = 0, to = 0;

	if (!span(c, &from, &to))
		return;
	find_narrowest(c, from, to, best);
	if (clockmap_valid(&c->clock)) {
		add_one(c, best);
		return;
	}
	c->due.guess_bounded = add_pair(c, best);
	if (c->due.guess_bounded || add_ends(c))
		c->due.clock_source = CLOCK_GUESSED;
}
