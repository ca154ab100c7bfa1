/* SPDX-License-Identifier: MIT */
/* session.json describes the recording, its recorders and its machine. */
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
	char **argv;           /* NULL: no command */
	int argc;              /* how many of them to write, at most */
	struct timespec began; /* wall clock */
	uint64_t start_ns;     /* CLOCK_MONOTONIC when the command was started */
	uint64_t stop_ns;      /* CLOCK_MONOTONIC at the end of the recording */
	int64_t stolen_ns[2];  /* CPU time taken by the hypervisor until each of these two, -1 not
				  known */
	struct mg_clock_sync clock[2]; /* clock readings at begin and end */
	bool ended;                    /* whether the command has ended */
	int status;                    /* exit status of the command */
	int signal;                    /* signal that ended the command, 0 = none */
	bool has_app, has_kernel, complete;
	const char *app_session;  /* LTTng session that has the application side, NULL = none */
	char kernel_missing[512]; /* why there is no kernel side */
	char app_missing[256];    /* why COMMAND is not preloaded */
	char selection[256];      /* options that chose sockets; "": none did */
	const char *app_ended, *kernel_ended; /* why a side ended early; NULL or "": it did not */
};

void session_info_begin(struct session_info *info, const char *command, char **argv);
/* Call these when the command is started, and when the recording has ended. */
void session_info_start(struct session_info *info);
void session_info_stop(struct session_info *info);
/*
 * Writes the file, with the answer of the kernel tracer at its end, NULL before that. Returns 0 or
 * -1.
 */
int session_file_write(const char *dir, const struct session_info *info,
	const struct collector_result *app, const json_t *tracer);

#endif
