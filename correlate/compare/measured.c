/* SPDX-License-Identifier: MIT */
#include "measured.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "alloc.h"
#include "event_table.h"
#include "reported/table.h"

/* Causes beside chance for which an unchanged figure may differ. */
enum doubt { NO_DOUBT, CLOCK_DOUBT, PROBE_DOUBT };

struct compared_figure {
	uint8_t what; /* enum subject_kind */
	const char *name, *words;
	enum figure_unit unit;
	uint8_t a, b, c, d; /* sums: a/b, or (a/b)/(c/d) */
	bool is_quotient;
	bool is_of_sender; /* whether only flows that are sent have it */
	enum doubt doubt;
	uint16_t needs; /* the event that must have been recorded; 0: any will do */
};

/* Made from the table of figures. */
#define COMPARED(scope, row, figure, words, what, unit, sums, ...) \
	{SUBJECT_##what, figure, words, UNIT_##unit, sums, __VA_ARGS__},
static const struct compared_figure figures[] = {MG_COMPARED(COMPARED)};
#define FIGURES (sizeof(figures) / sizeof(figures[0]))

static const double *sums(const struct subject *s, int sum)
{
	return s->block[sum];
}

static double sum_of(const struct subject *s, int which)
{
	double all = 0;

	for (int i = 0; i < SAMPLING_BLOCKS; i++)
		all += sums(s, which)[i];
	return all;
}

/* ---- one figure ---- */

/*
 * Merges the blocks from the first with samples to the last. Returns how many of them have samples.
 */
static size_t blocks(const struct subject *s, const struct compared_figure *f,
	struct block_sums out[DRAWN_BLOCKS], struct block_sample *sample)
{
	const double *b = sums(s, f->b);
	size_t from = 0, to = SAMPLING_BLOCKS, each, filled = 0;

	while (from < to && !(b[from] > 0))
		from++;
	while (to > from && !(b[to - 1] > 0))
		to--;
	each = (to - from + DRAWN_BLOCKS - 1) / DRAWN_BLOCKS;
	*sample = (struct block_sample){.block = out, .is_quotient = f->is_quotient};
	memset(out, 0, DRAWN_BLOCKS * sizeof(*out));
	for (size_t i = from; i < to; i++) {
		struct block_sums *o = &out[(i - from) / each];

		o->a += sums(s, f->a)[i];
		o->b += b[i];
		if (f->is_quotient) {
			o->c += sums(s, f->c)[i];
			o->d += sums(s, f->d)[i];
		}
		sample->n = (i - from) / each + 1;
	}
	for (size_t i = 0; i < sample->n; i++)
		filled += out[i].b > 0;
	return filled;
}

/* Returns the factor that converts the figure to its unit. */
static double scale(const struct report *r, enum figure_unit unit)
{
	if (unit == UNIT_NS)
		return report_ns(r, 1);
	if (unit == UNIT_US)
		return 1000;
	return unit == UNIT_BYTES_PER_S ? 1e9 / report_ns(r, 1) : 1;
}

/*
 * Returns the systematic error of the figure in its unit, which is the same in all blocks and so
 * invisible to resampling: the bound of the clocks' join, or twice the standard deviation of the
 * calibration of the tracing overhead.
 */
static double doubt(
	const struct report *r, const struct subject *s, const struct compared_figure *f)
{
	const struct fact_recording *k = &r->recording;
	double clock = report_clock_error_ns(r), calls = sum_of(s, CALL_COMPLETE);

	if (f->doubt == CLOCK_DOUBT)
		return isnan(clock) ? 0 : clock;
	if (f->doubt != PROBE_DOUBT || !k->event_cycles)
		return 0;
	return calls > 0 ? 2 * report_ns(r, sum_of(s, CALL_PROBES) / calls) *
				   (double)k->event_spread / (double)k->event_cycles
			 : 0;
}

/*
 * Returns the share that was observed: of a call, everything but its total needs both sides; of a
 * flow, bytes followed through every layer.
 */
static double coverage(
	const struct report *r, const struct subject *s, const struct compared_figure *f)
{
	struct call_key key = {.id = s->key.call, .kind = s->key.kind};
	const struct call_stats *call = NULL;

	if (s->key.what == SUBJECT_CALL && f->b != CALL_N) {
		HASH_FIND(hh, figures_of(r->core)->calls.calls, &key, sizeof(key), call);
		return call ? call_coverage(r, call) : NAN;
	}
	if (s->key.what == SUBJECT_FLOW && s->key.kind == MG_KIND_tcp &&
		(f->a == FLOW_MOVED || f->doubt == CLOCK_DOUBT))
		return sum_of(s, FLOW_RESIDENCE_WEIGHT) / sum_of(s, FLOW_BYTES);
	return NAN;
}

/*
 * Returns whether the report of one recording would show the figure; otherwise it is not compared.
 */
static bool is_observed(
	const struct report *r, const struct subject *s, const struct compared_figure *f)
{
	if (standing_of(coverage(r, s, f)) == WITHHELD ||
		(f->needs && !core_observes(r->core, f->needs)))
		return false;
	if (s->key.what == SUBJECT_CALL && f->b != CALL_N)
		return core_observes(r->core, MG_EVENT_sched_switch);
	/* sends by timestamps alone say nothing of the time before and after them */
	if (s->key.what == SUBJECT_FLOW && f->a == FLOW_BYTES &&
		sum_of(s, FLOW_TIMED_AT_MOST_N) > 0 && !core_observes(r->core, MG_EVENT_sys_enter))
		return false;
	/* without a layer that sees frames there is no throughput */
	return s->key.what != SUBJECT_FLOW || f->a != FLOW_WIRE || sum_of(s, FLOW_WIRE) > 0;
}

/* A part of a figure, by its names in JSON and as text; NULL: the whole. */
struct compared_part {
	const char *stage, *stage_words;
	const char *reason, *reason_words;
	const char *whole;
};

static int add_figure(struct measured *m, const struct report *r, const struct subject *s,
	const struct compared_figure *f, const struct compared_part *part)
{
	struct block_sums drawn[DRAWN_BLOCKS];
	struct measured_figure to = {.key = s->key,
		.figure = f->name,
		.words = f->words,
		.stage = part->stage,
		.stage_words = part->stage_words,
		.unit = f->unit == UNIT_US ? UNIT_NS : f->unit};

	if ((f->is_of_sender && s->key.rx) || !is_observed(r, s, f))
		return 0;
	to.filled = blocks(s, f, drawn, &to.sample);
	for (size_t i = 0; i < to.sample.n; i++)
		drawn[i].a *= scale(r, f->unit);
	to.value = block_figure(&to.sample);
	to.doubt = doubt(r, s, f);
	to.whole = part->whole;
	snprintf(to.reason, sizeof(to.reason), "%s", part->reason ? part->reason : "");
	snprintf(to.reason_words, sizeof(to.reason_words), "%s",
		part->reason ? part->reason_words : "");
	return measured_add(m, &to);
}

/* Adds the parts of the send buffer's stage. */
static int add_held(struct measured *m, const struct report *r, const struct subject *s, int stage)
{
	struct fact_flow like = {.kind = s->key.kind, .flow = {.rx = s->key.rx}};
	int err = 0;

	for (unsigned int i = 0; i < WHYS && !err; i++) {
		struct compared_part part = {stage_name(&like, stage), stage_label(&like, stage),
			why_reason_name(i), why_reason_label(i), "residence_total"};
		struct compared_figure f = {SUBJECT_FLOW, "residence", "latency", UNIT_NS,
			(uint8_t)(FLOW_HELD + i), FLOW_STAGE_WEIGHT + TX_STAGE_SNDBUF,
			.doubt = CLOCK_DOUBT};

		err = add_figure(m, r, s, &f, &part);
	}
	return err;
}

static int add_stages(struct measured *m, const struct report *r, const struct subject *s)
{
	struct fact_flow like = {.kind = s->key.kind, .flow = {.rx = s->key.rx}};
	int err = 0;

	for (int i = 0; i < stage_count(&like) && !err; i++) {
		struct compared_part part = {.stage = stage_name(&like, i),
			.stage_words = stage_label(&like, i),
			.whole = "residence_total"};
		struct compared_figure f = {SUBJECT_FLOW, "residence", "latency", UNIT_NS,
			(uint8_t)(FLOW_STAGE + i), (uint8_t)(FLOW_STAGE_WEIGHT + i),
			.doubt = CLOCK_DOUBT};

		err = add_figure(m, r, s, &f, &part);
		if (!err && !like.flow.rx && like.kind == MG_KIND_tcp && i == TX_STAGE_SNDBUF)
			err = add_held(m, r, s, i);
	}
	return err;
}

/* Adds the stages of sends by the kernel's timestamps. */
static int add_timed_stages(struct measured *m, const struct report *r, const struct subject *s)
{
#define PART(ID, name, label) {.stage = name, .stage_words = label, .whole = "timed_sends_at_most"},
	static const struct compared_part parts[] = {MG_TIMED_STAGES(PART)};
#undef PART
	int err = 0;

	for (int i = 0; i < TIMED_STAGES && !err; i++) {
		struct compared_figure f = {SUBJECT_FLOW, "timed_sends", "send", UNIT_NS,
			(uint8_t)(FLOW_TIMED + i), (uint8_t)(FLOW_TIMED_N + i),
			.is_of_sender = true};

		err = add_figure(m, r, s, &f, &parts[i]);
	}
	return err;
}

static int add_subject(struct measured *m, const struct report *r, const struct subject *s)
{
	const struct compared_part whole = {0};
	int err = measured_add_subject(
		m, &s->key, sum_of(s, s->key.what == SUBJECT_CALL ? (int)CALL_N : (int)FLOW_BYTES));

	for (size_t i = 0; i < FIGURES && !err; i++) {
		if (figures[i].what != s->key.what)
			continue;
		/* the stages of the total stand before it */
		if (s->key.what == SUBJECT_FLOW && figures[i].a == FLOW_RESIDENCE)
			err = add_stages(m, r, s);
		if (s->key.what == SUBJECT_FLOW && figures[i].a == FLOW_TIMED_AT_MOST)
			err = add_timed_stages(m, r, s);
		if (!err)
			err = add_figure(m, r, s, &figures[i], &whole);
	}
	return err;
}

/* ---- the recording ---- */

static char *copy_of(const char *text)
{
	size_t size = strlen(text) + 1;
	char *copy = mg_malloc(size);

	return copy ? memcpy(copy, text, size) : NULL;
}

/* Returns a copy of a text of session.json, NULL if there is none. */
static char *text_of(const json_t *session, const char *key)
{
	const char *text = json_string_value(json_object_get(session, key));

	return text ? copy_of(text) : NULL;
}

int measured_add(struct measured *m, const struct measured_figure *f)
{
	struct measured_figure *more;
	struct block_sums *own = NULL;

	if (isnan(f->value))
		return 0;
	more = mg_realloc(m->figure, (m->figures + 1) * sizeof(*more));
	if (more)
		m->figure = more;
	if (f->sample.n)
		own = mg_malloc(f->sample.n * sizeof(*own));
	if (!more || (f->sample.n && !own)) {
		free(own);
		return -ENOMEM;
	}
	if (own)
		memcpy(own, f->sample.block, f->sample.n * sizeof(*own));
	more[m->figures] = *f;
	more[m->figures++].sample.block = own;
	return 0;
}

int measured_add_subject(struct measured *m, const struct subject_key *key, double amount)
{
	struct measured_subject *more = mg_realloc(m->subject, (m->subjects + 1) * sizeof(*more));

	if (!more)
		return -ENOMEM;
	m->subject = more;
	more[m->subjects++] = (struct measured_subject){*key, amount};
	return 0;
}

/* Notes the congestion control of the flow that sent most. */
static void add_congestion(struct measured *m, const struct report *r)
{
	uint64_t most = 0;

	for (size_t i = 0; i < r->flow_count; i++) {
		const struct fact_flow *f = report_flow(r, i);
		const struct tcp_record *t = f->flow.rx ? NULL : measures_tcp(f);

		if (!t || !t->algorithm[0] || f->bytes <= most)
			continue;
		most = f->bytes;
		snprintf(m->congestion, sizeof(m->congestion), "%s", t->algorithm);
	}
}

int measure(struct measured *m, const struct report *r, const struct sampling *s)
{
	int err;

	memset(m, 0, sizeof(*m));
	m->name = copy_of(r->source ? r->source : "");
	m->command = text_of(r->session, "command");
	m->started = text_of(r->session, "started");
	m->duration_ns = report_duration_ns(r);
	m->steal_share = report_steal_share(r);
	m->cut_short = json_is_integer(json_object_get(r->session, "signal"));
	m->left_out = s->left_out;
	add_congestion(m, r);
	err = m->name ? measured_add_exchanges(m, r) : -ENOMEM;
	if (!err)
		err = measured_add_drops(m, r);
	for (const struct subject *j = s->subjects; j && !err; j = j->hh.next)
		err = add_subject(m, r, j);
	return err;
}

void measured_free(struct measured *m)
{
	for (size_t i = 0; i < m->figures; i++)
		free((void *)m->figure[i].sample.block);
	free(m->figure);
	free(m->subject);
	free(m->name);
	free(m->command);
	free(m->started);
	memset(m, 0, sizeof(*m));
}
