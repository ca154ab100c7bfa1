/* SPDX-License-Identifier: MIT */
#include "comparison.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "alloc.h"
#include "bootstrap.h"
#include "event_table.h"
#include "reported/table.h"

/* most blocks to draw from; neighbours are merged until there are no more */
#define DRAWN_BLOCKS 64
#define FEWEST       10 /* least blocks with samples that allow a statement */

/* Causes beside chance for which an unchanged figure may differ. */
enum doubt { NO_DOUBT, CLOCK_DOUBT, PROBE_DOUBT };

struct compared_figure {
	uint8_t what; /* enum subject_kind */
	const char *name;
	enum figure_unit unit;
	uint8_t a, b, c, d; /* sums: a/b, or (a/b)/(c/d) */
	bool is_quotient, is_headline;
	enum doubt doubt;
};

/* Made from the table of figures. */
#define COMPARED(scope, row, figure, what, unit, sums, ...) \
	{SUBJECT_##what, figure, UNIT_##unit, sums, __VA_ARGS__},
static const struct compared_figure figures[] = {MG_COMPARED(COMPARED)};
#define FIGURES (sizeof(figures) / sizeof(figures[0]))

/* ---- which subjects are compared ---- */

struct pair {
	const struct subject *now, *before;
};

static bool same_but_port(const struct subject_key *a, const struct subject_key *b)
{
	return a->what == SUBJECT_FLOW && b->what == SUBJECT_FLOW && a->kind == b->kind &&
	       a->rx == b->rx && a->side == b->side;
}

/*
 * Returns the only subject of `in` that is the same but for its port and has no counterpart in
 * `other`; NULL if there are several or none.
 */
static const struct subject *only_such(
	const struct sampling *in, const struct sampling *other, const struct subject_key *key)
{
	const struct subject *found = NULL, *s;

	for (s = in->subjects; s; s = s->hh.next) {
		if (!same_but_port(&s->key, key) || sampling_find(other, &s->key))
			continue;
		if (found)
			return NULL;
		found = s;
	}
	return found;
}

/*
 * Returns the subject of the same role in the other recording. A server with another port counts as
 * the same if it is the only candidate, as a program that listens on any free port gets a new one
 * each time.
 */
static const struct subject *counterpart(
	const struct subject *s, const struct sampling *own, const struct sampling *other)
{
	const struct subject *same = sampling_find(other, &s->key);

	if (same || s->key.what != SUBJECT_FLOW)
		return same;
	return only_such(own, other, &s->key) == s ? only_such(other, own, &s->key) : NULL;
}

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

/* Sorts by kind (calls, flows, the scheduler) and then by amount. */
static double amount(const struct subject *s)
{
	return sum_of(s, s->key.what == SUBJECT_CALL ? (int)CALL_N : (int)FLOW_BYTES);
}

static int in_order(const void *a, const void *b)
{
	const struct subject *x = ((const struct pair *)a)->now, *y = ((const struct pair *)b)->now;
	double p = amount(x), q = amount(y);

	if (x->key.what != y->key.what)
		return x->key.what - y->key.what;
	if (p != q && x->key.what != SUBJECT_SCHEDULER)
		return p < q ? 1 : -1;
	return memcmp(&x->key, &y->key, sizeof(x->key));
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
	return unit == UNIT_BYTES_PER_S ? 1e9 / report_ns(r, 1) : 1;
}

static void rescale(struct block_sums *v, size_t n, double by)
{
	for (size_t i = 0; i < n; i++)
		v[i].a *= by;
}

/*
 * Returns the systematic error of the figure in its unit, which is the same in all blocks and so
 * invisible to resampling: the bound of the clocks' join, or twice the standard deviation of the
 * calibration of the tracing overhead.
 */
static double doubt(
	const struct recording *r, const struct subject *s, const struct compared_figure *f)
{
	const struct fact_recording *k = &r->report->recording;
	double clock = report_clock_error_ns(r->report), calls = sum_of(s, CALL_COMPLETE);

	if (f->doubt == CLOCK_DOUBT)
		return isnan(clock) ? 0 : clock;
	if (f->doubt != PROBE_DOUBT || !k->event_cycles)
		return 0;
	return calls > 0 ? 2 * report_ns(r->report, sum_of(s, CALL_PROBES) / calls) *
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
	if (standing_of(coverage(r, s, f)) == WITHHELD)
		return false;
	if (s->key.what == SUBJECT_CALL && f->b != CALL_N)
		return core_observes(r->core, MG_EVENT_sched_switch);
	if (s->key.what == SUBJECT_FLOW && f->a == FLOW_AGAIN)
		return core_observes(r->core, MG_EVENT_tcp_retransmit);
	/* without a layer that sees frames there is no throughput */
	return s->key.what != SUBJECT_FLOW || f->a != FLOW_WIRE || sum_of(s, FLOW_WIRE) > 0;
}

/* Computes one row. Returns whether it can be shown. */
static bool one_figure(struct compared *row, const struct pair *p, const struct compared_figure *f,
	const struct recording *now, const struct recording *before)
{
	struct block_sums x_sums[DRAWN_BLOCKS], y_sums[DRAWN_BLOCKS];
	struct block_sample x, y;
	struct interval in;
	double off, independent;

	if (!is_observed(now->report, p->now, f) || !is_observed(before->report, p->before, f))
		return false;
	row->now_blocks = blocks(p->now, f, x_sums, &x);
	row->before_blocks = blocks(p->before, f, y_sums, &y);
	rescale(x_sums, x.n, scale(now->report, f->unit));
	rescale(y_sums, y.n, scale(before->report, f->unit));
	row->now = p->now;
	row->before = p->before;
	row->figure = f->name;
	row->unit = f->unit;
	row->is_headline = f->is_headline;
	row->now_value = block_figure(&x);
	row->before_value = block_figure(&y);
	if (isnan(row->now_value) || isnan(row->before_value))
		return false;
	row->difference = row->now_value - row->before_value;
	row->ratio = row->before_value != 0 ? row->now_value / row->before_value : NAN;
	row->low = row->high = NAN;
	row->verdict = NOT_ENOUGH;
	if (row->now_blocks < FEWEST || row->before_blocks < FEWEST)
		return true;
	independent = fmin(
		(double)x.n / (double)bootstrap_run(x.n), (double)y.n / (double)bootstrap_run(y.n));
	if (!bootstrap_difference(&x, bootstrap_run(x.n), &y, bootstrap_run(y.n),
		    BOOTSTRAP_RESAMPLES, bootstrap_tail(COMPARISON_LEVEL, independent), &in))
		return true;
	off = doubt(now, p->now, f) + doubt(before, p->before, f);
	row->low = in.low - off;
	row->high = in.high + off;
	row->verdict = row->low > 0 || row->high < 0 ? EXCEEDS_NOISE : WITHIN_NOISE;
	return true;
}

/* ---- all ---- */

static struct compared *new_row(struct comparison *c)
{
	struct compared *more = mg_realloc(c->row, (c->rows + 1) * sizeof(*more));

	if (!more)
		return NULL;
	c->row = more;
	memset(&more[c->rows], 0, sizeof(*more));
	return &more[c->rows];
}

static int add_figure(struct comparison *c, const struct pair *p, const struct compared_figure *f,
	const char *stage, const char *reason, const struct recording *now,
	const struct recording *before)
{
	struct compared *row = new_row(c);

	if (!row)
		return -ENOMEM;
	if (!one_figure(row, p, f, now, before))
		return 0;
	/* neither recording has any of it, such as retransmissions */
	if (row->now_value == 0 && row->before_value == 0)
		return 0;
	row->stage = stage;
	row->reason = reason;
	c->rows++;
	c->exceeding += row->verdict == EXCEEDS_NOISE;
	c->not_enough += row->verdict == NOT_ENOUGH;
	return 0;
}

/* Adds the parts of the send buffer's stage. */
static int add_held(struct comparison *c, const struct pair *p, const char *stage,
	const struct recording *now, const struct recording *before)
{
	int err = 0;

	for (unsigned int i = 0; i < WHYS && !err; i++) {
		struct compared_figure f = {SUBJECT_FLOW, "residence", UNIT_NS,
			(uint8_t)(FLOW_HELD + i), FLOW_STAGE_WEIGHT + TX_STAGE_SNDBUF,
			.doubt = CLOCK_DOUBT};

		err = add_figure(c, p, &f, stage, why_reason_name(i), now, before);
	}
	return err;
}

static int add_stages(struct comparison *c, const struct pair *p, const struct recording *now,
	const struct recording *before)
{
	struct fact_flow like = {.kind = p->now->key.kind, .flow = {.rx = p->now->key.rx}};
	int err = 0;

	for (int i = 0; i < stage_count(&like) && !err; i++) {
		struct compared_figure f = {SUBJECT_FLOW, "residence", UNIT_NS,
			(uint8_t)(FLOW_STAGE + i), (uint8_t)(FLOW_STAGE_WEIGHT + i),
			.doubt = CLOCK_DOUBT};

		err = add_figure(c, p, &f, stage_name(&like, i), NULL, now, before);
		if (!err && !like.flow.rx && like.kind == MG_KIND_tcp && i == TX_STAGE_SNDBUF)
			err = add_held(c, p, stage_name(&like, i), now, before);
	}
	return err;
}

static int add_pair(struct comparison *c, const struct pair *p, const struct recording *now,
	const struct recording *before)
{
	int err = 0;

	for (size_t i = 0; i < FIGURES && !err; i++) {
		if (figures[i].what != p->now->key.what)
			continue;
		/* the stages of the total stand before it */
		if (p->now->key.what == SUBJECT_FLOW && figures[i].a == FLOW_RESIDENCE)
			err = add_stages(c, p, now, before);
		if (!err)
			err = add_figure(c, p, &figures[i], NULL, NULL, now, before);
	}
	return err;
}

/* Collects the subjects of `own` without a counterpart in `other`. */
static size_t alone(
	const struct sampling *own, const struct sampling *other, const struct subject ***out)
{
	const struct subject *s;
	size_t n = 0;

	*out = mg_calloc(HASH_COUNT(own->subjects) + 1u, sizeof(**out));
	for (s = own->subjects; s && *out; s = s->hh.next)
		if (!counterpart(s, own, other) && amount(s) > 0)
			(*out)[n++] = s;
	return n;
}

int compare(struct comparison *c, const struct recording *now, const struct recording *before)
{
	struct pair *pair;
	const struct subject *s;
	size_t n = 0;
	int err = 0;

	memset(c, 0, sizeof(*c));
	pair = mg_calloc(HASH_COUNT(now->sampling->subjects) + 1u, sizeof(*pair));
	if (!pair)
		return -ENOMEM;
	for (s = now->sampling->subjects; s; s = s->hh.next) {
		pair[n].now = s;
		pair[n].before = counterpart(s, now->sampling, before->sampling);
		n += pair[n].before != NULL;
	}
	qsort(pair, n, sizeof(*pair), in_order);
	for (size_t i = 0; i < n && !err; i++)
		err = add_pair(c, &pair[i], now, before);
	free(pair);
	c->only_now_n = alone(now->sampling, before->sampling, &c->only_now);
	c->only_before_n = alone(before->sampling, now->sampling, &c->only_before);
	return err;
}

void comparison_free(struct comparison *c)
{
	free(c->row);
	free(c->only_now);
	free(c->only_before);
	memset(c, 0, sizeof(*c));
}

void subject_name(char out[80], const struct subject_key *key)
{
	static const char *const sides[] = {"", " by the client", " by the server"};

	switch (key->what) {
	case SUBJECT_CALL:
		snprintf(out, 80, "%s %s%s",
			key->call & CALL_KERNEL_ONLY
				? mg_syscall_name(key->call & ~CALL_KERNEL_ONLY)
				: mg_function_name(key->call),
			mg_kind_name(key->kind),
			key->call & CALL_KERNEL_ONLY ? " (kernel-only)" : "");
		break;
	case SUBJECT_FLOW:
		snprintf(out, 80, "%s %s%s", mg_kind_name(key->kind), key->rx ? "received" : "sent",
			sides[key->side]);
		if (key->port)
			snprintf(out + strlen(out), 80 - strlen(out), "%s port %u",
				key->side == SIDE_SERVER   ? " at"
				: key->side == SIDE_CLIENT ? " of"
							   : ",",
				key->port);
		break;
	default:
		snprintf(out, 80, "scheduler");
	}
}
