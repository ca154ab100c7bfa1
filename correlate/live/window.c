/* SPDX-License-Identifier: MIT */
#include "live/window.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "alloc.h"
#include "figures/measures.h"
#include "reported/spread.h"

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
	s->bytes[rx] += f->bytes;
	s->calls[rx]++;
	c->bytes[rx] += f->bytes;
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

static void on_retransmit(void *arg, const void *fact)
{
	const struct fact_retransmit *f = fact;
	struct live *l = arg;
	struct live_connection *c;
	struct live_sums *s = f->result ? NULL : sums_of(l, f->flow.sock, &c);

	if (!s)
		return;
	s->retransmits += f->segments;
	c->retransmits += f->segments;
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
		s->drops += f->segments;
}

static void on_exchange(void *arg, const void *fact)
{
	const struct fact_exchange *f = fact;
	struct live *l = arg;
	struct live_connection *c;
	struct live_sums *s = f->answer == ANSWERED ? sums_of(l, f->request.sock, &c) : NULL;

	if (!s)
		return;
	s->exchanges++;
	c->exchanges++;
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
	return true;
}

/* ---- intervals ---- */

void live_turn(struct live *l, uint64_t to_ns)
{
	struct live_interval *ended = &l->interval[l->now % LIVE_SLOTS], *next;
	struct live_connection *c, *tmp;

	if (!ended->number) /* the first one began with the recording */
		*ended = (struct live_interval){.from_ns = core_begin_ns(l->core)};
	if (!ended->from_ns || ended->from_ns > to_ns)
		ended->from_ns = to_ns;
	ended->number = l->now++;
	ended->to_ns = to_ns;
	next = &l->interval[l->now % LIVE_SLOTS];
	*next = (struct live_interval){.number = l->now, .from_ns = to_ns};
	l->total = l->filling;
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

static void add(struct live_sums *sum, const struct live_sums *s)
{
	for (int i = 0; i < 2; i++) {
		sum->bytes[i] += s->bytes[i];
		sum->calls[i] += s->calls[i];
	}
	sum->retransmits += s->retransmits;
	sum->exchanges += s->exchanges;
	sum->drops += s->drops;
	if (s->first_call && (!sum->first_call || s->first_call < sum->first_call))
		sum->first_call = s->first_call;
	if (s->last_call > sum->last_call)
		sum->last_call = s->last_call;
	for (int i = 0; i < STAGES_BOTH; i++)
		sum->stage[i] += s->stage[i];
	dist_add_all(&sum->to_reply, &s->to_reply);
	dist_add_all(&sum->shift, &s->shift);
}

void live_sum(const struct live *l, const struct live_connection *c, uint32_t slots,
	struct live_sums *sum)
{
	memset(sum, 0, sizeof(*sum));
	for (uint64_t i = 1; i <= there(l, slots); i++) {
		const struct live_sums *s = c->slot[(l->now - i) % LIVE_SLOTS];

		if (s)
			add(sum, s);
	}
}

void live_sums_free(struct live_sums *s)
{
	dist_free(&s->to_reply);
	dist_free(&s->shift);
}

void live_free(struct live *l)
{
	struct live_connection *c, *tmp;

	HASH_ITER (hh, l->connections, c, tmp)
		free_connection(l, c);
}

/* ---- figures ---- */

double live_reply_ns(const struct live *l, const struct live_sums *s, double quantile)
{
	double hz = core_hz(l->core);

	if (hz <= 0 || !dist_quantile_supported(&s->to_reply, quantile))
		return NAN;
	return dist_quantile(&s->to_reply, quantile) * 1e9 / hz;
}

double live_reply_highest(const struct live *l, const struct live_sums *s, double *ns)
{
	double hz = core_hz(l->core);

	*ns = hz > 0 && s->to_reply.n ? dist_at_highest(&s->to_reply) * 1e9 / hz : NAN;
	return s->to_reply.n ? dist_highest(&s->to_reply) : NAN;
}

double live_modulation(const struct live_sums *s)
{
	double tau = s->calls[0] > 1
			     ? (double)(s->last_call - s->first_call) / (double)(s->calls[0] - 1)
			     : 0;

	return tau > 0 && s->shift.n ? dist_mean_abs_dev(&s->shift) / tau : NAN;
}

int live_stage(const struct live_sums *s, double *share)
{
	double sum = 0;
	int largest = 0;

	for (int i = 0; i < STAGES_BOTH; i++) {
		sum += s->stage[i];
		if (s->stage[i] > s->stage[largest])
			largest = i;
	}
	*share = sum > 0 ? s->stage[largest] / sum : NAN;
	return sum > 0 ? largest : -1;
}

#define STAGE_NAME(ID, name, label)  name,
#define STAGE_LABEL(ID, name, label) label,

const char *live_stage_name(int stage)
{
	static const char *const names[] = {MG_TX_STAGES(STAGE_NAME) MG_RX_STAGES(STAGE_NAME)};

	return names[stage];
}

const char *live_stage_label(int stage)
{
	static const char *const labels[] = {MG_TX_STAGES(STAGE_LABEL) MG_RX_STAGES(STAGE_LABEL)};

	return labels[stage];
}
