/* SPDX-License-Identifier: MIT */
/*
 * Recordings side by side, one or several on each side, and which differences exceed the noise
 * (method, "Comparison").
 */
#ifndef MAGNET_CORRELATE_COMPARISON_H
#define MAGNET_CORRELATE_COMPARISON_H

#include <stdio.h>

#include "aligned.h"
#include "render/report.h"

#define COMPARISON_LEVEL 0.95
/* How many recordings a side are recommended: each difference can be told, with some to spare. */
#define ENOUGH_RECORDINGS 5

enum verdict { WITHIN_NOISE, EXCEEDS_NOISE, NOT_ENOUGH };
/* The noise is the variation within one recording on each side, or that between several. */
enum noise { NOISE_WITHIN, NOISE_BETWEEN };

struct compared {
	struct subject_key key, before_key; /* of the same role */
	const char *figure;                 /* name; "residence" of one stage if `stage` is set */
	const char *stage;
	const char *reason; /* cause of the time in the figure or stage, NULL for the whole of it */
	const char *words, *stage_words, *reason_words; /* the same three as text */
	enum figure_unit unit;
	double now_value, before_value; /* in the unit; means over the recordings */
	double difference, ratio;       /* now - before, now / before; NAN: not known */
	/* interval of the difference that noise and chance explain */
	double low, high;
	size_t now_blocks,
		before_blocks;    /* NOISE_WITHIN: blocks with samples, as they were drawn */
	size_t now_n, before_n;   /* recordings of which it is known */
	double now_sd, before_sd; /* standard deviations between them, NAN: not known */
	double chance;            /* of any figure to differ as much if none does, NAN: not known */
	double effect; /* the difference as a part of the whole to which the figure belongs */
	enum verdict verdict;
};

struct comparison {
	struct compared *row;
	size_t rows;
	size_t exceeding, not_enough;
	struct subject_key *only_now, *only_before; /* subjects without a counterpart */
	size_t only_now_n, only_before_n;
	enum noise noise;
	/* whether there are enough recordings to tell a change from what differs between them */
	bool can_tell;
	size_t resamples; /* from which the intervals were computed, or arrangements */
};

/*
 * Compares two sides, which must outlive `c`. Returns 0 or -ENOMEM; the caller frees `c` in any
 * case.
 */
int compare(
	struct comparison *c, const struct compared_side *now, const struct compared_side *before);
void comparison_free(struct comparison *c);
/* Writes a name such as "send tcp", "tcp sent by the client of port 80" or "scheduler". */
void subject_name(char out[80], const struct subject_key *key);
/*
 * Sorts the rows: those that exceed the noise first, of these requests that changed by a tenth and
 * more before all else, the largest effect first. Returns an array that the caller frees; NULL
 * without memory.
 */
const struct compared **comparison_by_effect(const struct comparison *c);
/*
 * Returns whether the hypervisor took CPU time on one side and not on the other, and how much, as
 * means over the recordings.
 */
bool comparison_steal(const struct compared_side *now, const struct compared_side *before,
	double *share_now, double *share_before);

/* Prints the comparison, `rows` figures at most; 0: all. */
void comparison_text(const struct comparison *c, const struct compared_side *now,
	const struct compared_side *before, size_t rows, FILE *to, bool colour);
json_t *comparison_json(const struct comparison *c, const struct compared_side *now,
	const struct compared_side *before);

#endif
