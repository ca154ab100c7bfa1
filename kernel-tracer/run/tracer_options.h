/* SPDX-License-Identifier: MIT */
/* The command line of magnet-kernel-tracer. */
#ifndef MAGNET_KERNEL_TRACER_RUN_TRACER_OPTIONS_H
#define MAGNET_KERNEL_TRACER_RUN_TRACER_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "recorder_options.h"
#include "hooks/hook_choice.h"

struct tracer_options {
	struct recorder_options given;
	struct hook_options hooks;     /* values for the hooks */
	int control;                   /* descriptor of a parent to speak with, -1 = none */
	struct option_trigger trigger; /* what causes a dump */
	char **command;                /* program to run and to follow, NULL = none */
	bool chose_protocols;          /* the user has, also with "any" */
};

/* Returns 0, 1 if all is done (help), or a negative errno after a message. */
int tracer_options_parse(struct tracer_options *o, int argc, char **argv);
/*
 * Changes an option marked MG_SETTABLE, as `ctl set` asks. Returns 0, or -EINVAL with `why` and
 * nothing changed.
 */
int tracer_options_set(struct tracer_options *o, const struct option_row *row, const char *value,
	char *why, size_t size);

#endif
