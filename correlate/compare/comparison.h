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
	const struct subject *now, *before; /* subjects of the same role */
	const char *figure;                 /* name; "residence" of one stage if `stage` is set */
	const char *stage;
	const char *reason; /* cause of the wait within the stage, NULL for the whole stage */
	enum figure_unit unit;
	bool is_headline;               /* one of the few that summarise a subject */
	double now_value, before_value; /* in the unit */
	double difference, ratio;       /* now - before, now / before; NAN: not known */
	/* interval of the difference that noise and chance explain */
	double low, high;
	size_t now_blocks, before_blocks; /* blocks with samples, as they were drawn */
	enum verdict verdict;
};

struct comparison {
	struct compared *row;
	size_t rows;
	size_t exceeding, not_enough;
	const struct subject **only_now, **only_before; /* subjects without a counterpart */
	size_t only_now_n, only_before_n;
};

/* Compares two recordings. Returns 0 or -ENOMEM; the caller frees `c` in any case. */
int compare(struct comparison *c, const struct recording *now, const struct recording *before);
void comparison_free(struct comparison *c);
/* Writes a name such as "send tcp", "tcp sent by the client of port 80" or "scheduler". */
void subject_name(char out[80], const struct subject_key *key);

/* Prints the comparison; `before_name` names the other recording. */
void comparison_text(const struct comparison *c, const struct recording *now,
	const struct recording *before, const char *before_name, FILE *to, bool colour);
json_t *comparison_json(const struct comparison *c, const struct recording *before);

#endif
