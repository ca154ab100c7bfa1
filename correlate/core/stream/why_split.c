/* SPDX-License-Identifier: MIT */
/*
 * Divides the wait in the send buffer in time. What holds the first unsent byte holds those behind
 * it. Whenever TCP reports its windows they are tested as the kernel does (tcp_write_xmit): the
 * congestion window, the peer's, Nagle's rule. Where none of these held, the release of the byte
 * identifies the cause.
 */
#include "stream/why_split.h"

#include "bytes/held.h"
#include "facts/why_reasons.h"
#include "stream/why.h"
#include "stream/why_parts.h"
#include "task/threads.h"

#define CA_DISORDER 1
#define CA_RECOVERY 3
#define CA_LOSS     4
/* share of the smaller window; the default of net.ipv4.tcp_tso_win_divisor */
#define DEFER_BELOW 3
/* Limit where no call reports how long the bytes waited, as nothing would be forgotten. */
#define UNCLAIMED_SPANS 64

/* ---- by TCP's windows ---- */

/* Returns whether the number of segments in flight does not follow from the acknowledged bytes. */
static bool in_flight_unknown(const struct split *p)
{
	return !p->sampled && (p->ca_state == CA_DISORDER || p->ca_state >= CA_RECOVERY);
}

/* Returns what held the first unsent byte by the last known windows; WHYS if none of them did. */
static enum why_reason by_windows(const struct why *w, bool cwnd)
{
	const struct split *p = &w->split;
	uint64_t room = w->window_end > p->unsent ? w->window_end - p->unsent : 0;
	uint64_t queued = p->written > p->unsent ? p->written - p->unsent : 0;
	uint64_t need = w->mss ? w->mss : 1;
	enum why_reason held;

	if (!queued)
		return WHYS;
	if (!p->writing && queued < need)
		need = queued;
	if (cwnd && w->segs_out >= w->cwnd && !in_flight_unknown(p))
		return WHY_CWND;
	if (room < need)
		return WHY_WINDOW;
	if (cwnd && w->segs_out >= w->cwnd)
		return WHY_NOT_KNOWN;
	if (p->writing || !w->mss || queued >= w->mss)
		return WHYS;
	held = why_of_small(w, w->nagle, w->una);
	return held == WHY_NOT_KNOWN ? WHYS : held;
}

/* Notes what held until `t`; WHYS: none of the known windows did. */
static void tell_until(struct split *p, enum why_reason held, uint64_t t)
{
	if (t <= p->asked)
		return;
	if (p->lost)
		held = WHY_NOT_KNOWN;
	p->lost = false;
	if (held != WHYS) {
		held_add(&p->held, WHY_NOT_KNOWN, p->asked);
		held_add(&p->held, held, t);
	}
	p->asked = t;
}

static void compare(struct why *w, uint64_t t)
{
	struct split *p = &w->split;

	if (!w->valid)
		return;
	if (p->cwnd_until > p->asked && p->cwnd_until < t)
		tell_until(p, by_windows(w, false), p->cwnd_until);
	p->held_last = by_windows(w, true);
	tell_until(p, p->held_last, t);
}

void split_due(struct why *w)
{
	uint64_t t = w->split.due;

	w->split.due = 0;
	if (t)
		compare(w, t);
}

/* ---- TCP's events ---- */

void split_on_write(struct why *w, uint64_t unsent, uint64_t next, uint64_t end, uint64_t t)
{
	struct split *p = &w->split;

	p->unsent = unsent;
	p->written = p->copied = next;
	p->writing = false;
	if (unsent < next) {
		compare(w, t);
	} else { /* nothing waits: what is copied now is the first */
		held_skip(&p->held, t);
		p->asked = p->since = t;
		p->held_last = WHYS;
	}
	p->written = end;
	p->writing = true;
}

void split_on_written(struct why *w, uint64_t end)
{
	w->split.written = w->split.copied = end;
	w->split.writing = false;
}

void split_on_arrival(struct why *w, bool known, bool zero_window, uint64_t t)
{
	struct split *p = &w->split;

	if (known) {
		compare(w, t);
	} else {
		p->held_last = zero_window ? WHY_WINDOW : WHY_NOT_KNOWN;
		tell_until(p, p->held_last, t);
	}
}

void why_on_congestion(struct flow *f, const struct mg_tcp_cong *e, uint64_t t)
{
	struct why *w = f->why;

	if (!w)
		return;
	split_due(w);
	/* a timeout reduces the window between two segments of the peer's */
	if (e->now == CA_LOSS && w->valid) {
		w->cwnd = e->snd_cwnd;
		if (by_windows(w, true) == WHY_CWND)
			tell_until(&w->split, WHY_CWND, t);
		else
			w->split.cwnd_until = t;
	}
	w->split.ca_state = e->now;
}

void why_on_limits(struct flow *f, const struct mg_tcp_limits *e)
{
	struct why *w = f->why;
	uint32_t out = w ? e->sacked_out + e->lost_out : 0;

	if (!w || e->sacked_out == UINT16_MAX || e->lost_out == UINT16_MAX)
		return;
	w->segs_out -= out < w->segs_out ? out : w->segs_out;
	w->split.sampled = true;
}

void why_on_gap(struct why *w)
{
	if (!w)
		return;
	split_due(w);
	w->split.lost = true;
}

/* ---- release of a segment ---- */

/*
 * Returns whether Linux may have deferred several segments to send more at once, which it does not
 * if this much room is left.
 */
static bool may_be_deferred(const struct why *w, const struct mg_packet *p, uint64_t off)
{
	uint64_t may = w->cwnd > w->segs_out ? w->cwnd - w->segs_out : 0;
	uint64_t room = w->window_end > off ? w->window_end - off : 0;
	uint64_t whole = w->window_end - w->una, cwnd = (uint64_t)w->cwnd * w->mss;

	if (room > may * w->mss)
		room = may * w->mss;
	if (whole > cwnd)
		whole = cwnd;
	return p->segs > 1 && room * DEFER_BELOW < whole;
}

/*
 * Returns the cause where TCP has tried to send and no window held: one of the kernel's other
 * tests.
 */
static enum why_reason left_over(const struct core *c, const struct mg_sock *s,
	const struct mg_packet *p, uint64_t off, enum why_release release)
{
	const struct why *w = s->tx.why;

	if (!w->valid || !w->mss || !(w->nagle & NAGLE_KNOWN) || may_be_deferred(w, p, off))
		return WHY_NOT_KNOWN;
	if (why_lay_behind_others(c, s, off, release))
		return why_of_device(w, off, p->segs > 1 || p->len >= w->mss);
	return w->split.paced ? WHY_PACING : WHY_NOT_KNOWN;
}

/* Returns since when the call that sends it is under way. */
static uint64_t own_way(const struct thread *t, enum why_release release, uint64_t off)
{
	uint64_t since = t->now.enter;

	if (release == RELEASE_OWN_CALL)
		since = why_own_piece(&t->now, off)->t;
	return t->wake.ran > since ? t->wake.ran : since;
}

static enum why_reason before(const struct core *c, const struct thread *t, const struct mg_sock *s,
	const struct mg_packet *p, uint64_t off, struct why_found found)
{
	const struct why *w = s->tx.why;
	const struct split *split = &w->split;

	if (split->lost)
		return WHY_NOT_KNOWN;
	switch (found.release) {
	case RELEASE_OWN_CALL: /* a call has pushed all there was before it slept */
		return t->wake.ran > why_own_piece(&t->now, off)->t
			       ? left_over(c, s, p, off, found.release)
			       : WHY_NOT_KNOWN;
	case RELEASE_ACK:
		if (split->held_last != WHYS)
			return split->held_last;
		if (found.reason != WHY_NOT_KNOWN || p->context == MG_CONTEXT_THREAD)
			return found.reason;
		return left_over(c, s, p, off, found.release);
	case RELEASE_LATER_CALL:
		return found.reason != WHY_NOT_KNOWN ? found.reason
						     : left_over(c, s, p, off, found.release);
	default:
		return found.reason;
	}
}

/* Settles the time since which the first byte of the queue has been the first. */
static void settle(const struct core *c, struct mg_sock *s, uint64_t t)
{
	struct split *p = &s->tx.why->split;
	struct fact_unsent f = {.flow = flow_fact(&s->tx), .begin = p->since, .end = t};

	if (p->since && facts_wanted(&c->facts, FACT_unsent)) {
		held_sum(&p->held, p->since, t, f.held);
		emit_unsent(&c->facts, &f);
	}
	p->since = t;
}

void split_on_out(struct core *c, const struct thread *t, struct mg_sock *s,
	const struct mg_packet *p, uint64_t off, struct why_found found, uint64_t now)
{
	struct split *split = &s->tx.why->split;
	enum why_reason held = before(c, t, s, p, off, found);

	if (found.release == RELEASE_OWN_CALL || found.release == RELEASE_LATER_CALL) {
		held_add(&split->held, held, own_way(t, found.release, off));
		held_add(&split->held, WHY_IMMEDIATE, now);
	} else {
		held_add(&split->held, held, now);
	}
	settle(c, s, now);
	if (s->unclaimed && split->held.len > UNCLAIMED_SPANS)
		held_free(&split->held);
	split->paced |= found.release == RELEASE_PACER;
	split->asked = now;
	split->lost = false;
	if (off + p->len > split->unsent)
		split->unsent = off + p->len;
}
