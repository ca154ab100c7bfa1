/* SPDX-License-Identifier: MIT */
/* The same figures in several recordings, of subjects that have the same role in each. */
#ifndef MAGNET_CORRELATE_ALIGNED_H
#define MAGNET_CORRELATE_ALIGNED_H

#include "measured.h"

/* Recordings of one program, on one side of the comparison. */
struct compared_side {
	const char *name;
	const struct measured *of;
	size_t n;
};

struct role {
	struct subject_key key; /* in the first recording that has it */
	struct subject_key *in; /* of each recording */
	bool *is_in;
	double amount; /* in that recording */
};

struct aligned_row {
	size_t role;
	const struct measured_figure *like; /* of the first recording that has it */
	const struct measured_figure **in;  /* of each recording; NULL: it has none */
	double *value;                      /* likewise; NAN: not known */
	const struct aligned_row *whole;    /* the figure of which it is a part; NULL: none */
	char id[224];
	size_t nth;
	UT_hash_handle hh;
};

struct aligned {
	size_t now, before; /* how many recordings; those now stand first in all arrays */
	struct role *role;
	size_t roles;
	struct aligned_row *rows; /* a hash table, calls before flows, the largest first */
};

/*
 * Finds what belongs together. Servers with another port count as the same if they are the only
 * candidates, as a program that listens on any free port gets a new one each time. Returns 0 or
 * -ENOMEM; the caller frees `a` in any case, and before the recordings.
 */
int align(struct aligned *a, const struct compared_side *now, const struct compared_side *before);
void aligned_free(struct aligned *a);

#endif
