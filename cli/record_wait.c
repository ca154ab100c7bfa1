/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "record_wait.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "clock.h"
#include "log.h"
#include "record_signals.h"
#include "signal_ignored.h"

#define STOP_MS  60000         /* a slow disk may have much to take */
#define GRACE_NS 2000000000ull /* between asking COMMAND to end and leaving it */

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

static bool is_flight(const struct recorder_options *o)
{
	return o->flight.bytes || o->flight.ns;
}

/* Writes a dump; the application side keeps what it has for each dump of the kernel side. */
static void dump(const struct recording *r)
{
	if (r->tracer_runs && r->tracer.pid > 0)
		kill(r->tracer.pid, SIGUSR1);
	else
		mg_warn("no dump is written: the kernel side writes them, and is not recorded");
}

/*
 * Counts a signal that ends the recording. One to the whole process group comes by itself, and is
 * passed on by who repeats the recording: that is one. Returns whether it is a new one.
 */
static bool counts(struct recording *r, const struct signalfd_siginfo *info)
{
	bool passed_on = r->o.given.repeat && info->ssi_code == SI_QUEUE &&
			 (pid_t)info->ssi_pid == getppid();
	int *n = passed_on ? &r->passed_on : &r->by_itself;
	int before = r->interrupts;

	++*n;
	r->interrupts = r->passed_on > r->by_itself ? r->passed_on : r->by_itself;
	return r->interrupts > before;
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
	if (info.ssi_signo == SIGUSR1 && is_flight(&r->o.given)) {
		dump(r);
		return;
	}
	if (record_passes_on((int)info.ssi_signo) &&
		(r->o.command || mg_is_ignored((int)info.ssi_signo))) {
		if (r->child > 0)
			kill(r->child, (int)info.ssi_signo);
		return;
	}
	if (!counts(r, &info))
		return;
	if (!r->o.command || r->interrupts > 1) {
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

/* Ends the collector. If it has ended before, a message says so, since the program still runs. */
static void stop_collector(struct recording *r)
{
	const char *go_on = r->stopping ? "" : "; calls from now on are not recorded";

	if (r->collector.pid <= 0) /* already stopped */
		return;
	if (collector_stop(&r->collector, &r->app_result, STOP_MS)) {
		mg_error("application side: %s%s", r->collector.why, go_on);
		r->side_failed = true;
	} else if (r->collector.ended[0]) {
		mg_warn("application side: %s%s", r->collector.ended, go_on);
	}
}

/* Ends the tracer. An end that the user has asked for, as by --max-size, is no failure. */
static void stop_tracer(struct recording *r)
{
	const char *go_on =
		r->stopping ? "" : "; events of the kernel from now on are not recorded";
	bool by_signal;

	if (r->tracer.pid <= 0) /* already stopped */
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

/* Ends the recording in an LTTng session. A second call does nothing. */
static void stop_session(struct recording *r)
{
	char why[1024];

	if (app_session_end(r->session, &r->app_result.discarded, why, sizeof(why))) {
		mg_error("application side: %s", why);
		r->side_failed = true;
	}
}

/* Lets the LTTng session follow a part or a dump of the kernel side. */
static void follow(struct recording *r)
{
	char why[1024];

	if (app_session_follow(r->session, why, sizeof(why)))
		mg_warn("application side: %s", why);
}

void record_wait(struct recording *r)
{
	uint64_t until = r->o.given.duration ? mg_monotonic_ns() + r->o.given.duration : 0;
	struct pollfd fds[] = {
		{r->signals, POLLIN, 0},
		{r->tracer_runs ? r->tracer.control : -1, POLLIN, 0},
		{r->collector_runs ? r->collector.control : -1, POLLIN, 0},
		{app_session_watch(r->session), POLLIN, 0},
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
		if (poll(fds, 4, wait) < 0 && errno != EINTR)
			break;
		if (fds[0].revents)
			on_signal(r);
		/* the recorders speak only when they end */
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
		if (fds[3].revents)
			follow(r);
	}
}

bool record_stop(struct recording *r)
{
	session_info_stop(&r->info);
	r->stopping = true;
	if (r->tracer_runs)
		tracer_ask_stop(&r->tracer);
	if (r->collector_runs)
		stop_collector(r);
	if (r->session_runs)
		stop_session(r);
	if (r->tracer_runs)
		stop_tracer(r);
	return r->side_failed;
}
