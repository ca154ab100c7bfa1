/* SPDX-License-Identifier: MIT */
#ifndef MAGNET_CORRELATE_RENDER_TEXT_ANSWER_H
#define MAGNET_CORRELATE_RENDER_TEXT_ANSWER_H

#include "report.h"
#include "reported/answer.h"

/*
 * Returns whether most bytes of the recording belong to exchanges of which the times are known;
 * else the flows are the answer.
 */
bool text_is_of_exchanges(const struct report *r);
/* Columns of one answer. */
struct answer_columns {
	int n;
	struct answer_column_figures column[ANSWER_COLUMNS];
};
/* Prints their table; with `fold`, rows that are small in every column as one. */
void text_answer_table(const struct answer_columns *columns, bool fold, FILE *to);
/*
 * Prints where the time of requests went, of typical and of slow ones, if there are any. Lesser
 * rows are left out where all would take more than so many lines of the terminal.
 */
void text_answer(const struct report *r, int lines, FILE *to, bool colour);
/*
 * Fills in the flow on which most of the slowest exchange's time went. Returns false if there is no
 * answer.
 */
bool text_answer_flow(const struct report *r, struct fact_flow_id *flow);

#endif
