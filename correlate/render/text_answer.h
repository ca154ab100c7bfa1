/* SPDX-License-Identifier: MIT */
#ifndef MAGNET_CORRELATE_RENDER_TEXT_ANSWER_H
#define MAGNET_CORRELATE_RENDER_TEXT_ANSWER_H

#include "report.h"
#include "reported/answer.h"

/*
 * Prints where the time of requests went, of typical and of slow ones. Returns false if there are
 * none, or only few of the recording's bytes belong to them: then the flows are the answer.
 * What matters less is left out where it would take more than so many lines of the terminal.
 */
bool text_answer(const struct report *r, int lines, FILE *to, bool colour);
/*
 * Fills in the flow on which most of the slowest exchange's time went. Returns false if there is no
 * answer.
 */
bool text_answer_flow(const struct report *r, struct fact_flow_id *flow);

#endif
