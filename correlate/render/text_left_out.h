/* SPDX-License-Identifier: MIT */
/* Prints what programs waited for that is no part of an exchange's time, if it was long. */
#ifndef MAGNET_CORRELATE_RENDER_TEXT_LEFT_OUT_H
#define MAGNET_CORRELATE_RENDER_TEXT_LEFT_OUT_H

#include "report.h"

/*
 * Prints lines below the title of an answer about a group: attempts to connect, requests that got
 * no reply, and those that took long to arrive.
 */
void text_left_out(const struct report *r, const struct exchange_group *g, FILE *to);
/* Prints the answer of a recording in which no request had a reply. */
void text_without_exchanges(const struct report *r, FILE *to, bool colour);

#endif
