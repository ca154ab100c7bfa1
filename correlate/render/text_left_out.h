/* SPDX-License-Identifier: MIT */
/* Prints what an answer about exchanges leaves out, and what it assumes. */
#ifndef MAGNET_CORRELATE_RENDER_TEXT_LEFT_OUT_H
#define MAGNET_CORRELATE_RENDER_TEXT_LEFT_OUT_H

#include "report.h"

/*
 * Prints lines below the title of an answer about a group: that its role is a guess; and if they
 * took long, attempts to connect, requests that got no reply, and those that arrived slowly.
 */
void text_left_out(const struct report *r, const struct exchange_group *g, FILE *to);
/* Prints the answer of a recording in which no request had a reply. */
void text_without_exchanges(const struct report *r, FILE *to, bool colour);

#endif
