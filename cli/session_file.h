/* SPDX-License-Identifier: MIT */
/* session.json: what was recorded, by what, on which machine. */
#ifndef MAGNET_CLI_SESSION_FILE_H
#define MAGNET_CLI_SESSION_FILE_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>
#include <time.h>

#include "events.h"
#include "collector.h"

struct session_info {
	const char *command;
	char **argv;                   /* may be NULL */
	int argc;                      /* not more of them are told */
	struct timespec began;         /* wall clock */
	uint64_t start_ns;             /* CLOCK_MONOTONIC, when the command was let go */
	uint64_t stop_ns;              /* when recording ended */
	int64_t stolen_ns[2];          /* by the hypervisor at these two, -1 not known */
	struct mg_clock_sync clock[2]; /* the counter against the clock, at begin and end */
	bool ended;                    /* the command has */
	int status;                    /* its exit status */
	int signal;                    /* that ended it, 0 = none */
	bool has_app, has_kernel, complete;
	char kernel_missing[512];             /* why there is no kernel side */
	char app_missing[256];                /* why COMMAND is not preloaded */
	const char *app_ended, *kernel_ended; /* by what, before its time; NULL or "": it did not */
};

void session_info_begin(struct session_info *info, const char *command, char **argv);
/* The command is let go, and the recording has ended. */
void session_info_start(struct session_info *info);
void session_info_stop(struct session_info *info);
/* `tracer` is what the kernel tracer said at its end, NULL before that. Returns 0 or -1. */
int session_file_write(const char *dir, const struct session_info *info,
	const struct collector_result *app, const json_t *tracer);

#endif
