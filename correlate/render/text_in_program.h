/* SPDX-License-Identifier: MIT */
/* Prints what became of requests in a server's program. */
#ifndef MAGNET_CORRELATE_RENDER_TEXT_IN_PROGRAM_H
#define MAGNET_CORRELATE_RENDER_TEXT_IN_PROGRAM_H

#include <stdio.h>

#include "report.h"
#include "reported/exchanges.h"

/* Prints the parts of the ports with the longest time in the program. */
void text_in_program(const struct report *r, FILE *to, bool colour);
/* Prints the largest parts of one exchange, in a line of its own. */
void text_program_times(const struct slow_exchange_figures *f, FILE *to);

#endif
