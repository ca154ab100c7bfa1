/* SPDX-License-Identifier: MIT */
/* magnet record: a program, its children, and what the kernel makes of their traffic. */
#define _GNU_SOURCE
#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "commands.h"
#include "log.h"
#include "record_command.h"
#include "record_repeat.h"
#include "record_signals.h"
#include "record_start.h"
#include "record_tell.h"
#include "record_wait.h"
#include "recording.h"
#include "signal_ignored.h"
#include "trace_files.h"

/* Writes what is recorded, for session.json. */
static void name_command(struct recording *r)
{
	char pids[12 * OPTION_PROCESSES_MAX], name[32] = "";
	size_t used = 0;

	for (char **a = r->o.command; a && *a && used < sizeof(r->command_text); a++) {
		if (r->o.given.anonymize && a > r->o.command)
			break; /* arguments may name addresses */
		used += (size_t)snprintf(r->command_text + used, sizeof(r->command_text) - used,
			"%s%s", a == r->o.command ? "" : " ", *a);
	}
	if (r->o.command)
		return;
	option_text(option_find(recorder_option_rows, recorder_option_count, "pid"), &r->o.given,
		pids, sizeof(pids));
	if (r->o.given.pid.count == 1)
		record_process_name(r->o.given.pid.pid[0], name);
	snprintf(r->command_text, sizeof(r->command_text),
		r->o.given.all      ? "(all)"
		: r->o.given.cgroup ? "(cgroup)"
				    : "%s%s(pid %s)",
		name, name[0] ? " " : "", pids);
}

/* Signals come by a descriptor from now on; COMMAND gets them back as they were. */
static void take_signals(struct recording *r)
{
	static const int ending[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};
	sigset_t set;

	sigemptyset(&r->ending);
	for (size_t i = 0; i < sizeof(ending) / sizeof(ending[0]); i++)
		sigaddset(&r->ending, ending[i]);
	if (mg_is_ignored(SIGHUP)) /* nohup */
		sigdelset(&r->ending, SIGHUP);
	set = r->ending;
	sigaddset(&set, SIGCHLD);
	record_add_passed(&set);
	sigprocmask(SIG_BLOCK, &set, &r->mask);
	r->on_sigpipe = signal(SIGPIPE, SIG_IGN);
	r->signals = signalfd(-1, &set, SFD_CLOEXEC);
}

/* Starts all, and waits for the end. Returns 0, or a negative errno if nothing was recorded. */
static int record(struct recording *r)
{
	int err = record_start(r);

	if (!err && session_file_write(r->dir.dir, &r->info, &r->app_result, NULL) &&
		errno == ENOMEM) { /* a full disk is reported at the end */
		err = -ENOMEM;
		mg_error("cannot write %s/session.json: %s", r->dir.dir, strerror(errno));
	}
	if (!err) {
		session_info_start(&r->info);
		if (r->gate >= 0 &&
			write(r->gate, r->collector.rings, sizeof(r->collector.rings)) <= 0)
			mg_error("cannot start %s", r->o.command[0]);
		record_tell_begin(r);
		record_wait(r);
	}
	if (r->gate >= 0)
		close(r->gate);
	if (err && r->child > 0) { /* COMMAND still waits */
		kill(r->child, SIGKILL);
		waitpid(r->child, NULL, 0);
	}
	return err;
}

/* Completes the trace directory, and reports. Returns the exit status. */
static int finish(struct recording *r, bool failed)
{
	if (r->child > 0 && r->o.given.repeat && !r->interrupts) {
		mg_warn("%s did not end when asked to, and is killed, since the next recording "
			"follows",
			r->o.command[0]);
		kill(r->child, SIGKILL);
		waitpid(r->child, NULL, 0);
		r->child = 0;
		r->status = 128 + SIGKILL;
		r->info.signal = SIGKILL;
	} else if (r->child > 0) {
		mg_warn("%s still runs, and is no longer recorded", r->o.command[0]);
		r->status = 128 + r->stopped_by;
	}
	r->info.ended = r->o.command && r->child <= 0;
	r->info.status = r->status;
	r->info.complete = !failed;
	r->info.has_app = r->collector_runs || r->session_runs;
	r->info.has_kernel = r->tracer_runs;
	r->info.app_ended = r->collector.ended;
	r->info.kernel_ended = r->tracer.ended;
	if (r->info.has_app && r->tracer_runs && !trace_align_clocks(r->dir.app, r->dir.kernel))
		mg_debug("clock offsets not aligned");
	if (session_file_write(r->dir.dir, &r->info, &r->app_result, r->tracer.done)) {
		mg_error("cannot write %s/session.json: %s", r->dir.dir, strerror(errno));
		failed = true;
	}
	trace_give_to_invoker(r->dir.dir);
	record_tell(r, failed);
	return failed ? EXIT_FAILED : r->status;
}

/* Makes one recording. Returns the exit status. */
static int make_recording(struct recording *r)
{
	int err, status;
	bool failed;

	name_command(r);
	/* each ring is a file, which takes a descriptor. The address space keeps its limit, since
	 * that says how much of the rings a program can have. */
	mg_limits_raise(&r->limits, MG_LIMIT_SPACE);
	r->on_sigxfsz = signal(SIGXFSZ, SIG_IGN); /* writing fails then, as on a full disk */
	if (record_dir_make(&r->dir, &r->o))
		return EXIT_FAILED;
	take_signals(r);
	session_info_begin(&r->info, r->command_text, r->o.command);
	record_options_selection(&r->o, r->info.selection, sizeof(r->info.selection));
	r->info.argc = r->o.given.anonymize ? 1 : INT_MAX;
	record_look_at_command(r);
	err = record(r);
	failed = err != -EINVAL && record_stop(r);
	if (!err && !record_command_has_run(r)) { /* its process has said why */
		record_dir_remove(&r->dir);
		status = r->status;
	} else if (!err) {
		status = finish(r, failed);
	} else { /* nothing was recorded: it may be tried again */
		record_dir_remove(&r->dir);
		status = err == -EINVAL  ? EXIT_USAGE
			 : r->stopped_by ? 128 + r->stopped_by
					 : EXIT_FAILED;
	}
	app_session_free(r->session);
	callers_free(&r->app_result.callers);
	tracer_free(&r->tracer);
	return status;
}

static int record_once(struct record_options *o)
{
	struct recording r = {.o = *o, .gate = -1, .not_run = -1};
	int status = make_recording(&r);

	*o = r.o; /* its lists may have moved */
	return status;
}

int cmd_record(int argc, char **argv)
{
	struct record_options o = {0};
	int err = record_options_parse(&o, argc, argv), status;

	if (err)
		status = err > 0 ? EXIT_DONE : err == -EINVAL ? EXIT_USAGE : EXIT_FAILED;
	else if (o.given.repeat)
		status = record_repeat(&o, record_once);
	else
		status = record_once(&o);
	record_options_free(&o);
	return status;
}
