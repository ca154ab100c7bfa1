/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "record_repeat.h"

#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "commands.h"
#include "log.h"
#include "printable.h"
#include "record_dir.h"
#include "record_signals.h"
#include "signal_ignored.h"
#include "trace_files.h"

struct repetition {
	const struct record_options *o;
	int (*once)(struct record_options *o);
	struct record_dir top;
	sigset_t waited; /* the signals that end a recording, and SIGCHLD */
	sigset_t mask;   /* signals that were blocked before */
	pid_t parent;
	int stopped_by; /* a signal that ends the repetition */
};

static void take_signals(struct repetition *r)
{
	static const int ending[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};

	sigemptyset(&r->waited);
	for (size_t i = 0; i < sizeof(ending) / sizeof(ending[0]); i++)
		sigaddset(&r->waited, ending[i]);
	if (mg_is_ignored(SIGHUP)) /* nohup */
		sigdelset(&r->waited, SIGHUP);
	sigaddset(&r->waited, SIGCHLD);
	record_add_passed(&r->waited);
	signal(SIGCHLD, SIG_DFL); /* where it is ignored, no status is left to wait for */
	sigprocmask(SIG_BLOCK, &r->waited, &r->mask);
}

/* Runs in the child: makes one recording. Does not return. */
static void become_recording(const struct repetition *r, const char *dir)
{
	struct record_options o = *r->o;
	int status;

	o.given.output = dir;
	prctl(PR_SET_PDEATHSIG, SIGTERM);
	if (getppid() != r->parent) /* it has ended before that call */
		_exit(EXIT_FAILED);
	sigprocmask(SIG_SETMASK, &r->mask, NULL);
	status = r->once(&o);
	fflush(NULL);
	_exit(status);
}

/*
 * Waits for a recording. A signal from the keyboard reaches it by itself; others are passed on.
 * Returns its exit status.
 */
static int wait_for(struct repetition *r, pid_t child)
{
	siginfo_t info;
	int status;

	for (;;) {
		int signal_number = sigwaitinfo(&r->waited, &info);

		if (signal_number > 0 && signal_number != SIGCHLD) {
			if (!record_passes_on(signal_number))
				r->stopped_by = signal_number;
			if (info.si_code <= 0)
				sigqueue(child, signal_number, (union sigval){0});
		}
		if (waitpid(child, &status, WNOHANG) == child)
			return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
	}
}

/* Takes a signal that came between two recordings. */
static void take_pending(struct repetition *r)
{
	static const struct timespec at_once;
	int signal_number;

	while ((signal_number = sigtimedwait(&r->waited, NULL, &at_once)) > 0)
		if (signal_number != SIGCHLD && !record_passes_on(signal_number))
			r->stopped_by = signal_number;
}

/* Makes one recording. Returns its exit status, or -1 after a message. */
static int record_in(struct repetition *r, const char *dir)
{
	pid_t child;

	fflush(NULL);
	child = fork();
	if (child < 0) {
		mg_error("cannot start a process: %s", strerror(errno));
		return -1;
	}
	if (child == 0)
		become_recording(r, dir);
	return wait_for(r, child);
}

static void tell(const struct repetition *r, uint64_t made)
{
	char plain[PATH_MAX];

	if (made && made < r->o->given.repeat)
		mg_warn("%llu of %llu recordings were made%s%s", (unsigned long long)made,
			(unsigned long long)r->o->given.repeat, r->stopped_by ? ": " : "",
			r->stopped_by ? strsignal(r->stopped_by) : "");
	if (made && !r->o->given.quiet)
		fprintf(stderr,
			"magnet: %llu recording%s in %s: compare with magnet report --against\n",
			(unsigned long long)made, made == 1 ? "" : "s",
			mg_escape(plain, sizeof(plain), r->top.dir));
}

int record_repeat(const struct record_options *o, int (*once)(struct record_options *o))
{
	struct repetition r = {.o = o, .once = once, .parent = getpid()};
	int first = EXIT_DONE, status = EXIT_DONE;
	uint64_t made = 0;
	struct stat st;

	if (record_dir_make_top(&r.top, o))
		return EXIT_FAILED;
	take_signals(&r);
	while (made < o->given.repeat && !r.stopped_by) {
		char dir[PATH_MAX];

		if (snprintf(dir, sizeof(dir), "%s/%llu", r.top.dir,
			    (unsigned long long)made + 1) >= (int)sizeof(dir)) {
			mg_error("the path is too long: %s", r.top.dir);
			status = -1;
			break;
		}
		status = record_in(&r, dir);
		if (!first && status > 0)
			first = status;
		if (status < 0 || stat(dir, &st) != 0) /* it has said why */
			break;
		made++;
		take_pending(&r);
	}
	if (!made && !r.top.was_there)
		rmdir(r.top.dir);
	else
		trace_give_to_invoker(r.top.dir);
	tell(&r, made);
	if (status < 0 && !first)
		first = EXIT_FAILED;
	return !first && r.stopped_by ? 128 + r.stopped_by : first;
}
