/* SPDX-License-Identifier: MIT */
/* Two recordings side by side, and which differences exceed the noise (method, "Comparison"). */
#ifndef MAGNET_CORRELATE_COMPARISON_H
#define MAGNET_CORRELATE_COMPARISON_H

#include <stdio.h>

#include "render/report.h"
#include "sampling.h"

#define COMPARISON_LEVEL 0.95

struct recording {
	const struct report *report;
	const struct sampling *sampling;
};

enum figure_unit { UNIT_NS, UNIT_SHARE, UNIT_BYTES_PER_S, UNIT_NUMBER };
enum verdict { WITHIN_NOISE, EXCEEDS_NOISE, NOT_ENOUGH };

struct compared {
	const struct subject *now, *before; /* of the same role */
	const char *figure;                 /* "residence" is a stage's if `stage` is one */
	const char *stage;
	const char *reason; /* the part of the stage that it held, NULL for all of it */
	enum figure_unit unit;
	bool is_headline;                 /* one of the few that sum a subject up */
	double now_value, before_value;   /* in the unit */
	double difference, ratio;         /* now - before, now / before; NAN: not known */
	double low, high;                 /* interval of the difference that is noise and chance */
	size_t now_blocks, before_blocks; /* with samples, as they were drawn */
	enum verdict verdict;
};

struct comparison {
	struct compared *row;
	size_t rows;
	size_t exceeding, not_enough;
	const struct subject **only_now, **only_before; /* without a counterpart */
	size_t only_now_n, only_before_n;
};

/* 0 or -ENOMEM; to be freed in any case. */
int compare(struct comparison *c, const struct recording *now, const struct recording *before);
void comparison_free(struct comparison *c);
/* "send tcp", "tcp sent by the client of port 80", "scheduler" */
void subject_name(char out[80], const struct subject_key *key);

/* `before_name` is what to call the other recording. */
void comparison_text(const struct comparison *c, const struct recording *now,
	const struct recording *before, const char *before_name, FILE *to, bool colour);
json_t *comparison_json(const struct comparison *c, const struct recording *before);

#endif
