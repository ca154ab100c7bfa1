/* SPDX-License-Identifier: MIT */
#include "figures/measures.h"

#include <stdlib.h>

#include "alloc.h"
#include "figures/window.h"

/* Series of the layers, and of the calls that sent what a flow received. */
#define SERIES (TX_LAYERS + 1)

const struct flow_measures *measures_by_id(struct fact_flow_id id)
{
	static const struct flow_measures none;

	return id.state && *id.state ? *id.state : &none;
}

const struct flow_measures *measures(const struct fact_flow *f)
{
	return measures_by_id(f->flow);
}

dist_sum measures_wait(const struct flow_measures *m)
{
	return m->residence.n || !m->timed ? m->residence.sum : m->timed->at_most.sum;
}

/* ---- memory ---- */

uint32_t measures_dists(struct flow_measures *m, struct dist *all[MEASURES_DISTS])
{
	uint32_t n = 0;

	for (int i = 0; i < TX_LAYERS; i++)
		all[n++] = &m->units[i].gaps;
	for (int i = 0; i < STAGES_MAX; i++)
		all[n++] = &m->stage[i];
	all[n++] = &m->residence;
	all[n++] = &m->last_byte;
	all[n++] = &m->shift;
	all[n++] = &m->transit;
	all[n++] = &m->retry;
	all[n++] = &m->exchanges.to_reply;
	all[n++] = &m->exchanges.in_program;
	if (m->from)
		all[n++] = &m->from->gaps;
	return n;
}

void measures_share(struct flow_measures *m, struct measures_memory *with)
{
	struct dist *all[MEASURES_DISTS];
	uint32_t n = measures_dists(m, all);

	for (uint32_t i = 0; i < n; i++)
		all[i]->pool = &with->dists;
	m->waterfall.pool = &with->dists;
}

struct flow_measures *measures_new(void)
{
	return mg_calloc(1, sizeof(struct flow_measures));
}

static void keep_series(struct flow_measures *m, struct measures_memory *with)
{
	m->series = series_new(&with->series, SERIES);
	for (int i = 0; m->series && i < TX_LAYERS; i++)
		m->units[i].series = &m->series[i];
}

static struct flow_measures *make(struct measures_memory *with, void **state)
{
	struct flow_measures *m = *state = measures_new();

	if (!m)
		return NULL;
	measures_share(m, with);
	m->exchanges.to_reply.coarse = m->exchanges.in_program.coarse = EXCHANGE_BINS;
	keep_series(m, with);
	return m;
}

/* Returns the measures of a fact's flow, made if needed; NULL if memory is short. */
static inline struct flow_measures *measures_of(
	struct measures_memory *with, const struct fact_flow_id *of)
{
	return *of->state ? *of->state : make(with, of->state);
}

struct flow_measures *measures_made(struct measures_memory *with, const struct fact_flow_id *of)
{
	return measures_of(with, of);
}

/* Returns whether a fact is outside of the window that is reported. */
static inline bool is_outside(const struct measures_memory *m, enum fact kind, const void *fact)
{
	return m->filter && !filter_takes_fact_time(m->filter, m->core, kind, fact);
}

void measures_free(struct flow_measures *m)
{
	struct dist *all[MEASURES_DISTS];
	uint32_t n = m ? measures_dists(m, all) : 0;

	if (!m)
		return;
	for (uint32_t i = 0; i < n; i++)
		dist_free(all[i]);
	waterfall_free(&m->waterfall);
	series_free(m->series, SERIES);
	free(m->from);
	if (m->zerocopy)
		dist_free(m->zerocopy);
	free(m->zerocopy);
	if (m->resent) {
		dist_free(&m->resent->wait);
		dist_free(&m->resent->left_out);
	}
	free(m->resent);
	timed_sums_free(m->timed);
	free(m->tcp);
	free(m->window);
	slow_ranges_free(m->slow);
	recent_free(m->exchanges.recent);
	if (m->why)
		free(m->why->row);
	free(m->why);
	free(m);
}

void measures_free_state(void *state)
{
	measures_free(state);
}

/* ---- packets ---- */

static void on_packet(void *arg, const void *fact)
{
	const struct fact_packet *p = fact;
	struct flow_measures *m = measures_of(arg, &p->flow);
	struct unit_stats *u;

	if (!m || is_outside(arg, FACT_packet, fact))
		return;
	u = &m->units[p->flow.rx ? p->layer - TX_LAYERS : p->layer];
	unit_pass(u, p->time, p->payload, p->fresh);
	if (p->wire != FACT_NONE || p->packets != FACT_NONE)
		unit_wire(u, p->wire != FACT_NONE ? p->wire : 0,
			p->packets != FACT_NONE ? p->packets : 0);
	measures_check(arg);
}

void measures_on_gap(
	void *memory, struct fact_flow_id of, uint32_t layers, uint64_t from, uint64_t to)
{
	struct flow_measures *m = measures_of(memory, &of);

	for (int i = 0; m && i < TX_LAYERS; i++)
		if (layers >> i & 1)
			unit_gap(&m->units[i], from, to);
}

/* Returns what happened lately to a flow's bytes; NULL where that is not kept. */
static struct recent_bytes *recent_of(struct measures_memory *with, struct flow_measures *m)
{
	if (!m->exchanges.recent)
		m->exchanges.recent = recent_new(&with->recents);
	return m->exchanges.recent;
}

/* ---- the wait in the send buffer ---- */

static struct why_sums *why_of(struct flow_measures *m)
{
	if (!m->why)
		m->why = mg_calloc(1, sizeof(*m->why));
	return m->why;
}

/* Returns the row of both labels; NULL if memory is short. */
static struct why_row *row_of(struct why_sums *w, uint8_t reason, uint8_t release)
{
	struct why_row *more;

	for (uint32_t i = 0; i < w->rows; i++)
		if (w->row[i].reason == reason && w->row[i].release == release)
			return &w->row[i];
	more = mg_realloc(w->row, (w->rows + 1) * sizeof(*more));
	if (!more)
		return NULL;
	w->row = more;
	more[w->rows] = (struct why_row){.reason = reason, .release = release};
	return &more[w->rows++];
}

/* Returns for how long earlier bytes were to be sent again while these were in the send buffer. */
static uint64_t lost_meanwhile(const struct flow_measures *m, const struct fact_range *r)
{
	uint64_t call = r->stage[TX_STAGE_CALL], from = r->begin + (call == FACT_NONE ? 0 : call);

	return recent_lost(m->exchanges.recent, from, from + r->stage[TX_STAGE_SNDBUF]);
}

static void add_why(struct flow_measures *m, const struct fact_range *r)
{
	struct why_sums *w = why_of(m);
	struct why_row *row;

	if (!w)
		return;
	if (m->resent)
		w->lost += (unsigned __int128)lost_meanwhile(m, r) * r->length;
	for (int i = 0; i < WHYS; i++) {
		if (!r->held[i])
			continue;
		w->wait[i] += (unsigned __int128)r->held[i] * r->length;
		w->bytes[i] += r->length;
	}
	row = row_of(w, r->why, r->released_by);
	if (!row)
		return;
	row->n++;
	row->bytes += r->length;
	row->wait += (unsigned __int128)r->stage[TX_STAGE_SNDBUF] * r->length;
}

static void on_unsent(void *arg, const void *fact)
{
	const struct fact_unsent *f = fact;
	struct flow_measures *m = measures_of(arg, &f->flow);
	struct why_sums *w = m ? why_of(m) : NULL;
	struct recent_bytes *recent = m ? recent_of(arg, m) : NULL;

	if (is_outside(arg, FACT_unsent, fact))
		w = NULL;
	for (int i = 0; w && i < WHYS; i++)
		w->cycles[i] += f->held[i];
	if (recent)
		recent_unsent_add(recent, f);
}

/* ---- byte ranges ---- */

static struct resent_sums *resent_of(struct flow_measures *m)
{
	if (!m->resent)
		m->resent = mg_calloc(1, sizeof(*m->resent));
	return m->resent;
}

/* Adds bytes that were followed. */
static void add_stages(struct flow_measures *m, const struct fact_range *r)
{
	bool rx = r->flow.rx;
	const uint64_t *stage = r->stage + (rx ? (int)TX_STAGES : 0);
	int stages = rx ? (int)RX_STAGES : (int)TX_STAGES;
	uint64_t length[STAGES_MAX];

	for (int i = 0; i < stages; i++) {
		bool known = stage[i] != FACT_NONE;

		length[i] = known ? stage[i] : 0;
		/* received bytes spend no time between layers of which one is not recorded */
		if (known || (rx && i != RX_STAGE_ORDER))
			dist_add(&m->stage[i], length[i], r->length);
	}
	if (r->why != FACT_NO_WORD && stage[TX_STAGE_SNDBUF] != FACT_NONE)
		add_why(m, r);
	dist_add(&m->residence, r->total, r->length);
	waterfall_add(&m->waterfall, (uint32_t)stages, length, r->total, r->length);
	for (uint64_t i = 0; i < r->calls_end; i++)
		dist_add(&m->last_byte, r->total, 1);
}

static void on_range(void *arg, const void *fact)
{
	const struct fact_range *r = fact;
	struct measures_memory *with = arg;
	struct flow_measures *m = measures_of(with, &r->flow);
	struct resent_sums *again = NULL;
	struct recent_bytes *recent;

	if (!m)
		return;
	recent = recent_of(arg, m);
	if (recent)
		recent_range_add(recent, r);
	if (is_outside(arg, FACT_range, fact))
		return;
	if (with->slowest)
		slow_ranges_add(&m->slow, with->slowest, r);
	if (r->outcome == OUTCOME_FOLLOWED)
		add_stages(m, r);
	else if (r->outcome == OUTCOME_SENT_AGAIN)
		again = resent_of(m);
	if (again)
		dist_add(&again->left_out, r->elapsed, r->length);
	if (r->transmitted && !r->flow.rx)
		dist_add_near(&m->shift, r->transmitted > r->begin ? r->transmitted - r->begin : 0,
			r->length);
}

static void on_resent(void *arg, const void *fact)
{
	const struct fact_resent *f = fact;
	const struct measures_memory *with = arg;
	struct flow_measures *m = measures_of(arg, &f->flow);
	struct resent_sums *again = m ? resent_of(m) : NULL;
	struct recent_bytes *recent = m ? recent_of(arg, m) : NULL;

	if (again && !is_outside(arg, FACT_resent, fact))
		dist_add(&again->wait, f->end - f->begin, f->length);
	if (recent)
		recent_resent_add(recent, f);
	if (with->resent)
		with->resent(with->resent_arg, f);
}

/* ---- both ends ---- */

static struct unit_stats *senders_of(struct flow_measures *m)
{
	if (!m->from)
		m->from = mg_calloc(1, sizeof(*m->from));
	if (!m->from)
		return NULL;
	m->from->gaps.pool = m->residence.pool;
	if (m->series)
		m->from->series = &m->series[TX_LAYERS];
	return m->from;
}

/* Adds bytes of a message to the calls that a flow received from. */
static void add_sender(struct flow_measures *m, const struct fact_crossing *f)
{
	struct unit_stats *from = senders_of(m);

	if (from && f->begin == m->last_from) { /* the same call has brought more */
		unit_more(from, f->length);
	} else if (from) {
		unit_add(from, f->begin, f->length);
		m->last_from = f->begin;
	}
}

static void on_crossing(void *arg, const void *fact)
{
	const struct fact_crossing *f = fact;
	struct flow_measures *m = measures_of(arg, &f->flow);
	const struct flow_measures *sender = measures_by_id(f->sender);

	if (!m)
		return;
	if (m->exchanges.recent && sender->exchanges.recent)
		recent_join(sender->exchanges.recent, m->exchanges.recent);
	if (f->kind != MG_KIND_tcp && f->offset != FACT_NONE && m->exchanges.recent &&
		sender->exchanges.recent)
		recent_came_add(sender->exchanges.recent, m->exchanges.recent, f->offset);
	if (is_outside(arg, FACT_crossing, fact))
		return;
	if (f->begin && f->end)
		dist_add_near(&m->shift, f->end > f->begin ? f->end - f->begin : 0, f->length);
	if (f->begin && f->kind != MG_KIND_tcp)
		add_sender(m, f);
	if (f->transmitted && f->arrived)
		dist_add(&m->transit, f->arrived > f->transmitted ? f->arrived - f->transmitted : 0,
			f->length);
}

/* ---- protocol state ---- */

const struct tcp_record *measures_tcp(const struct fact_flow *f)
{
	return measures_by_id(f->sending)->tcp;
}

static void on_state(void *arg, const void *fact)
{
	const struct fact_state *f = fact;
	struct flow_measures *m = measures_of(arg, &f->flow);
	struct recent_bytes *recent = f->own_window_zero == 1 && m ? recent_of(arg, m) : NULL;

	if (recent)
		recent->closed = f->time;
	if (is_outside(arg, FACT_state, fact))
		return;
	if (m && !m->tcp)
		m->tcp = mg_calloc(1, sizeof(*m->tcp));
	if (m && m->tcp)
		tcp_add(m->tcp, f);
}

void measures_ended(void *state, uint64_t now)
{
	struct flow_measures *m = state;

	if (m->tcp)
		tcp_end(m->tcp, now);
}

/* ---- exchanges ---- */

void exchange_count(struct exchange_counts *n, const struct fact_exchange *f)
{
	n->answered += f->answer == ANSWERED;
	n->unanswered += f->answer == UNANSWERED;
	n->unasked += f->answer == UNASKED;
	n->unsure += f->answer == ANSWERED && !exchange_is_sure(f);
	n->assumed += f->answer == ANSWERED && f->role_assumed;
}

/* Both directions of its socket have exchanges: their byte ranges are not looked at. */
static void answered(struct measures_memory *with, const struct fact_exchange *f)
{
	struct flow_measures *request = measures_of(with, &f->request);
	struct flow_measures *reply = measures_of(with, &f->reply);

	if (request)
		slow_ranges_answered(&request->slow);
	if (reply)
		slow_ranges_answered(&reply->slow);
}

static void on_exchange(void *arg, const void *fact)
{
	const struct fact_exchange *f = fact;
	struct flow_measures *m = measures_of(arg, f->request.rx ? &f->reply : &f->request);

	if (!m || is_outside(arg, FACT_exchange, fact))
		return;
	exchange_count(&m->exchanges.counts, f);
	if (((struct measures_memory *)arg)->slowest && f->answer == ANSWERED)
		answered(arg, f);
	if (!exchange_is_sure(f))
		return;
	if (f->to_reply != FACT_NONE)
		dist_add(&m->exchanges.to_reply, f->to_reply, 1);
	if (f->in_program != FACT_NONE)
		dist_add(&m->exchanges.in_program, f->in_program, 1);
	measures_check(arg);
}

/* ---- calls ---- */

static void on_refusal(void *arg, const void *fact)
{
	const struct fact_refusal *f = fact;
	struct flow_measures *m = f->end ? measures_of(arg, &f->flow) : NULL;

	if (m && !is_outside(arg, FACT_refusal, fact))
		dist_add(&m->retry, f->end > f->begin ? f->end - f->begin : 0, 1);
}

static void on_zerocopy(void *arg, const void *fact)
{
	const struct fact_zerocopy *f = fact;
	struct flow_measures *m = measures_of(arg, &f->flow);

	if (is_outside(arg, FACT_zerocopy, fact))
		return;
	if (m && !m->zerocopy)
		m->zerocopy = mg_calloc(1, sizeof(*m->zerocopy));
	if (m && m->zerocopy)
		dist_add(m->zerocopy, f->held, 1);
}

static void on_timed_send(void *arg, const void *fact)
{
	const struct fact_timed_send *f = fact;
	struct measures_memory *with = arg;
	struct flow_measures *m = measures_of(with, &f->flow);

	if (!m || is_outside(arg, FACT_timed_send, fact))
		return;
	if (!m->timed)
		m->timed = timed_sums_new(&with->dists);
	if (m->timed)
		timed_sums_count(m->timed, f);
	measures_check(with);
}

void measures_listen(struct measures_memory *m, struct core *c)
{
	m->due = core_due(c);
	facts_listen_by_flow(core_facts(c), FACT_packet, on_packet, m);
	facts_listen_by_flow(core_facts(c), FACT_range, on_range, m);
	facts_listen_by_flow(core_facts(c), FACT_unsent, on_unsent, m);
	facts_listen_by_flow(core_facts(c), FACT_resent, on_resent, m);
	facts_listen_by_flow(core_facts(c), FACT_crossing, on_crossing, m);
	facts_listen_by_flow(core_facts(c), FACT_state, on_state, m);
	facts_listen_by_flow(core_facts(c), FACT_refusal, on_refusal, m);
	facts_listen_by_flow(core_facts(c), FACT_zerocopy, on_zerocopy, m);
	facts_listen_by_flow(core_facts(c), FACT_timed_send, on_timed_send, m);
	facts_listen_by_flow(core_facts(c), FACT_exchange, on_exchange, m);
}

/* ---- sums of several flows ---- */

static void add_all_why(struct flow_measures *sum, const struct why_sums *w)
{
	struct why_sums *to = w ? why_of(sum) : NULL;

	for (uint32_t i = 0; to && i < w->rows; i++) {
		const struct why_row *from = &w->row[i];
		struct why_row *row = row_of(to, from->reason, from->release);

		if (!row)
			return;
		row->n += from->n;
		row->bytes += from->bytes;
		row->wait += from->wait;
	}
	for (int i = 0; to && i < WHYS; i++) {
		to->wait[i] += w->wait[i];
		to->bytes[i] += w->bytes[i];
		to->cycles[i] += w->cycles[i];
	}
	if (to)
		to->lost += w->lost;
}

void measures_add(struct flow_measures *sum, const struct flow_measures *m)
{
	struct resent_sums *again = m->resent ? resent_of(sum) : NULL;

	sum->units[TX_CALL].n += m->units[TX_CALL].n;
	sum->units[TX_COPY].n += m->units[TX_COPY].n;
	for (int i = 0; i < STAGES_MAX; i++)
		dist_add_all(&sum->stage[i], &m->stage[i]);
	dist_add_all(&sum->residence, &m->residence);
	dist_add_all(&sum->last_byte, &m->last_byte);
	dist_add_all(&sum->transit, &m->transit);
	dist_add_all(&sum->retry, &m->retry);
	waterfall_add_all(&sum->waterfall, &m->waterfall);
	if (again) {
		dist_add_all(&again->wait, &m->resent->wait);
		dist_add_all(&again->left_out, &m->resent->left_out);
	}
	if (m->timed && !sum->timed)
		sum->timed = timed_sums_new(NULL);
	if (m->timed && sum->timed)
		timed_sums_add(sum->timed, m->timed);
	add_all_why(sum, m->why);
	if (m->window && !sum->window)
		sum->window = mg_calloc(1, sizeof(*sum->window));
	if (m->window && sum->window)
		window_add(sum->window, m->window);
}
