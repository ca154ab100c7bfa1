/* SPDX-License-Identifier: MIT */
/* State of magnet top, which its parts share. */
#ifndef MAGNET_CLI_TOP_H
#define MAGNET_CLI_TOP_H

#include <stdbool.h>
#include <stdint.h>

#include "following.h"
#include "live/window.h"
#include "output.h"
#include "top_recorder.h"
#include "top_rows.h"

struct top_options {
	struct output_options output;
	uint64_t interval, window; /* ns */
	uint64_t count;            /* intervals; 0: until the end */
	uint64_t max_size;
	const char *directory; /* of the recording, with --output */
	const char *filter;
	const char *layers; /* of the kernel side, as magnet record takes them; NULL: its default */
	uint8_t sort;       /* number of a column */
	bool json, help;
};

/* State of the recording as a whole, as of the last interval. */
struct top_state {
	double cpu_share, recorders_cpu_share; /* of one CPU; NAN: not known */
	uint64_t lost_app, lost_kernel, late;  /* events */
	uint64_t begin_ns, until_ns;           /* CLOCK_MONOTONIC; 0: nothing is read yet */
	bool stalled[CORE_SIDES];
	bool ended;       /* all is read */
	char notice[200]; /* the latest message; "" */
};

struct top {
	struct top_options o;
	char **command;  /* NULL: none */
	const char *pid; /* list of processes; NULL: none */
	const char *dir; /* of a recording by somebody else; NULL: it is our own */
	char what[120];  /* what is recorded, in words */
	struct core *core;
	struct live live;
	struct following following;
	struct top_recorder recorder;
	struct top_state state;
	struct {
		uint64_t at_ns, own_ns;
		int64_t recorders_ns;
	} used; /* CPU time as of the last interval */
	struct top_view view;
	bool is_quitting;
};

/* Returns how many intervals the window has. */
uint32_t top_slots(const struct top *t);

#endif
