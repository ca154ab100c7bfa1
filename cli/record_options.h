/* SPDX-License-Identifier: MIT */
/* The command line of magnet record. */
#ifndef MAGNET_CLI_RECORD_OPTIONS_H
#define MAGNET_CLI_RECORD_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "collector_parts.h"

struct record_options {
	const char *dir; /* NULL: one is to be made up */
	bool app, kernel, quiet, anonymize;
	pid_t pid; /* --pid, 0 = none */
	bool all;
	const char *cgroup; /* NULL: none */
	uint64_t buffer;    /* bytes, 0 = default */
	unsigned int duration_s, drain_ms;
	struct collector_bounds bounds;
	char *tracer_args[128]; /* what the kernel tracer is to get, NULL-terminated */
	int tracer_arg_count;
	char option_text[64][32]; /* what some of them point to */
	char **command;           /* NULL: none */
};

/*
 * 0, 1 if only help was asked for, or a negative errno after a line that says what is wrong. What
 * libmagnet.so reads from its environment is set there.
 */
int record_options_parse(struct record_options *o, int argc, char **argv);
/* One more option for the tracer; `value` may be NULL. */
void record_pass_on(struct record_options *o, const char *option, const char *value);

#endif
