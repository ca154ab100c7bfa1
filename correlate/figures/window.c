/* SPDX-License-Identifier: MIT */
#include "figures/window.h"

#include <string.h>

#include "alloc.h"

/* ---- counting ---- */

/* Returns the window of a fact's flow; NULL if it has none, is outside, or memory is short. */
static struct flow_window *window_of(struct measures_memory *with, enum fact kind,
	const struct fact_flow_id *of, const void *fact)
{
	struct flow_measures *m;

	if (!of->sock || !of->state ||
		!filter_takes_fact_time(with->filter, with->core, kind, fact))
		return NULL;
	m = measures_made(with, of);
	if (m && !m->window)
		m->window = mg_calloc(1, sizeof(*m->window));
	return m ? m->window : NULL;
}

static void on_call(void *arg, const void *fact)
{
	const struct fact_call *f = fact;
	bool moved = f->bytes && f->bytes != FACT_NONE;
	struct flow_window *w = moved ? window_of(arg, FACT_call, &f->flow, fact) : NULL;

	if (!w)
		return;
	w->calls++;
	w->bytes += f->bytes;
	w->kernel_only += f->seen_by == SEEN_KERNEL ? f->bytes : 0;
	w->blocked += f->state[STATE_BLOCKED] != FACT_NONE ? f->state[STATE_BLOCKED] : 0;
	if (!w->first_call || f->begin < w->first_call)
		w->first_call = f->begin;
	if (f->begin > w->last_call)
		w->last_call = f->begin;
	if (f->end > w->last)
		w->last = f->end;
}

static void on_timed_send(void *arg, const void *fact)
{
	const struct fact_timed_send *f = fact;
	struct flow_window *w = window_of(arg, FACT_timed_send, &f->flow, fact);

	if (w)
		w->bytes += f->bytes;
}

static void on_range(void *arg, const void *fact)
{
	const struct fact_range *f = fact;
	struct flow_window *w = window_of(arg, FACT_range, &f->flow, fact);

	if (!w)
		return;
	*(f->outcome == OUTCOME_INCOMPLETE ? &w->incomplete : &w->followed) += f->length;
	w->ambiguous += f->outcome == OUTCOME_SENT_AGAIN ? f->length : 0;
	w->undivided += f->outcome == OUTCOME_UNDIVIDED ? f->length : 0;
}

static void on_retransmit(void *arg, const void *fact)
{
	const struct fact_retransmit *f = fact;
	struct flow_window *w = window_of(arg, FACT_retransmit, &f->flow, fact);

	if (!w)
		return;
	w->retransmits += f->result >= 0 ? f->segments : 0;
	w->syn_retries += f->syn;
	w->retransmitted += f->sent;
}

static void on_drop(void *arg, const void *fact)
{
	const struct fact_drop *f = fact;
	struct flow_window *w = window_of(arg, FACT_drop, &f->flow, fact);

	if (!w)
		return;
	w->dropped += f->segments;
	w->discarded += f->discarded;
}

void window_listen(struct measures_memory *m, struct core *c)
{
	facts_listen_by_flow(core_facts(c), FACT_call, on_call, m);
	facts_listen_by_flow(core_facts(c), FACT_timed_send, on_timed_send, m);
	facts_listen_by_flow(core_facts(c), FACT_range, on_range, m);
	facts_listen_by_flow(core_facts(c), FACT_retransmit, on_retransmit, m);
	facts_listen_by_flow(core_facts(c), FACT_drop, on_drop, m);
}

/* ---- in place of the flow's own ---- */

/* clang-format off */
/* W(member): counters that both have */
#define WINDOW_COUNTERS(W) \
	W(calls) W(kernel_only) W(followed) W(incomplete) W(ambiguous) W(undivided) \
	W(retransmits) W(retransmitted) W(syn_retries) W(dropped) W(discarded) W(blocked)
/* C(member): counters that a window has not */
#define OTHER_COUNTERS(C) \
	C(synack_retries) C(resent) C(transit_ambiguous) C(incomplete_again) \
	C(never_sent) C(opening) C(urgent_unread) C(refused_calls) C(driver_refused) \
	C(dropped_bytes) C(closure) C(gaps) C(missing_bytes) C(unmatched) \
	C(zerocopy_sends) C(zerocopy_copied) C(zerocopy_pending) C(zerocopy_unsure)
/* clang-format on */

#define ADD(member) sum->member += w->member;
void window_add(struct flow_window *sum, const struct flow_window *w)
{
	WINDOW_COUNTERS(ADD)
	sum->bytes += w->bytes;
}
#undef ADD

void window_apply(struct fact_flow *f)
{
	static const struct flow_window nothing;
	const struct flow_window *w = measures(f)->window;

	if (!w)
		w = &nothing;
#define TAKE(member)  f->member = w->member;
#define CLEAR(member) f->member = 0;
	WINDOW_COUNTERS(TAKE)
	OTHER_COUNTERS(CLEAR)
#undef TAKE
#undef CLEAR
	f->end = f->offset + w->bytes;
	f->first_call = w->first_call;
	f->last_call = w->last_call;
	f->first_moved = w->first_call ? w->first_call : f->first_moved;
	f->last_moved = w->last ? w->last : f->last_moved;
}

bool window_knows(size_t offset)
{
#define OFFSET(member) offsetof(struct fact_flow, member),
	static const size_t known[] = {WINDOW_COUNTERS(OFFSET)};
#undef OFFSET

	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		if (known[i] == offset)
			return true;
	return false;
}
