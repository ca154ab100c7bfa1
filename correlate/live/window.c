/* SPDX-License-Identifier: MIT */
#include "live/window.h"

#include <stdlib.h>
#include <string.h>

#include "alloc.h"
#include "event_table.h"
#include "figures/measures.h"

/* ---- connections ---- */

static void free_connection(struct live *l, struct live_connection *c)
{
	HASH_DEL(l->connections, c);
	for (int i = 0; i < LIVE_SLOTS; i++)
		if (c->slot[i]) {
			live_sums_free(c->slot[i]);
			free(c->slot[i]);
		}
	free(c);
}

/* Makes room for one more: the connection that was idle the longest goes. */
static void leave_one_out(struct live *l)
{
	struct live_connection *oldest = l->connections;

	if (oldest->sock == l->scope.sock && oldest->hh.next)
		oldest = oldest->hh.next;
	free_connection(l, oldest);
	l->left_out++;
}

static struct live_connection *connection(struct live *l, uint64_t sock)
{
	struct live_connection *c = NULL;

	HASH_FIND(hh, l->connections, &sock, sizeof(sock), c);
	if (c || !sock)
		return c;
	if (HASH_COUNT(l->connections) >= LIVE_CONNECTIONS)
		leave_one_out(l);
	c = mg_calloc(1, sizeof(*c));
	if (!c)
		return NULL;
	c->sock = sock;
	c->srtt_us = c->cwnd = FACT_NONE;
	c->active = l->now;
	HASH_ADD(hh, l->connections, sock, sizeof(c->sock), c);
	return hash_kept(c);
}

/* Returns the sums of a socket in the present interval; NULL without memory or a socket. */
static struct live_sums *sums_of(struct live *l, uint64_t sock, struct live_connection **of)
{
	struct live_connection *c = connection(l, sock);
	struct live_sums **s = c ? &c->slot[l->now % LIVE_SLOTS] : NULL;

	*of = c;
	if (!c)
		return NULL;
	if (c->active != l->now) { /* behind those that have been idle for longer */
		c->active = l->now;
		HASH_DEL(l->connections, c);
		HASH_ADD(hh, l->connections, sock, sizeof(c->sock), c);
		if (!hash_kept(c))
			return NULL;
	}
	if (!*s)
		*s = mg_calloc(1, sizeof(**s));
	return *s;
}

/* ---- facts ---- */

static void on_call(void *arg, const void *fact)
{
	const struct fact_call *f = fact;
	struct live *l = arg;
	struct live_connection *c;
	struct live_sums *s;
	int rx = f->flow.rx;

	if (!f->bytes || f->bytes == FACT_NONE || !f->flow.sock)
		return;
	s = sums_of(l, f->flow.sock, &c);
	if (!s)
		return;
	s->n.bytes[rx] += f->bytes;
	s->n.calls[rx]++;
	c->whole.bytes[rx] += f->bytes;
	l->filling.bytes[rx] += f->bytes;
	l->filling.calls[rx]++;
	if (!rx && (!s->first_call || f->begin < s->first_call))
		s->first_call = f->begin;
	if (!rx && f->begin > s->last_call)
		s->last_call = f->begin;
	scope_add_call(&l->scope, l->core, f);
}

static void on_range(void *arg, const void *fact)
{
	const struct fact_range *f = fact;
	struct live *l = arg;
	struct live_connection *c;
	struct live_sums *s = sums_of(l, f->flow.sock, &c);
	int first = f->flow.rx ? TX_STAGES : 0, end = f->flow.rx ? STAGES_BOTH : TX_STAGES;

	if (!s)
		return;
	for (int i = first; f->outcome == OUTCOME_FOLLOWED && i < end; i++)
		if (f->stage[i] != FACT_NONE)
			s->stage[i] += (double)f->stage[i] * (double)f->length;
	if (!f->flow.rx && f->transmitted)
		dist_add(&s->shift, f->transmitted > f->begin ? f->transmitted - f->begin : 0,
			f->length);
	scope_add_range(&l->scope, l->core, f);
}

static void on_timed_send(void *arg, const void *fact)
{
	const struct fact_timed_send *f = fact;
	struct live *l = arg;
	struct live_connection *c;
	struct live_sums *s = sums_of(l, f->flow.sock, &c);
	bool whole = true;

	if (!s)
		return;
	s->n.bytes[0] += f->bytes;
	c->whole.bytes[0] += f->bytes;
	l->filling.bytes[0] += f->bytes;
	for (int i = 0; i < TIMED_STAGES; i++)
		whole &= f->stage[i] != FACT_NONE;
	for (int i = 0; i < TIMED_STAGES && whole; i++)
		s->stage[STAGES_BOTH + i] += (double)f->stage[i];
	if (f->at_most != FACT_NONE)
		dist_add(&s->to_ack, f->at_most, 1);
	scope_add_timed_send(&l->scope, l->core, f);
}

static void on_retransmit(void *arg, const void *fact)
{
	const struct fact_retransmit *f = fact;
	struct live *l = arg;
	struct live_connection *c;
	struct live_sums *s = f->result < 0 ? NULL : sums_of(l, f->flow.sock, &c);

	if (!s)
		return;
	s->n.retransmits += f->segments;
	c->whole.retransmits += f->segments;
	l->filling.retransmits += f->segments;
}

static void on_drop(void *arg, const void *fact)
{
	const struct fact_drop *f = fact;
	struct live *l = arg;
	struct live_connection *c;
	struct live_sums *s = sums_of(l, f->flow.sock, &c);

	l->filling.drops += f->segments;
	if (s)
		s->n.drops += f->segments;
}

static void on_exchange(void *arg, const void *fact)
{
	const struct fact_exchange *f = fact;
	struct live *l = arg;
	struct live_connection *c;
	struct live_sums *s = f->answer == ANSWERED ? sums_of(l, f->request.sock, &c) : NULL;

	if (!s)
		return;
	s->n.exchanges++;
	c->whole.exchanges++;
	l->filling.exchanges++;
	if (exchange_is_sure(f) && f->to_reply != FACT_NONE)
		dist_add(&s->to_reply, f->to_reply, 1);
}

static void on_state(void *arg, const void *fact)
{
	const struct fact_state *f = fact;
	struct live_connection *c = NULL;
	struct live *l = arg;

	HASH_FIND(hh, l->connections, &f->flow.sock, sizeof(f->flow.sock), c);
	if (!c)
		return;
	c->srtt_us = f->srtt_us != FACT_NONE ? f->srtt_us : c->srtt_us;
	c->cwnd = f->cwnd != FACT_NONE ? f->cwnd : c->cwnd;
}

bool live_listen(struct live *l, struct core *c)
{
	static const struct {
		enum fact kind;
		fact_fn fn;
	} listened[] = {
		{FACT_call, on_call},
		{FACT_retransmit, on_retransmit},
		{FACT_drop, on_drop},
		{FACT_exchange, on_exchange},
		{FACT_state, on_state},
	};

	memset(l, 0, sizeof(*l));
	if (!c)
		return false;
	l->core = c;
	l->now = 1;
	for (size_t i = 0; i < sizeof(listened) / sizeof(listened[0]); i++)
		facts_listen(core_facts(c), listened[i].kind, listened[i].fn, l);
	/* those of a closed connection may come again, and are none of a later interval */
	facts_listen_by_flow(core_facts(c), FACT_range, on_range, l);
	facts_listen_by_flow(core_facts(c), FACT_timed_send, on_timed_send, l);
	return true;
}

/* ---- intervals ---- */

/*
 * Returns what is recorded now: only the kernel side says which connection a call is of, and before
 * its first event, or in a trace of the application side alone, no hook is known.
 */
static struct live_tells look_at_recording(const struct live *l)
{
	struct live_tells t;
	struct fact_recording r;
	bool kernel;

	core_recording(l->core, &r);
	kernel = r.kernel_events && !core_is_paused(l->core);
	t.calls = kernel && core_observes(l->core, MG_EVENT_sys_enter);
	t.timed_sends = kernel && core_observes(l->core, MG_EVENT_stamp_send);
	t.retransmits = kernel && core_observes(l->core, MG_EVENT_tcp_retransmit);
	t.drops = kernel && core_observes(l->core, MG_EVENT_drop);
	return t;
}

static void add_tells(struct live_tells *sum, const struct live_tells *t)
{
	sum->calls |= t->calls;
	sum->timed_sends |= t->timed_sends;
	sum->retransmits |= t->retransmits;
	sum->drops |= t->drops;
}

static void leave_one(uint64_t *n, bool told)
{
	if (!told && !*n)
		*n = FACT_NONE;
}

/* Takes away what was never recorded in this time. */
static void leave_told(const struct live_tells *t, struct live_counts *n)
{
	leave_one(&n->bytes[0], t->calls || t->timed_sends);
	leave_one(&n->bytes[1], t->calls);
	leave_one(&n->calls[0], t->calls);
	leave_one(&n->calls[1], t->calls);
	leave_one(&n->exchanges, t->calls);
	leave_one(&n->retransmits, t->retransmits);
	leave_one(&n->drops, t->drops);
}

void live_turn(struct live *l, uint64_t to_ns)
{
	struct live_interval *ended = &l->interval[l->now % LIVE_SLOTS], *next;
	struct live_tells now = look_at_recording(l);
	struct live_connection *c, *tmp;

	if (!ended->number) /* the first one began with the recording */
		*ended = (struct live_interval){.from_ns = core_begin_ns(l->core)};
	if (!ended->from_ns || ended->from_ns > to_ns)
		ended->from_ns = to_ns;
	ended->number = l->now++;
	ended->to_ns = to_ns;
	next = &l->interval[l->now % LIVE_SLOTS];
	*next = (struct live_interval){.number = l->now, .from_ns = to_ns};
	add_tells(&l->since_last, &now);
	ended->tells = l->since_last;
	add_tells(&l->ever, &l->since_last);
	l->since_last = now; /* as the next interval begins */
	l->total = l->filling;
	leave_told(&ended->tells, &l->total);
	memset(&l->filling, 0, sizeof(l->filling));
	HASH_ITER (hh, l->connections, c, tmp) {
		struct live_sums **s = &c->slot[l->now % LIVE_SLOTS];

		if (!*s)
			continue;
		live_sums_free(*s);
		free(*s);
		*s = NULL;
	}
}

const struct live_interval *live_ended(const struct live *l)
{
	return &l->interval[(l->now - 1) % LIVE_SLOTS];
}

/* Returns how many of the last intervals have ended and are there. */
static uint64_t there(const struct live *l, uint32_t slots)
{
	uint64_t most = slots < LIVE_SLOTS ? slots : LIVE_SLOTS - 1;

	return l->now - 1 < most ? l->now - 1 : most;
}

uint64_t live_span_ns(const struct live *l, uint32_t slots)
{
	uint64_t sum = 0;

	for (uint64_t i = 1; i <= there(l, slots); i++) {
		const struct live_interval *one = &l->interval[(l->now - i) % LIVE_SLOTS];

		sum += one->to_ns - one->from_ns;
	}
	return sum;
}

static void add_counts(struct live_counts *sum, const struct live_counts *n)
{
	for (int i = 0; i < 2; i++) {
		sum->bytes[i] += n->bytes[i];
		sum->calls[i] += n->calls[i];
	}
	sum->retransmits += n->retransmits;
	sum->exchanges += n->exchanges;
	sum->drops += n->drops;
}

static void add(struct live_sums *sum, const struct live_sums *s)
{
	add_counts(&sum->n, &s->n);
	if (s->first_call && (!sum->first_call || s->first_call < sum->first_call))
		sum->first_call = s->first_call;
	if (s->last_call > sum->last_call)
		sum->last_call = s->last_call;
	for (int i = 0; i < LIVE_STAGES; i++)
		sum->stage[i] += s->stage[i];
	dist_add_all(&sum->to_reply, &s->to_reply);
	dist_add_all(&sum->to_ack, &s->to_ack);
	dist_add_all(&sum->shift, &s->shift);
}

void live_sum(const struct live *l, const struct live_connection *c, uint32_t slots,
	struct live_sums *sum)
{
	struct live_tells tells = {false};

	memset(sum, 0, sizeof(*sum));
	for (uint64_t i = 1; i <= there(l, slots); i++) {
		const struct live_sums *s = c->slot[(l->now - i) % LIVE_SLOTS];

		add_tells(&tells, &l->interval[(l->now - i) % LIVE_SLOTS].tells);
		if (s)
			add(sum, s);
	}
	leave_told(&tells, &sum->n);
}

struct live_counts live_whole(const struct live *l, const struct live_connection *c)
{
	struct live_counts n = c->whole;

	leave_told(&l->ever, &n);
	return n;
}

void live_sums_free(struct live_sums *s)
{
	dist_free(&s->to_reply);
	dist_free(&s->to_ack);
	dist_free(&s->shift);
}

void live_free(struct live *l)
{
	struct live_connection *c, *tmp;

	HASH_ITER (hh, l->connections, c, tmp)
		free_connection(l, c);
}
