/* SPDX-License-Identifier: MIT */
/* The figures of one recording that are compared with those of others. */
#ifndef MAGNET_CORRELATE_MEASURED_H
#define MAGNET_CORRELATE_MEASURED_H

#include "bootstrap.h"
#include "render/report.h"
#include "sampling.h"

/* most blocks to draw from; neighbours are merged until there are no more */
#define DRAWN_BLOCKS 64

/* Figures in microseconds are taken as nanoseconds. */
enum figure_unit { UNIT_NS, UNIT_SHARE, UNIT_BYTES_PER_S, UNIT_NUMBER, UNIT_US };

/* Figure of a subject. */
struct measured_figure {
	struct subject_key key;
	const char *figure; /* name; "residence" of one stage if `stage` is set */
	const char *stage;
	char reason[80]; /* cause of the time in the figure or stage, "" for the whole of it */
	/* the same three as text */
	const char *words, *stage_words;
	char reason_words[128];
	const char *whole; /* the figure of which it is a part; NULL: none */
	/* whether it is 0 in a recording that has the whole, but not this part */
	bool is_0_if_missing;
	enum figure_unit unit;
	double value;               /* in the unit */
	double doubt;               /* systematic error */
	size_t filled;              /* blocks with samples */
	struct block_sample sample; /* no blocks: its variation in the recording is not known */
};

struct measured_subject {
	struct subject_key key;
	double amount; /* bytes, calls or requests, to sort them by */
};

struct measured {
	struct measured_figure *figure;
	size_t figures;
	struct measured_subject *subject;
	size_t subjects;
	char *name, *command, *started; /* the latter two NULL if not known */
	char congestion[20]; /* congestion control of the flow that sent most; "" not known */
	double duration_ns, steal_share;
	bool cut_short; /* set if a signal ended the command */
	bool left_out;  /* set if there are more roles than fit */
};

/* Takes the figures. Returns 0 or -ENOMEM; the caller frees `m` in any case. */
int measure(struct measured *m, const struct report *r, const struct sampling *s);
void measured_free(struct measured *m);

/* ---- for the sources of figures ---- */

/* Add a copy of a figure, unless its value is NAN, and a subject. Return 0 or -ENOMEM. */
int measured_add(struct measured *m, const struct measured_figure *f);
int measured_add_subject(struct measured *m, const struct subject_key *key, double amount);
/* Adds the figures of requests and replies (measured_exchanges.c). */
int measured_add_exchanges(struct measured *m, const struct report *r);
/* Adds the share of the packets of each role that was dropped (measured_drops.c). */
int measured_add_drops(struct measured *m, const struct report *r);

#endif
