/* SPDX-License-Identifier: MIT */
#include "comparison.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "alloc.h"
#include "bootstrap.h"
#include "event_table.h"
#include "permutation.h"

/* least blocks of a recording with samples that allow a statement about the noise within it */
#define FEWEST 10

/* ---- one figure ---- */

/* Returns the mean of the values that are known, and how many are; NAN of none. */
static double mean(const double *value, size_t n, size_t *known)
{
	double sum = 0;

	*known = 0;
	for (size_t i = 0; i < n; i++)
		if (!isnan(value[i])) {
			sum += value[i];
			++*known;
		}
	return *known ? sum / (double)*known : NAN;
}

/* Returns the mean systematic error of a figure on one side. */
static double doubt(const struct measured_figure *const *in, size_t n)
{
	double sum = 0;
	size_t known = 0;

	for (size_t i = 0; i < n; i++)
		if (in[i]) {
			sum += in[i]->doubt;
			known++;
		}
	return known ? sum / (double)known : 0;
}

static double size_of(const struct aligned *a, const struct aligned_row *row)
{
	size_t n;

	return fmax(
		fabs(mean(row->value, a->now, &n)), fabs(mean(row->value + a->now, a->before, &n)));
}

static const struct subject_key *first_key(const struct role *role, size_t from, size_t to)
{
	while (from + 1 < to && !role->is_in[from])
		from++;
	return &role->in[from];
}

/* Fills in what does not depend on the noise. */
static void describe(struct compared *to, const struct aligned *a, const struct aligned_row *row)
{
	const struct measured_figure *like = row->like;
	const struct role *role = &a->role[row->role];

	*to = (struct compared){.key = *first_key(role, 0, a->now),
		.before_key = *first_key(role, a->now, a->now + a->before),
		.figure = like->figure,
		.stage = like->stage,
		.reason = like->reason[0] ? like->reason : NULL,
		.words = like->words,
		.stage_words = like->stage_words,
		.reason_words = like->reason[0] ? like->reason_words : NULL,
		.unit = like->unit,
		.low = NAN,
		.high = NAN,
		.now_sd = NAN,
		.before_sd = NAN,
		.chance = NAN,
		.verdict = NOT_ENOUGH};
	to->now_value = mean(row->value, a->now, &to->now_n);
	to->before_value = mean(row->value + a->now, a->before, &to->before_n);
	to->difference = to->now_value - to->before_value;
	to->ratio = to->before_value != 0 ? to->now_value / to->before_value : NAN;
	to->effect = fabs(to->difference) / size_of(a, row->whole ? row->whole : row);
}

/* Decides by an interval of the difference that chance explains. */
static void decide(struct compared *to, const struct aligned *a, const struct aligned_row *row,
	double low, double high)
{
	double off = doubt(row->in, a->now) + doubt(row->in + a->now, a->before);

	to->low = low - off;
	to->high = high + off;
	to->verdict = to->low > 0 || to->high < 0 ? EXCEEDS_NOISE : WITHIN_NOISE;
}

/* Looks at the variation within the one recording on each side. */
static void noise_within(
	struct compared *to, const struct aligned *a, const struct aligned_row *row)
{
	const struct measured_figure *now = row->in[0], *before = row->in[1];
	const struct block_sample *x, *y;
	struct interval in;
	double independent;

	if (!now || !before || !now->sample.n || !before->sample.n)
		return;
	x = &now->sample;
	y = &before->sample;
	to->now_blocks = now->filled;
	to->before_blocks = before->filled;
	if (now->filled < FEWEST || before->filled < FEWEST)
		return;
	independent = fmin((double)x->n / (double)bootstrap_run(x->n),
		(double)y->n / (double)bootstrap_run(y->n));
	if (bootstrap_difference(x, bootstrap_run(x->n), y, bootstrap_run(y->n),
		    BOOTSTRAP_RESAMPLES, bootstrap_tail(COMPARISON_LEVEL, independent), &in))
		decide(to, a, row, in.low, in.high);
}

/* ---- all figures ---- */

/* Returns whether both sides have the figure, and not 0 in each recording. */
static bool is_compared(const struct aligned *a, const struct aligned_row *row)
{
	size_t now, before;
	bool any = false;

	for (size_t i = 0; i < a->now + a->before; i++)
		any |= !isnan(row->value[i]) && row->value[i] != 0;
	mean(row->value, a->now, &now);
	mean(row->value + a->now, a->before, &before);
	return any && now && before;
}

/*
 * A figure that fewer recordings of a side have is not compared: the spread of two values says so
 * little that chance would hide all other figures.
 */
#define KNOWN_MIN 3

/* Looks at the variation between the recordings of each side, of all figures together. */
static int noise_between(
	struct comparison *c, const struct aligned *a, const struct aligned_row *const *of)
{
	size_t n = a->now + a->before;
	double *value = mg_malloc((c->rows * n + 1) * sizeof(*value));
	struct trial_figure *figure = mg_calloc(c->rows + 1, sizeof(*figure));
	struct trial trial = {value, c->rows, a->now, a->before};
	struct trial_result result;
	int err = value && figure ? 0 : -ENOMEM;

	for (size_t i = 0; i < c->rows && !err; i++) {
		bool enough = c->row[i].now_n >= KNOWN_MIN && c->row[i].before_n >= KNOWN_MIN;

		for (size_t k = 0; k < n; k++)
			value[i * n + k] = enough ? of[i]->value[k] : NAN;
	}
	if (!err)
		err = permutation_test(&trial, COMPARISON_LEVEL, figure, &result);
	for (size_t i = 0; i < c->rows && !err; i++) {
		struct compared *to = &c->row[i];
		double half = result.critical * figure[i].error;

		to->now_sd = figure[i].now_sd;
		to->before_sd = figure[i].before_sd;
		if (isnan(figure[i].error) || !result.can_tell)
			continue;
		to->chance = figure[i].chance;
		/* where all recordings agree, the error is nothing but rounding */
		if (!(figure[i].t > result.critical))
			half = fmax(half, fabs(to->difference));
		decide(to, a, of[i], to->difference - half, to->difference + half);
	}
	if (!err) {
		c->can_tell = result.can_tell;
		c->resamples = result.arrangements;
	}
	free(value);
	free(figure);
	return err;
}

static int add_rows(struct comparison *c, const struct aligned *a)
{
	size_t all = HASH_COUNT(a->rows);
	const struct aligned_row **of = mg_calloc(all + 1, sizeof(*of));
	int err = 0;

	c->row = mg_calloc(all + 1, sizeof(*c->row));
	if (!of || !c->row) {
		free(of);
		return -ENOMEM;
	}
	for (const struct aligned_row *row = a->rows; row; row = row->hh.next)
		if (is_compared(a, row)) {
			describe(&c->row[c->rows], a, row);
			of[c->rows++] = row;
		}
	if (c->noise == NOISE_BETWEEN)
		err = noise_between(c, a, of);
	for (size_t i = 0; i < c->rows; i++) {
		if (c->noise == NOISE_WITHIN)
			noise_within(&c->row[i], a, of[i]);
		c->exceeding += c->row[i].verdict == EXCEEDS_NOISE;
		c->not_enough += c->row[i].verdict == NOT_ENOUGH;
	}
	free(of);
	return err;
}

/* Collects the subjects that no recording from number `from` to `to` has. */
static size_t missing(const struct aligned *a, size_t from, size_t to, struct subject_key **out)
{
	size_t n = 0;

	*out = mg_calloc(a->roles + 1, sizeof(**out));
	for (size_t i = 0; i < a->roles && *out; i++) {
		bool is_there = false;

		for (size_t r = from; r < to; r++)
			is_there |= a->role[i].is_in[r];
		if (!is_there && a->role[i].amount > 0)
			(*out)[n++] = a->role[i].key;
	}
	return n;
}

int compare(
	struct comparison *c, const struct compared_side *now, const struct compared_side *before)
{
	struct aligned a;
	int err;

	*c = (struct comparison){.noise = now->n + before->n > 2 ? NOISE_BETWEEN : NOISE_WITHIN,
		.resamples = BOOTSTRAP_RESAMPLES};
	err = align(&a, now, before);
	if (!err)
		err = add_rows(c, &a);
	if (!err) {
		c->only_before_n = missing(&a, 0, a.now, &c->only_before);
		c->only_now_n = missing(&a, a.now, a.now + a.before, &c->only_now);
	}
	aligned_free(&a);
	return err;
}

void comparison_free(struct comparison *c)
{
	free(c->row);
	free(c->only_now);
	free(c->only_before);
	memset(c, 0, sizeof(*c));
}

/* ---- what is said first ---- */

/* Returns the effect in tenths: what differs less is of one size. */
static int rank(const struct compared *r)
{
	return (int)(10 * r->effect);
}

/* Returns whether the figure is of requests, which are what a program is for, and changed them. */
static bool comes_first(const struct compared *r)
{
	return r->key.what == SUBJECT_EXCHANGES && rank(r) > 0;
}

/*
 * Returns the rank of a figure's group: requests, unless noise explains their change (with one
 * recording on each side it is not known for them); what exceeds the noise; all else.
 */
static int group_of(const struct compared *r)
{
	if (comes_first(r) && r->verdict != WITHIN_NOISE)
		return 0;
	if (r->verdict == EXCEEDS_NOISE)
		return 1;
	return comes_first(r) ? 2 : 3;
}

static int by_effect(const void *a, const void *b)
{
	const struct compared *x = *(const struct compared *const *)a;
	const struct compared *y = *(const struct compared *const *)b;

	if (group_of(x) != group_of(y))
		return group_of(x) - group_of(y);
	if (rank(x) != rank(y))
		return rank(y) - rank(x);
	return x < y ? -1 : x > y;
}

const struct compared **comparison_by_effect(const struct comparison *c)
{
	const struct compared **all = mg_calloc(c->rows + 1, sizeof(*all));

	for (size_t i = 0; i < c->rows && all; i++)
		all[i] = &c->row[i];
	if (all)
		qsort(all, c->rows, sizeof(*all), by_effect);
	return all;
}

/* Below this share of the CPUs' time it changes no figure that is worth a word. */
#define STEAL_LEAST 0.02
/* One side has it and the other has not, if it has so many times as much. */
#define STEAL_TIMES 3

static double mean_steal(const struct compared_side *side)
{
	double sum = 0;

	for (size_t i = 0; i < side->n; i++)
		sum += side->of[i].steal_share;
	return sum / (double)side->n;
}

bool comparison_steal(const struct compared_side *now, const struct compared_side *before,
	double *share_now, double *share_before)
{
	double low, high;

	*share_now = mean_steal(now);
	*share_before = mean_steal(before);
	low = fmin(*share_now, *share_before);
	high = fmax(*share_now, *share_before);
	return !isnan(*share_now + *share_before) && high >= STEAL_LEAST &&
	       high >= STEAL_TIMES * low;
}

void subject_name(char out[80], const struct subject_key *key)
{
	static const char *const sides[] = {"", " by the client", " by the server"};
	const char *kind = mg_kind_name(key->kind);

	switch (key->what) {
	case SUBJECT_EXCHANGES:
		snprintf(out, 80, "%s requests %s", kind,
			key->side == SIDE_SERVER ? "served" : "sent");
		break;
	case SUBJECT_CALL:
		snprintf(out, 80, "%s %s%s",
			key->call & CALL_KERNEL_ONLY
				? mg_syscall_name(key->call & ~CALL_KERNEL_ONLY)
				: mg_function_name(key->call),
			kind, key->call & CALL_KERNEL_ONLY ? " (kernel-only)" : "");
		break;
	case SUBJECT_FLOW:
		snprintf(out, 80, "%s %s%s", kind, key->rx ? "received" : "sent", sides[key->side]);
		break;
	default:
		snprintf(out, 80, "scheduler");
	}
	if (key->port)
		snprintf(out + strlen(out), 80 - strlen(out), "%s port %u",
			key->what == SUBJECT_EXCHANGES ? ","
			: key->side == SIDE_SERVER     ? " at"
			: key->side == SIDE_CLIENT     ? " of"
						       : ",",
			key->port);
}
