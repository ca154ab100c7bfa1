/* SPDX-License-Identifier: MIT */
/* State of a run of magnet record, which its parts share. */
#ifndef MAGNET_CLI_RECORDING_H
#define MAGNET_CLI_RECORDING_H

#include <signal.h>
#include <stdbool.h>
#include <sys/types.h>

#include "app_session.h"
#include "collector.h"
#include "process_limits.h"
#include "program_kind.h"
#include "record_dir.h"
#include "record_options.h"
#include "session_file.h"
#include "tracer.h"

struct recording {
	struct record_options o;
	struct record_dir dir;
	char command_text[4096];

	struct collector collector;
	struct app_session *session; /* in place of the collector; NULL: there is none */
	struct tracer tracer;
	bool collector_runs, tracer_runs;
	bool session_runs;
	bool stopping;    /* the recorders have been told to end */
	bool side_failed; /* a recorder ended otherwise, or could not write */
	struct collector_result app_result;
	struct session_info info;

	pid_t child;                 /* COMMAND, 0: none, or it has ended */
	struct mg_program_kind kind; /* kind of COMMAND's program */
	int gate;                    /* COMMAND starts when its MAGNET_RINGS is written here */
	int not_run;                 /* has an errno to read if COMMAND could not be executed */
	int status;                  /* COMMAND's exit status */

	int signals;     /* descriptor of SIGCHLD and of the signals in `ending` */
	sigset_t ending; /* signals that end a recording */
	bool stop;
	int interrupts; /* how many of them have come */
	/* how many came from who repeats the recording, and how many else */
	int passed_on, by_itself;
	int stopped_by; /* a signal that ended the recording before COMMAND */

	/* state in which magnet record was started, for COMMAND */
	sigset_t mask;
	void (*on_sigpipe)(int);
	void (*on_sigxfsz)(int);
	struct mg_limits limits;
};

#endif
