/* SPDX-License-Identifier: MIT */
/* The command line of magnet record. */
#ifndef MAGNET_CLI_RECORD_OPTIONS_H
#define MAGNET_CLI_RECORD_OPTIONS_H

#include <stdbool.h>

#include "collector_parts.h"
#include "recorder_options.h"

struct record_options {
	struct recorder_options given;
	bool app, kernel; /* sides to record */
	bool in_session;  /* the application side is recorded by LTTng */
	struct collector_bounds bounds;
	struct option_list to_tracer; /* the tracer's options, as words of its command line */
	char **command;               /* NULL: none */
};

/*
 * Returns 0, 1 if only help was asked for, or a negative errno after a message. Puts the options of
 * libmagnet.so into the environment, which COMMAND inherits.
 */
int record_options_parse(struct record_options *o, int argc, char **argv);
/* Writes the options that choose sockets; if addresses are to be left out, without their values. */
void record_options_selection(const struct record_options *o, char *text, size_t size);
void record_options_free(struct record_options *o);

#endif
