/* SPDX-License-Identifier: MIT */
/* magnet record: a program, its children, and what the kernel makes of their traffic. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "app_ring.h"
#include "clock.h"
#include "collector.h"
#include "commands.h"
#include "process_limits.h"
#include "log.h"
#include "paths.h"
#include "printable.h"
#include "program_kind.h"
#include "record_dir.h"
#include "record_options.h"
#include "session_file.h"
#include "trace_files.h"
#include "tracer.h"
#include "unseen.h"

#define STOP_MS  60000         /* a slow disk may have much to take */
#define GRACE_NS 2000000000ull /* between asking COMMAND to end and leaving it */

struct recording {
	struct record_options o;
	struct record_dir dir;
	char command_text[4096];

	struct collector collector;
	struct tracer tracer;
	bool collector_runs, tracer_runs;
	bool stopping;    /* the recorders have been told to end */
	bool side_failed; /* one of them ended otherwise, or could not write */
	pid_t child;
	struct mg_program_kind kind; /* of COMMAND */
	int gate;                    /* COMMAND starts when its MAGNET_RINGS is written here */
	int status;
	int signals;
	sigset_t ending;         /* the signals that end a recording */
	sigset_t mask;           /* as the invoker had it, */
	void (*on_sigpipe)(int); /* and these: all are COMMAND's again */
	void (*on_sigxfsz)(int);
	struct mg_limits limits;
	bool stop;
	int interrupts;
	int stopped_by; /* a signal, where the recording ended before COMMAND */
	struct collector_result app_result;
	struct session_info info;
};

static void join_command(struct recording *r)
{
	size_t used = 0;

	for (char **a = r->o.command; a && *a && used < sizeof(r->command_text); a++) {
		if (r->o.given.anonymize && a > r->o.command)
			break; /* arguments name addresses */
		used += (size_t)snprintf(r->command_text + used, sizeof(r->command_text) - used,
			"%s%s", a == r->o.command ? "" : " ", *a);
	}
	if (!r->o.command)
		snprintf(r->command_text, sizeof(r->command_text),
			r->o.given.all      ? "(all)"
			: r->o.given.cgroup ? "(cgroup)"
					    : "(pid %d)",
			(int)r->o.given.pid);
}

/* ---- COMMAND ---- */

/* Says why libmagnet.so cannot be preloaded into COMMAND, if so. */
static void look_at_command(struct recording *r)
{
	const struct mg_program_kind *k = &r->kind;

	if (!r->o.command || !r->o.app)
		return;
	mg_program_look_search(&r->kind, r->o.command[0], getenv("PATH"));
	if (k->preload != MG_PRELOAD_REFUSED)
		return;
	if (k->loader[0])
		snprintf(r->info.app_missing, sizeof(r->info.app_missing),
			"libmagnet.so cannot be preloaded where %s loads the program", k->loader);
	else
		snprintf(r->info.app_missing, sizeof(r->info.app_missing),
			"libmagnet.so cannot be preloaded into a program of another machine or "
			"word length");
	mg_warn("%s: %s; its calls are recorded by the kernel side only", r->o.command[0],
		r->info.app_missing);
}

/* Returns false without memory. */
static bool preload(const struct mg_program_kind *k, const char *rings)
{
	char library[PATH_MAX], value[2 * PATH_MAX + sizeof(k->runtime)];
	const char *others = getenv("LD_PRELOAD"), *runtime = "";

	if (find_library(library) || k->preload == MG_PRELOAD_REFUSED)
		return true;
	others = others ? others : "";
	if (k->preload == MG_PRELOAD_AFTER_RUNTIME && !strstr(others, k->runtime)) {
		runtime = k->runtime;
		if (setenv(MG_RUNTIME_ENV, runtime, 1) != 0)
			return false;
	}
	snprintf(value, sizeof(value), "%s%s%s%s%s", runtime, runtime[0] ? ":" : "", others,
		others[0] ? ":" : "", library);
	return setenv("LD_PRELOAD", value, 1) == 0 && setenv(MG_POOL_ENV, rings, 1) == 0;
}

/* It waits before its first instruction until both sides record. */
static int start_command(struct recording *r)
{
	int gate[2];

	if (pipe2(gate, O_CLOEXEC) != 0)
		return -errno;
	r->child = fork();
	if (r->child < 0)
		return -errno;
	if (r->child == 0) {
		char rings[sizeof(r->collector.rings)];
		ssize_t n;

		close(gate[1]);
		n = read(gate[0], rings, sizeof(rings));
		if (n <= 0)
			_exit(125);
		if (rings[0] &&
			!preload(&r->kind, rings)) { /* nothing without an application side */
			mg_error("%s is not run: out of memory", r->o.command[0]);
			_exit(EXIT_FAILED);
		}
		signal(SIGPIPE, r->on_sigpipe);
		signal(SIGXFSZ, r->on_sigxfsz);
		mg_limits_restore(&r->limits, MG_LIMIT_SPACE);
		sigprocmask(SIG_SETMASK, &r->mask, NULL);
		execvp(r->o.command[0], r->o.command);
		mg_error("cannot run %s: %s", r->o.command[0], strerror(errno));
		_exit(errno == ENOENT ? 127 : 126);
	}
	close(gate[0]);
	r->gate = gate[1];
	return 0;
}

/*
 * Waits for the tracer, for as long as the kernel takes to check its programs. A signal ends the
 * recording before it begins: -EINTR.
 */
static int wait_for_tracer(struct recording *r)
{
	int signals = signalfd(-1, &r->ending, SFD_CLOEXEC);
	int err = tracer_wait_ready(&r->tracer, signals, r->o.given.quiet);
	struct signalfd_siginfo info;

	if (err == -EINTR && read(signals, &info, sizeof(info)) == (ssize_t)sizeof(info)) {
		r->stopped_by = (int)info.ssi_signo;
		mg_error("nothing was recorded: signal %d (%s) came before the kernel tracer was "
			 "ready",
			r->stopped_by, strsignal(r->stopped_by));
	}
	if (signals >= 0)
		close(signals);
	return err;
}

/*
 * The tracer first and alone, since it measures what its events cost. COMMAND must exist for it to
 * follow; it waits.
 */
static int start_recorders(struct recording *r)
{
	char library[PATH_MAX];
	const char *why = r->o.app ? find_library(library) : NULL;
	int err = 0;

	if (why) {
		mg_error("the application side cannot be recorded (--kernel-only does without): %s",
			why);
		return -ENOENT;
	}
	if (r->o.command && start_command(r)) {
		mg_error("cannot start a process: %s", strerror(errno));
		return -EAGAIN;
	}
	if ((r->o.command && !option_list_add(&r->o.to_tracer, "--fresh")) ||
		(r->o.app && !option_list_add(&r->o.to_tracer, "--with-app"))) {
		mg_error("%s", strerror(ENOMEM));
		return -ENOMEM;
	}
	if (r->o.kernel) {
		err = tracer_start(&r->tracer, r->dir.kernel,
			r->o.given.all      ? 0
			: r->o.given.cgroup ? -1
			: r->o.given.pid    ? (pid_t)r->o.given.pid
					    : r->child,
			r->o.to_tracer.text);
		if (!err)
			err = wait_for_tracer(r);
		r->tracer_runs = !err;
	}
	if (err == -EINVAL || err == -EINTR) /* it has been said why */
		return err;
	if (err && !r->o.app) {
		mg_error("the kernel side cannot be recorded: %s", r->tracer.why);
		return err;
	}
	if (err) {
		mg_warn("recording the application side only: %s", r->tracer.why);
		snprintf(r->info.kernel_missing, sizeof(r->info.kernel_missing), "%s",
			r->tracer.why);
		record_dir_remove_side(r->dir.kernel);
	}
	if (!r->o.app)
		return 0;
	err = collector_start(
		&r->collector, &(struct collector_options){.dir = r->dir.app,
				       .buffer_bytes = r->o.given.buffer,
				       .drain_ms = (unsigned int)r->o.given.drain,
				       .clock = !r->tracer_runs,
				       .kernel_dir = r->tracer_runs ? r->dir.kernel : NULL,
				       .bounds = r->o.bounds});
	r->collector_runs = !err;
	if (err && r->tracer_runs) {
		mg_warn("recording the kernel side only: %s", r->collector.why);
		snprintf(r->info.app_missing, sizeof(r->info.app_missing), "%s", r->collector.why);
		return 0;
	}
	if (err)
		mg_error("the application side cannot be recorded: %s", r->collector.why);
	return err;
}

/* ---- while it runs ---- */

static void on_child(struct recording *r)
{
	int status;

	while (r->child > 0 && waitpid(r->child, &status, WNOHANG) == r->child) {
		r->status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
		r->info.signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
		r->child = 0;
		r->stop = true;
	}
}

/*
 * Ctrl-C reaches COMMAND by itself, which ends it and so the recording; other signals are passed
 * on. The second of either ends the recording at once and leaves COMMAND to itself.
 */
static void on_signal(struct recording *r)
{
	struct signalfd_siginfo info;
	bool from_keyboard;

	if (read(r->signals, &info, sizeof(info)) != (ssize_t)sizeof(info))
		return;
	if (info.ssi_signo == SIGCHLD) {
		on_child(r);
		return;
	}
	if (!r->o.command || ++r->interrupts > 1) {
		r->stopped_by = (int)info.ssi_signo;
		r->stop = true;
		return;
	}
	/* from the keyboard it went to the whole process group; from a program only to us */
	from_keyboard =
		(info.ssi_signo == SIGINT || info.ssi_signo == SIGQUIT) && info.ssi_code > 0;
	if (r->child > 0 && !from_keyboard)
		kill(r->child, (int)info.ssi_signo);
}

/* --duration is over: COMMAND is asked to end, and after a while left to itself. */
static void end_duration(struct recording *r, uint64_t *until)
{
	if (r->child <= 0 || r->stopped_by) {
		r->stop = true;
		return;
	}
	r->stopped_by = SIGTERM;
	kill(r->child, SIGTERM);
	*until += GRACE_NS;
}

/* One that has ended before it was told to is told at once: the program still runs. */
static void stop_collector(struct recording *r)
{
	const char *go_on = r->stopping ? "" : "; calls from now on are not recorded";

	if (r->collector.pid <= 0) /* it has been told */
		return;
	if (collector_stop(&r->collector, &r->app_result, STOP_MS)) {
		mg_error("application side: %s%s", r->collector.why, go_on);
		r->side_failed = true;
	} else if (r->collector.ended[0]) {
		mg_warn("application side: %s%s", r->collector.ended, go_on);
	}
}

/* What the user has asked for, such as --max-size, is no failure. */
static void stop_tracer(struct recording *r)
{
	const char *go_on = r->stopping ? "" : "; what the kernel does from now on is not recorded";
	bool by_signal;

	if (r->tracer.pid <= 0) /* it has been told */
		return;
	if (tracer_stop(&r->tracer, STOP_MS)) {
		mg_error("kernel side: %s%s", r->tracer.why, go_on);
		r->side_failed = true;
	} else if (r->tracer.ended[0]) {
		by_signal = strstr(r->tracer.ended, "signal") != NULL;
		mg_warn("kernel side: %s%s", r->tracer.ended, go_on);
		r->side_failed |= by_signal;
	}
}

static void wait_for_end(struct recording *r)
{
	uint64_t until =
		r->o.given.duration ? mg_monotonic_ns() + r->o.given.duration * 1000000000ull : 0;
	struct pollfd fds[] = {
		{r->signals, POLLIN, 0},
		{r->tracer_runs ? r->tracer.control : -1, POLLIN, 0},
		{r->collector_runs ? r->collector.control : -1, POLLIN, 0},
	};

	while (!r->stop) {
		uint64_t now = mg_monotonic_ns();
		int wait = -1;

		if (until && now >= until) {
			end_duration(r, &until);
			continue;
		}
		if (until)
			wait = (int)((until - now) / 1000000) + 1;
		if (poll(fds, 3, wait) < 0 && errno != EINTR)
			break;
		if (fds[0].revents)
			on_signal(r);
		/* they speak only when they end */
		if (fds[1].revents && !r->o.command)
			break;
		if (fds[1].revents) {
			stop_tracer(r);
			fds[1].fd = -1;
		}
		if (fds[2].revents) {
			stop_collector(r);
			fds[2].fd = -1;
		}
	}
}

/* ---- the end ---- */

static int stop_recorders(struct recording *r)
{
	session_info_stop(&r->info);
	r->stopping = true;
	if (r->tracer_runs)
		tracer_ask_stop(&r->tracer);
	if (r->collector_runs)
		stop_collector(r);
	if (r->tracer_runs)
		stop_tracer(r);
	return r->side_failed;
}

static void tell(const struct recording *r, bool failed)
{
	char dir[PATH_MAX];
	const json_t *done = r->tracer.done;
	long long kernel = json_integer_value(json_object_get(done, "events"));
	char not_recorded[48] = "";
	long long skipped = json_integer_value(json_object_get(done, "skipped"));
	long long lost = json_integer_value(json_object_get(done, "lost")) - skipped;
	const struct collector_result *app = &r->app_result;
	uint64_t full =
		app->discarded - app->unfinished - app->no_room - app->untimed - app->unserved;

	if (lost || full)
		mg_warn("events lost: %lld kernel, %llu application (try a larger --buffer)", lost,
			(unsigned long long)full);
	if (app->unfinished)
		mg_warn("events lost: %llu calls whose logging was cut short (killed, or left by "
			"siglongjmp)",
			(unsigned long long)app->unfinished);
	if (app->no_room)
		mg_warn("events lost: %llu calls of programs whose limit on address space leaves "
			"no "
			"room for a buffer (raise ulimit -v, or try a smaller --buffer)",
			(unsigned long long)app->no_room);
	if (app->untimed)
		mg_warn("events lost: %llu calls of programs that have forbidden themselves the "
			"cycle counter (strict seccomp, PR_SET_TSC)",
			(unsigned long long)app->untimed);
	if (app->not_outer)
		mg_warn("%llu application calls have the numbers that their processes had in a "
			"namespace, and no kernel side: they ended before they were found outside",
			(unsigned long long)app->not_outer);
	if (app->unserved)
		mg_warn("events lost: all calls of %llu programs for which there was no buffer: %s",
			(unsigned long long)app->unserved, app->why_unserved);
	if (r->o.given.quiet)
		return;
	if (r->tracer_runs && r->collector_runs && r->app_result.complete)
		tell_unseen(json_object_get(done, "callers"), &r->app_result.callers);
	if (skipped) /* no buffer helps: an interrupt found the tracer at work on its CPU */
		snprintf(not_recorded, sizeof(not_recorded), " (%lld more skipped)", skipped);
	if (failed) { /* their counts are of what was seen, not of what was written */
		fprintf(stderr, "magnet: what was recorded until then is in %s\n",
			mg_escape(dir, sizeof(dir), r->dir.dir));
		return;
	}
	fputs("magnet: ", stderr);
	if (r->collector_runs)
		fprintf(stderr, "%llu application%s", (unsigned long long)r->app_result.events,
			r->tracer_runs ? " and " : "");
	if (r->tracer_runs)
		fprintf(stderr, "%lld kernel", kernel);
	fprintf(stderr, " events%s in %s\n", not_recorded, mg_escape(dir, sizeof(dir), r->dir.dir));
}

int cmd_record(int argc, char **argv)
{
	struct recording r = {.gate = -1};
	sigset_t set;
	int err, failed;

	err = record_options_parse(&r.o, argc, argv);
	if (err)
		return err > 0 ? EXIT_DONE : err == -EINVAL ? EXIT_USAGE : EXIT_FAILED;
	join_command(&r);
	/* what is shared with a program is a file, and takes a descriptor; the address space that
	 * is allowed tells how much of it a program can have */
	mg_limits_raise(&r.limits, MG_LIMIT_SPACE);
	r.on_sigxfsz = signal(SIGXFSZ, SIG_IGN); /* as a full disk: it is told */
	if (record_dir_make(&r.dir, &r.o))
		return EXIT_FAILED;
	sigemptyset(&r.ending);
	sigaddset(&r.ending, SIGINT);
	sigaddset(&r.ending, SIGTERM);
	sigaddset(&r.ending, SIGHUP);
	sigaddset(&r.ending, SIGQUIT);
	set = r.ending;
	sigaddset(&set, SIGCHLD);
	sigprocmask(SIG_BLOCK, &set, &r.mask);
	r.on_sigpipe = signal(SIGPIPE, SIG_IGN);
	r.signals = signalfd(-1, &set, SFD_CLOEXEC);

	session_info_begin(&r.info, r.command_text, r.o.command);
	r.info.argc = r.o.given.anonymize ? 1 : INT_MAX;
	look_at_command(&r);
	err = start_recorders(&r);
	if (!err && session_file_write(r.dir.dir, &r.info, &r.app_result, NULL) &&
		errno == ENOMEM) { /* a full disk is told at the end */
		err = -ENOMEM;
		mg_error("cannot write %s/session.json: %s", r.dir.dir, strerror(errno));
	}
	if (!err) {
		session_info_start(&r.info);
		if (r.gate >= 0 && write(r.gate, r.collector.rings, sizeof(r.collector.rings)) <= 0)
			mg_error("cannot start %s", r.o.command[0]);
		wait_for_end(&r);
	}
	if (r.gate >= 0)
		close(r.gate);
	if (err && r.child > 0) { /* it has not begun */
		kill(r.child, SIGKILL);
		waitpid(r.child, NULL, 0);
	}
	if (err == -EINVAL) { /* wrong options: as if it had not been called */
		record_dir_remove(&r.dir);
		return EXIT_USAGE;
	}
	failed = stop_recorders(&r) || err;
	if (err) { /* nothing was recorded: it may be tried again */
		record_dir_remove(&r.dir);
		tracer_free(&r.tracer);
		return r.stopped_by ? 128 + r.stopped_by : EXIT_FAILED;
	}
	if (r.child > 0 && !err) {
		mg_warn("%s still runs, and is no longer recorded", r.o.command[0]);
		r.status = 128 + r.stopped_by;
	}
	r.info.ended = r.o.command && !err && r.child <= 0;
	r.info.status = r.status;
	r.info.complete = !failed;
	r.info.has_app = r.collector_runs;
	r.info.has_kernel = r.tracer_runs;
	r.info.app_ended = r.collector.ended;
	r.info.kernel_ended = r.tracer.ended;
	if (r.collector_runs && r.tracer_runs && !trace_align_clocks(r.dir.app, r.dir.kernel))
		mg_debug("clock offsets not aligned");
	if (session_file_write(r.dir.dir, &r.info, &r.app_result, r.tracer.done)) {
		mg_error("cannot write %s/session.json: %s", r.dir.dir, strerror(errno));
		failed = 1;
	}
	trace_give_to_invoker(r.dir.dir);
	if (!err)
		tell(&r, failed);
	callers_free(&r.app_result.callers);
	record_options_free(&r.o);
	tracer_free(&r.tracer);
	return failed ? EXIT_FAILED : r.status;
}
