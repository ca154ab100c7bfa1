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
#include "collector_parts.h"
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
#define CLOCK_NS    90000000ull
#define FUTURE_NS   100000000ull /* of calls that end while the rings are read */
#define LOOK_EVERY  512          /* calls: whether the trace has become too large */
#define FULL        "it has reached --max-size"

struct work {
	struct app_rings *rings;
	struct ctf_writer *writer;
	struct mg_clock_sync base,
		now; /* readings: an old one, for the counter's rate, and the last */
	double ns_per_cycle;
	uint64_t lost, unfinished, no_room, untimed, unserved, not_outer, events;
	char why_unserved[160];
	uint64_t lost_until; /* ns */
	uint64_t next_flush, next_clock;
	struct callers callers;
	bool clock;
	struct app_parts parts;
	uint64_t full_at; /* ns; the trace has all the bytes that were asked for, 0 = not yet */
	int error;
};

/* ---- the trace ---- */

/* A time shortly before the last reading; what a program made up is at least not outside the trace.
 */
static uint64_t to_ns(const struct work *w, uint64_t cycles)
{
	double age = (double)(int64_t)(w->now.cycles - cycles) * w->ns_per_cycle;

	if (age > (double)w->now.mono_ns)
		return 0;
	if (age < -(double)FUTURE_NS)
		return w->now.mono_ns;
	return w->now.mono_ns - (uint64_t)(int64_t)age;
}

/* The rate is taken over a tenth of a second to ten, so that a reading's own error does not matter.
 */
static void read_clock(struct work *w)
{
	mg_clock_sync_read(&w->now, 10);
	if (!w->base.cycles || w->now.mono_ns - w->base.mono_ns > 10000000000ull) {
		struct mg_clock_sync last = w->base;

		w->base = w->now;
		if (!last.cycles)
			return;
		w->base.mono_ns -= 1000000000; /* a point on the same line */
		w->base.cycles -= (uint64_t)(1e9 / w->ns_per_cycle);
		return;
	}
	if (w->now.mono_ns - w->base.mono_ns > 100000000)
		w->ns_per_cycle = (double)(w->now.mono_ns - w->base.mono_ns) /
				  (double)(w->now.cycles - w->base.cycles);
}

/* A packet before all losses: babeltrace2 counts them from one to the next. */
static void put_begin(struct work *w, uint64_t from_ns)
{
	struct mg_app_begin e = {.from_ns = from_ns,
		.events = w->events,
		.number = app_parts_number(&w->parts),
		.flight = app_parts_is_flight(&w->parts)};

	if (!w->error)
		w->error = ctf_event_of(w->writer, MG_EVENT_app_begin, e.from_ns, 0, 0, &e,
			MG_PAYLOAD_SIZE(APP_BEGIN));
}

static void put_end(struct work *w, const struct own_use *use)
{
	struct mg_app_end e = {
		.events = w->events, .lost = w->lost, .cpu_ns = own_cpu_ns() - use->began_cpu_ns};

	if (w->full_at)
		snprintf(e.why, sizeof(e.why), FULL);
	if (!w->error)
		w->error = ctf_tell_contents(w->writer, w->full_at ? 1 + w->clock : 1);
	if (!w->error)
		w->error = ctf_event_of(w->writer, MG_EVENT_app_end,
			w->full_at ? w->full_at : mg_monotonic_ns(), 0, 0, &e,
			MG_PAYLOAD_SIZE(APP_END));
}

static void put_clock(struct work *w, bool now)
{
	if (!w->clock || w->error || (!now && w->now.mono_ns < w->next_clock))
		return;
	w->next_clock = w->now.mono_ns + CLOCK_NS;
	w->error = ctf_event_of(w->writer, MG_EVENT_clock_sync, w->now.mono_ns, 0, 0, &w->now,
		MG_PAYLOAD_SIZE(CLOCK_SYNC));
}

/* ---- what bounds it ---- */

/* What was written so far is of calls up to `t`: those that come later are another part's. */
static void next_part(struct work *w, uint64_t t)
{
	uint64_t bytes = ctf_bytes(w->writer);
	char dir[64];

	put_clock(w, true);
	if (!w->error)
		w->error = ctf_tell_contents(w->writer, 0);
	if (!w->error)
		w->error = app_parts_next(&w->parts, bytes, t, dir, sizeof(dir));
	if (!w->error)
		w->error = ctf_next(w->writer, dir);
	put_begin(w, t);
	put_clock(w, true);
	if (!w->error)
		w->error = ctf_flush(w->writer);
	app_parts_forget_old(&w->parts, bytes, t);
}

/* Call when all calls up to `t` have been written that there were. */
static void look_at_bounds(struct work *w, uint64_t t)
{
	uint64_t bytes = ctf_bytes(w->writer), most = w->parts.bounds.max_bytes;

	if (most && bytes >= most && !w->full_at)
		w->full_at = t;
	else if (!w->error && app_parts_are_due(&w->parts, bytes, t))
		next_part(w, t);
}

static void on_call(void *arg, unsigned int fn, const struct mg_call *c)
{
	struct work *w = arg;
	uint64_t t = to_ns(w, c->exit);

	if (w->full_at)
		return;
	w->events++;
	callers_count(&w->callers, c->pid, t, true);
	if (!w->error)
		w->error = ctf_event_of(w->writer, (uint16_t)(MG_APP_BASE + fn), t, c->tid, c->pid,
			c, MG_PAYLOAD_SIZE(CALL));
	if (w->events % LOOK_EVERY == 0)
		look_at_bounds(w, t);
}

static void on_mark(void *arg, const struct mg_mark *m)
{
	struct work *w = arg;

	if (w->full_at)
		return;
	w->events++;
	if (!w->error)
		w->error = ctf_event_of(w->writer, MG_EVENT_mark, to_ns(w, m->at), m->tid, m->pid,
			m, MG_PAYLOAD_SIZE(MARK));
}

static void on_lost(
	void *arg, enum app_loss why, uint64_t count, uint32_t tid, uint64_t after, uint64_t before)
{
	struct work *w = arg;
	struct mg_lost e = {.count = count, .cpu = -1, .reason = why};

	e.from_ns = after ? to_ns(w, after) : w->lost_until;
	e.to_ns = before ? to_ns(w, before) : w->now.mono_ns;
	if (w->full_at && e.from_ns >= w->full_at)
		return;
	if (w->full_at && e.to_ns > w->full_at)
		e.to_ns = w->full_at;
	if (e.from_ns > e.to_ns)
		e.from_ns = e.to_ns;
	if (why == APP_LOST_NO_ROOM)
		snprintf(e.producer, sizeof(e.producer), "libmagnet, without room");
	else if (why == APP_LOST_UNTIMED)
		snprintf(e.producer, sizeof(e.producer), "libmagnet, counter forbidden");
	else if (why == APP_LOST_UNSERVED)
		snprintf(e.producer, sizeof(e.producer), "programs without a ring");
	else if (why == APP_LOST_NOT_COUNTED)
		snprintf(e.producer, sizeof(e.producer), "thread %u, count unknown", tid);
	else
		snprintf(e.producer, sizeof(e.producer), "libmagnet, thread %u", tid);
	w->lost += count;
	if (why == APP_LOST_UNFINISHED)
		w->unfinished += count;
	if (why == APP_LOST_NO_ROOM)
		w->no_room += count;
	if (why == APP_LOST_UNTIMED)
		w->untimed += count;
	if (why == APP_LOST_UNSERVED)
		w->unserved += count;
	ctf_set_discarded(w->writer, CTF_OWN_STREAM, w->lost);
	if (!w->error)
		w->error = ctf_event_of(
			w->writer, MG_EVENT_lost, e.to_ns, tid, 0, &e, MG_PAYLOAD_SIZE(LOST));
}

/* ---- the process ---- */

/* Calls that ended before the last pass are in their rings by now, whoever made them. */
static int pass(struct work *w)
{
	const struct app_reader reader = {w, on_call, on_mark, on_lost};
	uint64_t until = w->now.cycles, until_ns = w->now.mono_ns;
	int fullest;

	read_clock(w);
	fullest = app_rings_read(w->rings, until, &reader);
	w->lost_until = w->now.mono_ns;
	if (!w->full_at) /* else the end comes before it */
		put_clock(w, false);
	if (!w->error && w->now.mono_ns >= w->next_flush) {
		w->next_flush = w->now.mono_ns + FLUSH_NS;
		w->error = ctf_flush(w->writer);
		look_at_bounds(w, until_ns);
	}
	return fullest;
}

static void collect(struct work *w, int control, unsigned int longest, struct own_use *use)
{
	const struct app_reader reader = {w, on_call, on_mark, on_lost};
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
	usleep(1000); /* who was about to log has done so */
	read_clock(w);
	app_rings_finish(w->rings, &reader);
	w->not_outer = app_rings_not_outer(w->rings);
	snprintf(w->why_unserved, sizeof(w->why_unserved), "%s", app_rings_why_unserved(w->rings));
	if (w->full_at) /* it ended then */
		put_end(w, use);
	put_clock(w, true);
	if (!w->full_at)
		put_end(w, use);
	if (!w->error)
		w->error = ctf_flush(w->writer);
}

/* One line of figures, one of words, then one for each process that was seen: its first call, and
 * its last. */
static void say_end(const struct work *w, int control, const struct own_use *use)
{
	const struct caller *p, *tmp;

	dprintf(control, "%llu %llu %llu %llu %llu %llu %llu %llu %llu %llu %llu %d %d\n",
		(unsigned long long)w->events, (unsigned long long)w->lost,
		(unsigned long long)w->unfinished, (unsigned long long)w->no_room,
		(unsigned long long)w->untimed, (unsigned long long)w->unserved,
		(unsigned long long)w->not_outer,
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

/* How the process begins: what went wrong, or where the rings are. */
struct beginning {
	int err;
	char text[256];
};

static int begin(struct work *w, const struct collector_options *o, struct beginning *b)
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
	w->ns_per_cycle = 1e9 / (double)mg_counter_hz(2);
	read_clock(w);
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
	put_begin(w, w->now.mono_ns);
	w->clock = o->clock;
	put_clock(w, false);
	if (!w->error)
		w->error = ctf_flush(w->writer);
	app_rings_want(w->rings, true);
	return 0;
}

/*
 * Programs write to what it reads. From now on it has what that, its door for programs and the
 * trace take: no capability, unless the trace is another user's, and no call that runs a program,
 * makes a connection or touches another process.
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

/* Descriptors of the program's and of whoever runs magnet are no business of the collector. */
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
	struct work w = {0};
	sigset_t all;
	struct own_use use;

	close_foreign(control);
	setsid(); /* Ctrl-C is for the program */
	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, NULL);
	signal(SIGPIPE, SIG_IGN);
	setpriority(PRIO_PROCESS, 0, -10); /* it works little, but must come in time */
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
	struct beginning b = {.err = -EPIPE, .text = "its collector does not begin"};
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
		snprintf(c->why, sizeof(c->why), "its collector was killed by signal %d (%s)",
			WTERMSIG(status), signal_name(WTERMSIG(status)));
	if (c->pid < 0)
		snprintf(c->why, sizeof(c->why), "its collector cannot be started: %s",
			strerror(err));
	c->pid = 0;
	close(pair[0]);
	return b.err ? b.err : -EPIPE;
}

int collector_stop(struct collector *c, struct collector_result *r, int timeout_ms)
{
	struct pollfd p = {c->control, POLLIN, 0};
	unsigned long long events, lost, unfinished, no_room, untimed, unserved, not_outer, cpu,
		setup, running, running_cpu;
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
				   "%llu %llu %llu %llu %llu %llu %llu %llu %llu %llu %llu %d %d "
				   "%159[^\n]",
				   &events, &lost, &unfinished, &no_room, &untimed, &unserved,
				   &not_outer, &cpu, &setup, &running, &running_cpu, &full, &error,
				   r->why_unserved) == 14;
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
		r->not_outer = not_outer;
		r->cpu_ns = cpu;
		r->setup_cpu_ns = setup;
		r->running_ns = running;
		r->running_cpu_ns = running_cpu;
		r->complete = error == 0;
		if (full)
			snprintf(c->ended, sizeof(c->ended), FULL);
		if (error == -ENOSPC)
			snprintf(c->why, sizeof(c->why),
				"no space left: recording ended early, what is there is readable");
		else if (error)
			snprintf(c->why, sizeof(c->why), "recording ended early: %s%s",
				strerror(-error), mg_limit_hint(error, hint, sizeof(hint)));
	} else if (in_time) { /* it has written everything before it tells so */
		error = f ? -EPIPE : -errno;
		snprintf(c->why, sizeof(c->why), "how it ended cannot be read: %s",
			strerror(-error));
	} else {
		error = -ETIMEDOUT;
		snprintf(c->why, sizeof(c->why), "it did not end in time, and was ended");
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
