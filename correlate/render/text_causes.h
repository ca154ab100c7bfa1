/* SPDX-License-Identifier: MIT */
/* Words for the causes of where time went, and for what to do about them. */
#ifndef MAGNET_CORRELATE_RENDER_TEXT_CAUSES_H
#define MAGNET_CORRELATE_RENDER_TEXT_CAUSES_H

#include <stdio.h>

#include "reported/answer.h"

#define CAUSE_TITLE_WIDTH 16
#define WORDS_MAX         300

/* A column has at most so many causes that are named. */
#define NAMED 2
struct named {
	struct cause_figures cause;
	struct answer_doing did;
};

/* Remedies, each once, and the causes named last, which need not be said again. */
#define REMEDIES 3
struct causes_told {
	bool only_first; /* names one cause of each column */
	char remedy[REMEDIES][REMEDY_MAX];
	int remedies;
	struct named last[NAMED];
	int named;
};

/* Prints a cause, with its share and whose it is. */
void text_cause(const struct cause_figures *c, FILE *to);
/* Prints a line of its title and the causes of a column, and notes them and their remedies. */
void text_causes_of(const struct answer_column_figures *column, struct causes_told *told, FILE *to);
void text_remedies(const struct causes_told *told, FILE *to);
/* Prints words from `column` on, with a new line and an indent where they would leave the terminal.
 */
void text_wrapped(FILE *to, int column, int indent, const char *words);

#endif
