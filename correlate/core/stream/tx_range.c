/* SPDX-License-Identifier: MIT */
#include "stream/tx_range.h"

#include <string.h>

#include "bytes/call_ends.h"
#include "bytes/ranges.h"
#include "clock/clockmap.h"
#include "exchange/exchange.h"
#include "socket/peer.h"
#include "stage.h"
#include "stream/seen.h"
#include "stream/why.h"

/* Limit of retransmitted ranges kept for a peer that may be met later. */
#define AGAIN_MAX 1024
/* Index after the layers and the label: time of a retransmission. */
#define AGAIN (TX_LAYERS + 1)

/* Returns the layers in which this recording can have seen the bytes, as bits. */
static uint32_t required(const struct core *c, const struct flow *f)
{
	return 1u << TX_CALL | tx_stages(core_hooked(c, f->sock->netns));
}

/*
 * Limit of ranges for which the time of handing to IP is kept until they are acknowledged, as they
 * may be sent again; it applies where acknowledgements are not recorded.
 */
#define IN_FLIGHT_MAX 4096

/* Forgets the times of bytes that are settled. */
static void drop_done(struct flow *f, bool at_end)
{
	struct ranges *sent = &f->layer[TX_IP_OUT];

	for (int i = 0; i < TX_LAYERS; i++)
		if (i != TX_IP_OUT)
			ranges_drop(&f->layer[i], f->done);
	if (at_end || sent->len > IN_FLIGHT_MAX || f->ack.to > f->done)
		ranges_drop(sent, f->done);
	else
		ranges_drop(sent, f->ack.to);
}

/* Ranges that are settled now. */
struct settling {
	struct core *c;
	struct flow *f;
	uint32_t required; /* layers whose times a complete range has, as bits */
	uint64_t slack;    /* cycles by which times of different CPUs may be off */
};

/* Layers at which stages begin; a stage ends at the next one that is hooked. */
static const enum tx_layer edge[TX_STAGES + 1] = {
	TX_CALL, TX_COPY, TX_IP_OUT, TX_QUEUE, TX_XMIT, TX_DONE};

/* Returns whether a layer is hooked at which this stage, or one behind it, ends. */
static bool is_ended(const struct settling *m, int stage)
{
	for (int i = stage + 1; i <= TX_STAGES; i++)
		if (m->required & 1u << edge[i])
			return true;
	return false;
}

/* Returns whether a layer is hooked at which this stage begins, and one at which it ends. */
static bool is_known(const struct settling *m, int stage)
{
	return m->required & 1u << edge[stage] && is_ended(m, stage);
}

/*
 * Divides the time from the call on by the layers that are hooked. Returns false if a layer had the
 * bytes before the one above it, by more than the clocks may differ.
 */
static bool divide(const struct settling *m, const uint64_t t[], uint64_t length[TX_STAGES])
{
	uint64_t at = t[TX_CALL];
	int from = 0;

	for (int i = 1; i <= TX_STAGES; i++) {
		uint64_t next = t[edge[i]];

		if (!(m->required & 1u << edge[i]))
			continue;
		if (next + m->slack < at)
			return false;
		length[from] = next > at ? next - at : 0;
		at += length[from];
		from = i;
	}
	return true;
}

/* Returns the latest time, computed independently to check the stages by. */
static uint64_t latest(const struct settling *m, const uint64_t t[])
{
	uint64_t last = t[TX_CALL];

	for (int i = 1; i <= TX_STAGES; i++)
		if (m->required & 1u << edge[i] && t[edge[i]] > last)
			last = t[edge[i]];
	return last;
}

/* Fills in the time in each stage, and why the bytes waited in the send buffer. */
static void fill_stages(const struct settling *m, const uint64_t length[TX_STAGES],
	const uint64_t t[], uint32_t present, struct fact_range *r)
{
	struct flow *f = m->f;
	uint64_t label = present & 1u << TX_LAYERS ? t[TX_LAYERS] : 0, handed;

	r->total = 0;
	for (int i = 0; i < TX_STAGES; i++) {
		r->total += length[i];
		if (is_known(m, i))
			r->stage[i] = length[i];
	}
	if (f->sock->kind != MG_KIND_tcp || !(m->required & 1u << TX_IP_OUT))
		return;
	r->why = WHY_OF(label);
	r->released_by = RELEASE_OF(label);
	handed = r->begin + length[TX_STAGE_CALL] + length[TX_STAGE_SNDBUF];
	why_times(f, handed - length[TX_STAGE_SNDBUF], handed, r->held);
}

/* Adds the difference between a range's stages and its time, which must be 0. */
static void count_closure(struct flow *f, uint64_t total, uint64_t elapsed)
{
	f->closure += total > elapsed ? total - elapsed : elapsed - total;
}

/* Settles bytes with every time. */
static void known(const struct settling *m, const uint64_t length[TX_STAGES], const uint64_t t[],
	uint32_t present, struct fact_range *r)
{
	struct flow *f = m->f;

	r->elapsed = latest(m, t) - r->begin;
	r->transmitted = m->required & 1u << TX_XMIT ? t[TX_XMIT] : 0;
	if (present & 1u << AGAIN && t[AGAIN] < r->begin + r->elapsed) {
		r->outcome = OUTCOME_SENT_AGAIN;
		f->copies.ambiguous += r->length;
	} else {
		r->outcome = OUTCOME_FOLLOWED;
		fill_stages(m, length, t, present, r);
		count_closure(f, r->total, r->elapsed);
	}
	f->complete += r->length;
}

/* Emits the fact of a range, for which `t` has a time for each layer in `present`. */
static void settle(void *arg, uint64_t a, uint64_t b, const uint64_t t[], uint32_t present)
{
	struct settling *m = arg;
	struct flow *f = m->f;
	uint64_t length[TX_STAGES] = {0};
	struct fact_range r;

	range_begin(&r, f, a, b - a);
	r.begin = present & 1u << TX_CALL ? t[TX_CALL] : 0;
	while (call_ends_take(&f->call_ends, b))
		r.calls_end++;
	if ((present & m->required) == m->required && divide(m, t, length)) {
		known(m, length, t, present, &r);
	} else {
		f->incomplete += r.length;
		if (present & 1u << AGAIN)
			f->copies.incomplete += r.length;
	}
	emit_range(&m->c->facts, &r);
	exchange_on_range(f, &r);
	if (r.outcome == OUTCOME_INCOMPLETE)
		peer_sent(m->c, f, a, b, 0, 0);
	else
		peer_sent(m->c, f, a, b, r.begin, r.transmitted);
}

void tx_settle_range(struct core *c, struct flow *f, uint32_t layers, uint64_t a, uint64_t b,
	const uint64_t t[], uint32_t present)
{
	struct settling m = {c, f, layers, clock_slack(core_clock_error(c))};
	uint64_t all[AGAIN + 1] = {0}; /* lists that only streams have are empty */

	memcpy(all, t, TX_LAYERS * sizeof(*t));
	settle(&m, a, b, all, present);
}

/*
 * Returns up to where the bytes have passed the call and the last layer. What is missing of the
 * layers between was not recorded, as while hooks were attached one by one, and will not come.
 */
static uint64_t settled_until(const struct flow *f, uint32_t required)
{
	uint64_t until = ranges_reach(&f->layer[TX_CALL], f->done), reach;
	int last = TX_LAYERS - 1;

	while (last > TX_CALL && !(required & 1u << last))
		last--;
	reach = until > f->done ? ranges_reach(&f->layer[last], f->done) : until;
	return reach < until ? reach : until;
}

void tx_settle_ranges(struct core *c, struct flow *f, bool at_end)
{
	const struct ranges *layers[AGAIN + 1];
	struct settling m = {c, f, required(c, f), clock_slack(core_clock_error(c))};
	uint64_t until = settled_until(f, m.required);

	for (int i = 0; i < TX_LAYERS; i++)
		layers[i] = &f->layer[i];
	/* acknowledged long ago: missing events were lost from the trace and will not come */
	if (!f->use.open && f->ack.before > until)
		until = f->ack.before;
	if (at_end && f->ack.to > until)
		until = f->ack.to;
	if (until > f->total) /* the FIN has a sequence number, but is no byte */
		until = f->total;
	if (until <= f->done)
		return;
	layers[TX_LAYERS] = f->why ? &f->why->label : NULL;
	layers[AGAIN] = &f->copies.again;
	ranges_atoms(layers, AGAIN + 1, f->done, until, settle, &m);
	f->done = until;
	if (f->why)
		ranges_drop(&f->why->label, until);
	if (!f->sock->peer && f->copies.again.len > AGAIN_MAX)
		ranges_drop(&f->copies.again, until);
	drop_done(f, at_end);
}
