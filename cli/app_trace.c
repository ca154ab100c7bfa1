/* SPDX-License-Identifier: MIT */
#include "app_trace.h"

#include <stdio.h>

#include "clock.h"

#define CLOCK_NS   90000000ull
#define FUTURE_NS  100000000ull /* within which calls end while the rings are read */
#define LOOK_EVERY 512          /* calls between two looks at the size of the trace */

/*
 * Returns the time of a counter value shortly before the last reading. A value that a program made
 * up gives a time that is not outside the trace.
 */
static uint64_t to_ns(const struct app_trace *w, uint64_t cycles)
{
	double age = (double)(int64_t)(w->now.cycles - cycles) * w->ns_per_cycle;

	if (age > (double)w->now.mono_ns)
		return 0;
	if (age < -(double)FUTURE_NS)
		return w->now.mono_ns;
	return w->now.mono_ns - (uint64_t)(int64_t)age;
}

/* The rate is taken over a tenth of a second to ten: then the error of a reading is negligible. */
void app_trace_read_clock(struct app_trace *w)
{
	mg_clock_sync_read(&w->now, 10);
	if (!w->base.cycles || w->now.mono_ns - w->base.mono_ns > 10000000000ull) {
		struct mg_clock_sync last = w->base;

		w->base = w->now;
		if (!last.cycles)
			return;
		w->base.mono_ns -= 1000000000; /* a point on the same line */
		w->base.cycles -= (uint64_t)(1e9 / w->ns_per_cycle);
		return;
	}
	if (w->now.mono_ns - w->base.mono_ns > 100000000)
		w->ns_per_cycle = (double)(w->now.mono_ns - w->base.mono_ns) /
				  (double)(w->now.cycles - w->base.cycles);
}

/* This makes a packet before all losses: babeltrace2 counts them from one packet to the next. */
void app_trace_begin(struct app_trace *w, uint64_t from_ns)
{
	struct mg_app_begin e = {.from_ns = from_ns,
		.events = w->events,
		.number = app_parts_number(&w->parts),
		.flight = app_parts_is_flight(&w->parts)};

	if (!w->error)
		w->error = ctf_event_of(w->writer, MG_EVENT_app_begin, e.from_ns, 0, 0, &e,
			MG_PAYLOAD_SIZE(APP_BEGIN));
}

void app_trace_end(struct app_trace *w, const struct own_use *use)
{
	struct mg_app_end e = {
		.events = w->events, .lost = w->lost, .cpu_ns = own_cpu_ns() - use->began_cpu_ns};

	if (w->full_at)
		snprintf(e.why, sizeof(e.why), APP_TRACE_FULL);
	if (!w->error)
		w->error = ctf_tell_contents(w->writer, w->full_at ? 1 + w->clock : 1);
	if (!w->error)
		w->error = ctf_event_of(w->writer, MG_EVENT_app_end,
			w->full_at ? w->full_at : mg_monotonic_ns(), 0, 0, &e,
			MG_PAYLOAD_SIZE(APP_END));
}

void app_trace_put_clock(struct app_trace *w, bool now)
{
	if (!w->clock || w->error || (!now && w->now.mono_ns < w->next_clock))
		return;
	w->next_clock = w->now.mono_ns + CLOCK_NS;
	w->error = ctf_event_of(w->writer, MG_EVENT_clock_sync, w->now.mono_ns, 0, 0, &w->now,
		MG_PAYLOAD_SIZE(CLOCK_SYNC));
}

void app_trace_flush(struct app_trace *w, uint64_t t)
{
	struct mg_app_until e = {.until_ns = t};
	/* parts would be filled with it; clock readings tell as much */
	bool wanted = !w->clock && !w->full_at && !app_parts_number(&w->parts);

	if (wanted && ctf_events(w->writer) == w->flushed)
		w->error = ctf_event_of(
			w->writer, MG_EVENT_app_until, t, 0, 0, &e, MG_PAYLOAD_SIZE(APP_UNTIL));
	w->flushed = ctf_events(w->writer);
	if (!w->error)
		w->error = ctf_flush(w->writer);
}

/* Begins a part with the calls after `t`: all before are written. */
static void next_part(struct app_trace *w, uint64_t t)
{
	uint64_t bytes = ctf_bytes(w->writer);
	char dir[64];

	app_trace_put_clock(w, true);
	if (!w->error)
		w->error = ctf_tell_contents(w->writer, 0);
	if (!w->error)
		w->error = app_parts_next(&w->parts, bytes, t, dir, sizeof(dir));
	if (!w->error)
		w->error = ctf_next(w->writer, dir);
	app_trace_begin(w, t);
	app_trace_put_clock(w, true);
	if (!w->error)
		w->error = ctf_flush(w->writer);
	app_parts_forget_old(&w->parts, bytes, t);
}

void app_trace_look_at_bounds(struct app_trace *w, uint64_t t)
{
	uint64_t bytes = ctf_bytes(w->writer), most = w->parts.bounds.max_bytes;

	if (most && bytes >= most && !w->full_at)
		w->full_at = t;
	else if (!w->error && app_parts_are_due(&w->parts, bytes, t))
		next_part(w, t);
}

static void on_call(void *arg, unsigned int fn, const struct mg_call *c)
{
	struct app_trace *w = arg;
	uint64_t t = to_ns(w, c->exit);

	if (w->full_at)
		return;
	w->events++;
	callers_count(&w->callers, c->pid, t, true);
	if (!w->error)
		w->error = ctf_event_of(w->writer, (uint16_t)(MG_APP_BASE + fn), t, c->tid, c->pid,
			c, MG_PAYLOAD_SIZE(CALL));
	if (w->events % LOOK_EVERY == 0)
		app_trace_look_at_bounds(w, t);
}

static void on_mark(void *arg, const struct mg_mark *m)
{
	struct app_trace *w = arg;

	if (w->full_at)
		return;
	w->events++;
	if (!w->error)
		w->error = ctf_event_of(w->writer, MG_EVENT_mark, to_ns(w, m->at), m->tid, m->pid,
			m, MG_PAYLOAD_SIZE(MARK));
}

static void on_lost(void *arg, enum mg_lost_reason why, uint64_t count, uint32_t tid,
	uint64_t after, uint64_t before)
{
	struct app_trace *w = arg;
	struct mg_lost e = {.count = count, .cpu = -1, .reason = why};

	e.from_ns = after ? to_ns(w, after) : w->lost_until;
	e.to_ns = before ? to_ns(w, before) : w->now.mono_ns;
	if (w->full_at && e.from_ns >= w->full_at)
		return;
	if (w->full_at && e.to_ns > w->full_at)
		e.to_ns = w->full_at;
	if (e.from_ns > e.to_ns)
		e.from_ns = e.to_ns;
	if (why == MG_LOST_APP_NO_ROOM)
		snprintf(e.producer, sizeof(e.producer), "libmagnet, without room");
	else if (why == MG_LOST_APP_UNTIMED)
		snprintf(e.producer, sizeof(e.producer), "libmagnet, counter forbidden");
	else if (why == MG_LOST_APP_UNREACHED)
		snprintf(e.producer, sizeof(e.producer), "programs out of reach");
	else if (why == MG_LOST_APP_UNSERVED)
		snprintf(e.producer, sizeof(e.producer), "programs without a ring");
	else if (why == MG_LOST_APP_NOT_COUNTED)
		snprintf(e.producer, sizeof(e.producer), "thread %u, count unknown", tid);
	else
		snprintf(e.producer, sizeof(e.producer), "libmagnet, thread %u", tid);
	w->lost += count;
	if (why == MG_LOST_APP_UNFINISHED)
		w->unfinished += count;
	if (why == MG_LOST_APP_NO_ROOM)
		w->no_room += count;
	if (why == MG_LOST_APP_UNTIMED)
		w->untimed += count;
	if (why == MG_LOST_APP_UNSERVED)
		w->unserved += count;
	if (why == MG_LOST_APP_UNREACHED)
		w->unreached += count;
	ctf_set_discarded(w->writer, CTF_OWN_STREAM, w->lost);
	if (!w->error)
		w->error = ctf_event_of(
			w->writer, MG_EVENT_lost, e.to_ns, tid, 0, &e, MG_PAYLOAD_SIZE(LOST));
}

struct app_reader app_trace_reader(struct app_trace *w)
{
	return (struct app_reader){w, on_call, on_mark, on_lost};
}
