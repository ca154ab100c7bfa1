/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "collector.h"

#include <errno.h>
#include <limits.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "app_rings.h"
#include "app_trace.h"
#include "clock.h"
#include "confine.h"
#include "cpu_time.h"
#include "ctf.h"
#include "cycles.h"
#include "process_limits.h"
#include "log.h"
#include "pool_door.h"
#include "signal_name.h"

/*
 * A ring of the default size takes a thread's calls for some milliseconds even if it does nothing
 * else. The reader looks again the sooner the more it found.
 */
#define WAIT_MAX_MS 4
#define FULL_ENOUGH 20 /* percent */
#define FLUSH_NS    100000000ull

/*
 * Reads the calls that ended before the last pass: by now they are in their rings. Returns how full
 * the fullest ring was, in percent.
 */
static int pass(struct app_trace *w)
{
	const struct app_reader reader = app_trace_reader(w);
	uint64_t until = w->now.cycles, until_ns = w->now.mono_ns;
	int fullest;

	app_trace_read_clock(w);
	fullest = app_rings_read(w->rings, until, &reader);
	w->lost_until = w->now.mono_ns;
	if (!w->full_at) /* a clock reading would be behind the end */
		app_trace_put_clock(w, false);
	if (!w->error && w->now.mono_ns >= w->next_flush) {
		w->next_flush = w->now.mono_ns + FLUSH_NS;
		app_trace_flush(w, until_ns);
		app_trace_look_at_bounds(w, until_ns);
	}
	return fullest;
}

static void collect(struct app_trace *w, int control, unsigned int longest, struct own_use *use)
{
	const struct app_reader reader = app_trace_reader(w);
	struct pollfd p[] = {{control, POLLIN, 0}, {-1, POLLIN, 0}};
	unsigned int wait = 1;

	while (!w->error && !w->full_at) {
		int fullest;

		p[1].fd = app_rings_door(w->rings);
		if (poll(p, 2, (int)wait) > 0 && p[0].revents)
			break;
		if (p[1].revents)
			app_rings_answer(w->rings);
		fullest = pass(w);
		app_rings_see_to_door(w->rings, w->now.mono_ns);

		wait = fullest > FULL_ENOUGH ? 0 : fullest > 0 ? 1 : wait * 2 + 1;
		if (wait > longest)
			wait = longest;
	}
	own_use_cease(use);
	app_rings_want(w->rings, false);
	usleep(1000); /* a thread that was about to log has done so */
	app_trace_read_clock(w);
	app_rings_finish(w->rings, &reader);
	w->not_outer = app_rings_not_outer(w->rings);
	snprintf(w->why_unserved, sizeof(w->why_unserved), "%s", app_rings_why_unserved(w->rings));
	if (w->full_at) /* the trace ends before the last reading */
		app_trace_end(w, use);
	app_trace_put_clock(w, true);
	if (!w->full_at)
		app_trace_end(w, use);
	if (!w->error)
		w->error = ctf_flush(w->writer);
}

/* Writes a line of figures, a line of text, and a line for each process: its first and last call.
 */
static void say_end(const struct app_trace *w, int control, const struct own_use *use)
{
	const struct caller *p, *tmp;

	dprintf(control, "%llu %llu %llu %llu %llu %llu %llu %llu %llu %llu %llu %llu %d %d\n",
		(unsigned long long)w->events, (unsigned long long)w->lost,
		(unsigned long long)w->unfinished, (unsigned long long)w->no_room,
		(unsigned long long)w->untimed, (unsigned long long)w->unserved,
		(unsigned long long)w->unreached, (unsigned long long)w->not_outer,
		(unsigned long long)(own_cpu_ns() - use->began_cpu_ns),
		(unsigned long long)use->began_cpu_ns, (unsigned long long)own_use_running_ns(use),
		(unsigned long long)own_use_running_cpu_ns(use), w->full_at != 0, w->error);
	dprintf(control, "%s\n", w->why_unserved[0] ? w->why_unserved : "-");
	HASH_ITER (hh, w->callers.all, p, tmp) {
		dprintf(control, "%u %llu %llu\n", p->pid, (unsigned long long)p->first_ns,
			(unsigned long long)p->last_ns);
	}
	if (w->callers.more)
		dprintf(control, "more\n");
	close(control);
}

/* First message of the process: what went wrong, or MAGNET_RINGS. */
struct beginning {
	int err;
	char text[256];
};

static int begin(struct app_trace *w, const struct collector_options *o, struct beginning *b)
{
	char hint[64];
	char dir[PATH_MAX];
	int err;

	pool_door_sweep();
	snprintf(b->text, sizeof(b->text), "%s", strerror(ENOMEM));
	err = app_rings_create(&w->rings, o->buffer_bytes, b->text, sizeof(b->text));
	if (err)
		return err;
	snprintf(b->text, sizeof(b->text), "%s", app_rings_env(w->rings));
	w->lost_until = mg_monotonic_ns();
	w->ns_per_cycle =
		1e9 / (double)(o->began ? mg_counter_hz_since(o->began, 2) : mg_counter_hz(2));
	app_trace_read_clock(w);
	err = app_parts_begin(
		&w->parts, &o->bounds, o->dir, o->kernel_dir, w->now.mono_ns, dir, sizeof(dir));
	if (!err)
		err = ctf_open(&w->writer, dir, CTF_APP, 0);
	if (!err && o->kernel_dir)
		err = ctf_tell_other_side(w->writer);
	if (err) {
		snprintf(b->text, sizeof(b->text), "cannot make a trace in %.120s: %s%s", o->dir,
			strerror(-err), mg_limit_hint(err, hint, sizeof(hint)));
		app_rings_free(w->rings);
		return err;
	}
	app_trace_begin(w, w->now.mono_ns);
	w->clock = o->clock;
	app_trace_put_clock(w, false);
	if (!w->error)
		w->error = ctf_flush(w->writer);
	app_rings_want(w->rings, true);
	return 0;
}

/*
 * Gives up capabilities, unless the trace is another user's, and all system calls but those that
 * reading rings, serving programs and writing the trace take: programs write to the memory that the
 * collector reads.
 */
static void confine(const struct collector_options *o)
{
	static const char *const calls[] = {"accept4", "bind", "fchmod", "fchmodat", "flock",
		"getsockopt", "listen", "memfd_create", "mkdir", "mkdirat", NULL};
	struct stat st;
	bool foreign = stat(o->dir, &st) != 0 || st.st_uid != geteuid();
	int err = mg_keep_capabilities(foreign ? MG_CAPABILITY(CAP_DAC_OVERRIDE) : 0);

	if (err)
		mg_warn("the collector cannot give up capabilities: %s", strerror(-err));
	err = mg_keep_calls(calls);
	if (err)
		mg_warn("the collector cannot give up system calls: %s", strerror(-err));
}

/* Closes the descriptors of the program and of the user. */
static void close_foreign(int control)
{
	int nothing = open("/dev/null", O_RDWR | O_CLOEXEC);

	if (nothing >= 0) {
		dup2(nothing, STDIN_FILENO);
		dup2(nothing, STDOUT_FILENO);
	}
	mg_close_others(control, -1);
}

static int run(const struct collector_options *o, int control)
{
	unsigned int longest = o->drain_ms && o->drain_ms < WAIT_MAX_MS ? o->drain_ms : WAIT_MAX_MS;
	struct beginning b = {0};
	struct app_trace w = {0};
	sigset_t all;
	struct own_use use;

	close_foreign(control);
	setsid(); /* Ctrl-C is for the program */
	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, NULL);
	signal(SIGPIPE, SIG_IGN);
	setpriority(PRIO_PROCESS, 0, -10); /* the rings must be read in time, which takes little */
	b.err = begin(&w, o, &b);
	if (!b.err)
		confine(o);
	if (write(control, &b, sizeof(b)) != sizeof(b) && !b.err) {
		app_rings_free(w.rings); /* the parent is gone */
		return 1;
	}
	if (b.err)
		return 1;
	own_use_begin(&use);
	collect(&w, control, longest, &use);
	if (ctf_close(w.writer) && !w.error)
		w.error = -EIO;
	app_rings_free(w.rings);
	app_parts_end(&w.parts);
	say_end(&w, control, &use);
	return w.error ? 1 : 0;
}

int collector_start(struct collector *c, const struct collector_options *o)
{
	struct beginning b = {
		.err = -EPIPE, .text = "the application side's collector does not start"};
	int pair[2], status, err;

	memset(c, 0, sizeof(*c));
	c->control = -1;
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) != 0)
		return -errno;
	c->pid = fork();
	err = errno;
	if (c->pid == 0) {
		close(pair[0]);
		_exit(run(o, pair[1]));
	}
	close(pair[1]);
	if (c->pid > 0 && recv(pair[0], &b, sizeof(b), MSG_WAITALL) == sizeof(b) && !b.err) {
		c->control = pair[0];
		snprintf(c->rings, sizeof(c->rings), "%.191s", b.text);
		return 0;
	}
	snprintf(c->why, sizeof(c->why), "%.255s", b.text);
	if (c->pid > 0 && waitpid(c->pid, &status, 0) == c->pid && WIFSIGNALED(status))
		snprintf(c->why, sizeof(c->why),
			"the application side's collector was killed by signal %d (%s)",
			WTERMSIG(status), signal_name(WTERMSIG(status)));
	if (c->pid < 0)
		snprintf(c->why, sizeof(c->why),
			"the application side's collector cannot be started: %s", strerror(err));
	c->pid = 0;
	close(pair[0]);
	return b.err ? b.err : -EPIPE;
}

int collector_stop(struct collector *c, struct collector_result *r, int timeout_ms)
{
	struct pollfd p = {c->control, POLLIN, 0};
	unsigned long long events, lost, unfinished, no_room, untimed, unserved, unreached,
		not_outer, cpu, setup, running, running_cpu;
	unsigned long long first, last;
	char hint[64];
	int error = 0, answered = 0, status = 0, full = 0;
	bool in_time;
	unsigned int pid;
	FILE *f = NULL;

	if (c->pid <= 0)
		return 0;
	memset(r, 0, sizeof(*r));
	shutdown(c->control, SHUT_WR);
	in_time = poll(&p, 1, timeout_ms) > 0;
	if (in_time)
		f = fdopen(c->control, "r");
	if (f) {
		answered = fscanf(f,
				   "%llu %llu %llu %llu %llu %llu %llu %llu %llu %llu %llu %llu "
				   "%d %d "
				   "%159[^\n]",
				   &events, &lost, &unfinished, &no_room, &untimed, &unserved,
				   &unreached, &not_outer, &cpu, &setup, &running, &running_cpu,
				   &full, &error, r->why_unserved) == 15;
		while (answered && fscanf(f, "%u %llu %llu", &pid, &first, &last) == 3) {
			callers_count(&r->callers, pid, first, true);
			callers_count(&r->callers, pid, last, true);
		}
		r->callers.more |= !feof(f);
	}
	if (answered) {
		r->events = events;
		r->discarded = lost;
		r->unfinished = unfinished;
		r->no_room = no_room;
		r->untimed = untimed;
		r->unserved = unserved;
		r->unreached = unreached;
		r->not_outer = not_outer;
		r->cpu_ns = cpu;
		r->setup_cpu_ns = setup;
		r->running_ns = running;
		r->running_cpu_ns = running_cpu;
		r->complete = error == 0;
		if (full)
			snprintf(c->ended, sizeof(c->ended), APP_TRACE_FULL);
		if (error == -ENOSPC)
			snprintf(c->why, sizeof(c->why),
				"no space left: recording ended early; the trace up to then is "
				"readable");
		else if (error)
			snprintf(c->why, sizeof(c->why), "recording ended early: %s%s",
				strerror(-error), mg_limit_hint(error, hint, sizeof(hint)));
	} else if (in_time) { /* the trace is complete: it is written before the answer */
		error = f ? -EPIPE : -errno;
		snprintf(c->why, sizeof(c->why), "the answer of its collector cannot be read: %s",
			strerror(-error));
	} else {
		error = -ETIMEDOUT;
		snprintf(c->why, sizeof(c->why),
			"its collector did not end in time, and was killed");
		kill(c->pid, SIGKILL);
	}
	waitpid(c->pid, &status, 0);
	if (in_time && WIFSIGNALED(status)) {
		snprintf(c->ended, sizeof(c->ended), "killed by signal %d (%s)", WTERMSIG(status),
			signal_name(WTERMSIG(status)));
		snprintf(c->why, sizeof(c->why), "its collector was %s", c->ended);
	}
	if (f)
		fclose(f);
	else
		close(c->control);
	c->pid = 0;
	return error;
}
