/* SPDX-License-Identifier: MIT */
/* magnet-kernel-tracer: records kernel events into a CTF trace until told to stop. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <bpf/libbpf.h>

#include "chosen.h"
#include "clock.h"
#include "clock_cpus.h"
#include "clock_reader.h"
#include "cpu_time.h"
#include "log.h"
#include "options.h"
#include "tracer.h"
#include "version.h"

struct run {
	struct tracer_options options;
	struct hooks hooks;
	struct ctf_writer *writer;
	struct drain *drain;
	struct clock_reader *clock;
	struct clock_cpus *clock_cpus; /* while the CPUs' counters are compared */
	struct netns_hooks *netns;
	struct chosen *chosen;
	struct ring_buffer *new_netns;
	struct hook_status *hook; /* outcomes, for the parent */
	size_t hook_count;
	struct mg_calibration calibration;
	int signals;
	pid_t child;
	int child_status;
	/* these COMMAND gets as the tracer was given them */
	sigset_t mask;
	mode_t umask;
	void (*sigpipe)(int);
	uint64_t next_look, stop_at;
	uint64_t cpu_at_start; /* used for starting, ns */
	bool stop;
};

static void on_hook(void *arg, const struct hook_status *status)
{
	struct run *r = arg;
	struct mg_hook e = {.status = status->status, .netns = status->netns};
	struct hook_status *more = realloc(r->hook, (r->hook_count + 1) * sizeof(*more));

	if (!more)
		return;
	r->hook = more;
	more[r->hook_count++] = *status;
	snprintf(e.layer, sizeof(e.layer), "%s", mg_layer_names[status->layer]);
	snprintf(e.hook, sizeof(e.hook), "%s", status->what);
	drain_note(r->drain, MG_EVENT_hook, &e, MG_PAYLOAD_SIZE(HOOK));
	if (status->status && r->options.control < 0)
		mg_warn("%s: %s cannot be attached: %s", mg_layer_names[status->layer],
			status->what, strerror(-status->status));
}

static int on_new_netns(void *arg, void *data, size_t size)
{
	struct run *r = arg;
	const struct mg_new_netns *n = data;

	if (size >= sizeof(*n))
		netns_attach(r->netns, n->inum, (pid_t)n->pid);
	return 0;
}

/* One line about what went wrong: to the parent if there is one, else to the user. */
static int fail(const struct run *r, int err, const char *fmt, ...)
{
	char text[512];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	for (char *p = text; *p; p++)
		if (*p == '"' || *p == '\\' || (unsigned char)*p < ' ')
			*p = '\'';
	if (r->options.control < 0)
		mg_error("%s", text);
	else
		dprintf(r->options.control, "{\"failed\": true, \"error\": \"%s\"}\n", text);
	return err;
}

static void on_clock_cpus(void *arg, const struct mg_clock_cpus *one)
{
	struct run *r = arg;

	if (r->drain)
		drain_note(r->drain, MG_EVENT_clock_cpus, one, MG_PAYLOAD_SIZE(CLOCK_CPUS));
}

static void end_clock_cpus(struct run *r)
{
	clock_cpus_end(r->clock_cpus, on_clock_cpus, r);
	r->clock_cpus = NULL;
}

/* The hooks in, costs measured, and the trace begun. */
static int begin(struct run *r)
{
	struct tracer_options *o = &r->options;
	double bare[2], hooked[2];
	int err;

	err = calibrate_call(&bare[0], &bare[1]);
	if (err)
		return fail(r, err, "no socket for calibration: %s", strerror(-err));
	clock_cpus_start(&r->clock_cpus); /* without it offsets are not known, and that is told */
	err = hooks_load(&r->hooks, o);
	if (err)
		return fail(r, err, "%s", r->hooks.why[0] ? r->hooks.why : strerror(-err));
	err = hooks_attach_calls(&r->hooks);
	if (err)
		return fail(r, err, "cannot attach to system calls: %s", strerror(-err));
	err = o->all ? 0 : calibrate_follow_self(&r->hooks, true);
	if (err)
		return fail(r, err, "cannot mark a task as traced: %s", strerror(-err));
	calibrate_call(&hooked[0], &hooked[1]);
	if (!o->all)
		calibrate_follow_self(&r->hooks, false);
	calibrate_result(&r->calibration, bare, hooked);
	err = ctf_open(&r->writer, o->dir, CTF_KERNEL, r->hooks.cpus);
	if (err)
		return fail(r, err, "cannot make a trace in %s: %s", o->dir, strerror(-err));
	err = drain_new(&r->drain, &r->hooks, r->writer);
	if (!err)
		err = hooks_attach(&r->hooks, on_hook, r);
	if (err)
		return fail(r, err, "%s", strerror(-err));
	drain_note(r->drain, MG_EVENT_calibration, &r->calibration, MG_PAYLOAD_SIZE(CALIBRATION));
	end_clock_cpus(r);
	r->netns = netns_new(&r->hooks, o->layers & 1u << MG_LAYER_IP, on_hook, r);
	r->new_netns =
		ring_buffer__new(hooks_map_fd(&r->hooks, "new_netns"), on_new_netns, r, NULL);
	if (!r->netns || !r->new_netns)
		return fail(r, -ENOMEM, "out of memory");
	netns_attach_initial(r->netns, o);
	err = hooks_follow(&r->hooks);
	if (err)
		return fail(r, err, "cannot follow what runs already: %s", strerror(-err));
	err = chosen_start(r->chosen, r->writer, on_hook, r);
	if (err)
		return fail(r, err, "cannot record chosen events: %s", strerror(-err));
	return 0;
}

/* What --event names is looked for first: a wrong name is wrong usage, and nothing has begun. */
static int choose_events(struct run *r)
{
	char why[1024];
	int err = chosen_open(&r->chosen, &r->options, why, sizeof(why));

	return err ? fail(r, err, "%s", why) : 0;
}

static uint64_t lost(const struct run *r)
{
	return drain_lost(r->drain) + chosen_lost(r->chosen);
}

/* COMMAND waits, stopped at its first instruction, until it is followed. */
static int start_command(struct run *r, int *go)
{
	int gate[2];

	if (pipe2(gate, O_CLOEXEC) != 0)
		return -errno;
	r->child = fork();
	if (r->child < 0)
		return -errno;
	if (r->child == 0) {
		char c;

		close(gate[1]);
		signal(SIGPIPE, r->sigpipe);
		umask(r->umask);
		sigprocmask(SIG_SETMASK, &r->mask, NULL);
		if (read(gate[0], &c, 1) != 1)
			_exit(125);
		execvp(r->options.command[0], r->options.command);
		mg_error("cannot run %s: %s", r->options.command[0], strerror(errno));
		_exit(errno == ENOENT ? 127 : 126);
	}
	close(gate[0]);
	*go = gate[1];
	r->options.pid = r->child;
	r->options.fresh = true;
	return 0;
}

#define CALLERS_MAX 1000 /* that the parent is told of */

static void say_callers(const struct run *r, FILE *f)
{
	const struct caller *p, *tmp;
	int n = 0;

	HASH_ITER (hh, drain_callers(r->drain)->all, p, tmp) {
		char name[sizeof(p->comm)];

		if (!p->moved || n == CALLERS_MAX)
			continue;
		for (size_t i = 0; i < sizeof(name); i++) {
			name[i] = p->comm[i];
			if (name[i] && (name[i] < ' ' || name[i] == '"' || name[i] == '\\' ||
					       name[i] > '~'))
				name[i] = '_';
		}
		fprintf(f, "%s{\"pid\": %u, \"comm\": \"%s\", \"calls\": %llu}", n++ ? ", " : "",
			p->pid, name, (unsigned long long)p->calls);
	}
}

static void say(const struct run *r, const char *what)
{
	FILE *f;
	int fd;

	if (r->options.control < 0)
		return;
	fd = dup(r->options.control);
	f = fd >= 0 ? fdopen(fd, "w") : NULL;
	if (!f)
		return;
	fprintf(f,
		"{\"%s\": true, \"events\": %llu, \"bytes\": %llu, \"lost\": %llu, "
		"\"skipped\": %llu, \"cpu_ns\": %llu, \"ring_bytes\": %llu, \"counter_hz\": %llu, "
		"\"invariant\": %s, "
		"\"event_cycles\": %u, \"hooks\": [",
		what, (unsigned long long)ctf_events(r->writer),
		(unsigned long long)ctf_bytes(r->writer), (unsigned long long)lost(r),
		(unsigned long long)drain_skipped(r->drain),
		(unsigned long long)(process_cpu_ns(getpid()) - r->cpu_at_start),
		(unsigned long long)(r->hooks.ring_slots * sizeof(struct mg_slot)),
		(unsigned long long)r->calibration.counter_hz,
		r->calibration.invariant ? "true" : "false", r->calibration.event_cycles);
	for (size_t i = 0; i < r->hook_count; i++)
		fprintf(f, "%s{\"layer\": \"%s\", \"hook\": \"%s\", \"status\": %d, \"netns\": %u}",
			i ? ", " : "", mg_layer_names[r->hook[i].layer], r->hook[i].what,
			r->hook[i].status, r->hook[i].netns);
	fprintf(f, "], \"callers\": [");
	say_callers(r, f);
	fprintf(f, "]}\n");
	fclose(f);
}

/* Whatever the parent says, or its end, means stop. */
static void read_control(struct run *r)
{
	char line[128];

	if (read(r->options.control, line, sizeof(line)) >= 0 || errno != EINTR)
		r->stop = true;
}

static void read_signal(struct run *r)
{
	struct signalfd_siginfo info;
	int status;

	if (read(r->signals, &info, sizeof(info)) != (ssize_t)sizeof(info))
		return;
	if (info.ssi_signo != SIGCHLD) {
		r->stop = true;
		return;
	}
	if (r->child > 0 && waitpid(r->child, &status, WNOHANG) == r->child) {
		r->child_status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
		r->child = 0;
		r->stop = true;
	}
}

/* What the clock's reader has read, stamped with its own instant and not with that of writing. */
static int write_clock(struct run *r)
{
	struct mg_clock_sync sync;
	int err = 0;

	while (!err && clock_reader_take(r->clock, &sync))
		err = ctf_event(r->writer, CTF_OWN_STREAM, MG_EVENT_clock_sync, sync.mono_ns, &sync,
			MG_PAYLOAD_SIZE(CLOCK_SYNC));
	return err;
}

/* The clock; and every 100 ms at most what programs were skipped, and namespaces that are gone. */
static int periodic(struct run *r, uint64_t now)
{
	int err = write_clock(r);

	if (err || now < r->next_look)
		return err;
	r->next_look = now + 90000000;
	if (r->netns)
		netns_release(r->netns);
	return drain_check_misses(r->drain);
}

static int loop(struct run *r)
{
	enum { SIGNALS, NEW_NETNS, CONTROL };
	struct pollfd fds[] = {
		{r->signals, POLLIN, 0},
		{ring_buffer__epoll_fd(r->new_netns), POLLIN, 0},
		{r->options.control, POLLIN, 0},
	};
	int wait = 0, err = 0, chosen_fill;

	while (!r->stop) {
		uint64_t now;

		if (poll(fds, 3, wait) < 0 && errno != EINTR)
			return -errno;
		if (fds[NEW_NETNS].revents)
			ring_buffer__consume(r->new_netns);
		if (fds[SIGNALS].revents)
			read_signal(r);
		if (fds[CONTROL].revents)
			read_control(r);
		err = drain_pass(r->drain);
		chosen_fill = err < 0 ? err : chosen_pass(r->chosen);
		if (chosen_fill < 0)
			return chosen_fill;
		/* a ring that fills fast is read again at once */
		wait = err > 25 || chosen_fill > 25 ? 0 : (int)r->options.drain_ms;
		now = mg_monotonic_ns();
		err = periodic(r, now) ?: ctf_flush(r->writer);
		if (err)
			return err;
		if (r->stop_at && now >= r->stop_at)
			r->stop = true;
	}
	return 0;
}

/* Everything that was recorded reaches the trace, then one last clock reading and the end mark. */
static int finish(struct run *r)
{
	struct mg_trace_end e = {0};
	int err;

	clock_cpus_start(&r->clock_cpus);
	hooks_detach(&r->hooks);
	netns_free(r->netns);
	r->netns = NULL;
	usleep(2000); /* programs that still run on another CPU */
	err = drain_finish(r->drain) ?: chosen_finish(r->chosen);
	end_clock_cpus(r);
	clock_reader_stop(r->clock);
	r->next_look = 0;
	if (!err)
		err = periodic(r, mg_monotonic_ns());
	e.events = ctf_events(r->writer) + 1;
	e.lost = lost(r);
	e.cpu_ns = process_cpu_ns(getpid()) - r->cpu_at_start;
	if (!err)
		err = drain_note(r->drain, MG_EVENT_trace_end, &e, MG_PAYLOAD_SIZE(TRACE_END));
	return err ? err : ctf_flush(r->writer);
}

int main(int argc, char **argv)
{
	struct run r = {0};
	sigset_t set;
	int err, gate = -1;
	bool usage = false;

	mg_standard_fds();
	mg_log_name("magnet-kernel-tracer");
	err = tracer_options_parse(&r.options, argc, argv);
	if (err)
		return err > 0 ? 0 : err == -ESRCH ? 1 : 2;

	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGHUP);
	sigaddset(&set, SIGCHLD);
	sigprocmask(SIG_BLOCK, &set, &r.mask);
	r.sigpipe = signal(SIGPIPE, SIG_IGN);
	r.signals = signalfd(-1, &set, SFD_CLOEXEC);
	r.umask = umask(0077);

	err = choose_events(&r);
	if (err) {
		usage = err == -EINVAL;
		goto out;
	}
	if (r.options.command)
		err = start_command(&r, &gate);
	if (!err)
		err = begin(&r);
	if (err)
		goto out;
	if (r.options.duration_s)
		r.stop_at = mg_monotonic_ns() + r.options.duration_s * 1000000000ull;
	err = clock_reader_start(&r.clock);
	if (err) {
		fail(&r, err, "cannot start a thread: %s", strerror(-err));
		goto out;
	}
	r.cpu_at_start = process_cpu_ns(getpid());
	say(&r, "ready");
	if (gate >= 0 && write(gate, "g", 1) != 1)
		mg_warn("cannot start %s", r.options.command[0]);
	err = loop(&r);
	if (!err)
		err = finish(&r);
	if (err == -ENOSPC)
		fail(&r, err,
			"no space left in %s: recording ended early, what is there is readable",
			r.options.dir);
	else if (err)
		fail(&r, err, "recording ended early: %s", strerror(-err));
	say(&r, "done");
out:
	if (gate >= 0)
		close(gate);
	ring_buffer__free(r.new_netns);
	netns_free(r.netns);
	end_clock_cpus(&r);
	clock_reader_free(r.clock);
	drain_free(r.drain);
	chosen_free(r.chosen);
	if (r.writer && ctf_close(r.writer) && !err)
		err = -EIO;
	hooks_unload(&r.hooks);
	free(r.hook);
	free(r.options.event);
	return usage ? 2 : err ? 1 : r.child_status;
}
