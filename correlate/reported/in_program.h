/* SPDX-License-Identifier: MIT */
/* Figures of the time in a server's program. */
#ifndef MAGNET_CORRELATE_REPORTED_IN_PROGRAM_H
#define MAGNET_CORRELATE_REPORTED_IN_PROGRAM_H

#include "figures/in_program.h"
#include "render/report.h"

/* A part of the time in the program, of all exchanges of a port. */
struct program_part_figures {
	const struct report *r;
	const struct program_table *t;
	const struct program_row *row;
	char remote[64];
};

/* The same of one exchange. */
struct program_time_figures {
	const struct report *r;
	const struct program_time *time;
	char remote[64];
};

/* Says in words what the program did, as "waiting for 127.0.0.1:6379 (recvfrom)". */
void program_words(const struct program_key *key, char words[128]);

#endif
