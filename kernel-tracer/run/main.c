/* SPDX-License-Identifier: MIT */
/* magnet-kernel-tracer: records kernel events into a CTF trace until told to stop. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <bpf/libbpf.h>

#include "clock.h"
#include "confine.h"
#include "cpu_time.h"
#include "log.h"
#include "signal_ignored.h"
#include "clock/clock_cpus.h"
#include "clock/clock_reader.h"
#include "control/control.h"
#include "control/ctl.h"
#include "events/chosen.h"
#include "hooks/calibrate.h"
#include "hooks/cgroup.h"
#include "hooks/hook_load.h"
#include "hooks/hook_table.h"
#include "hooks/hooks.h"
#include "hooks/identity.h"
#include "hooks/listening.h"
#include "hooks/netns.h"
#include "hooks/privilege.h"
#include "hooks/processes.h"
#include "rings/drain.h"
#include "run/chunk.h"
#include "run/flight.h"
#include "run/loop.h"
#include "run/open_connections.h"
#include "run/outcomes.h"
#include "run/parent.h"
#include "run/tracer_options.h"

static int on_new_netns(void *arg, void *data, size_t size)
{
	struct run *r = arg;
	const struct mg_new_netns *n = data;

	if (size >= sizeof(*n))
		netns_attach(r->netns, n->inum, (pid_t)n->pid);
	return 0;
}

/*
 * Loads and attaches the hooks, measures their cost, and begins the trace. Returns 0 or a negative
 * errno after a message.
 */
static int begin(struct run *r)
{
	struct tracer_options *o = &r->options;
	struct calibration timing = {.cycles = {0}};
	char dir[PATH_MAX];
	int err;

	err = calibrate_call(&timing, 0, NULL);
	if (err)
		return run_fail(r, err, "no socket for calibration: %s", strerror(-err));
	clock_cpus_start(&r->clocks.cpus); /* without it the offsets are reported as unknown */
	err = hooks_load(&r->hooks, &o->hooks);
	if (err)
		return run_fail(r, err, "%s", r->hooks.why[0] ? r->hooks.why : strerror(-err));
	calibrate_call(&timing, 0, NULL); /* once more, shortly before those with hooks */
	err = hooks_attach_calls(&r->hooks);
	if (err)
		return run_fail(r, err, "cannot attach to system calls: %s", strerror(-err));
	err = calibrate_follow_self(&r->hooks, true);
	if (err)
		return run_fail(r, err, "cannot mark a task as traced: %s", strerror(-err));
	calibrate_copies(&timing, &r->hooks);
	calibrate_follow_self(&r->hooks, false);
	calibrate_result(&r->calibration, &timing);
	if (o->given.cgroup) {
		err = cgroup_follow(&r->hooks, o->given.cgroup, r->hooks.why, sizeof(r->hooks.why));
		o->hooks.settings.cgroup = 1;
	}
	if (!err)
		err = hooks_set(&r->hooks, &o->hooks.settings);
	if (err)
		return run_fail(r, err, "%s", r->hooks.why[0] ? r->hooks.why : strerror(-err));
	err = chunk_first_dir(r, dir, sizeof(dir));
	if (!err && (o->given.flight.bytes || o->given.flight.ns))
		err = flight_open(r);
	else if (!err)
		err = ctf_open(&r->writer, dir, CTF_KERNEL, r->hooks.cpus);
	if (!err && o->given.with_app)
		err = ctf_tell_other_side(r->writer);
	if (err)
		return run_fail(r, err, "cannot make a trace in %s: %s", o->given.output,
			err == -ELOOP ? "it is a link: name the directory it leads to"
				      : strerror(-err));
	err = drain_new(&r->drain, &r->hooks, r->writer);
	if (!err)
		drain_ask_names(r->drain, hooks_program_fd(&r->hooks, NAME_DROP),
			hooks_map_fd(&r->hooks, "drop_words"));
	if (!err)
		err = chunk_begin_first(r);
	if (!err)
		err = hooks_attach(&r->hooks, o->hooks.layers, run_on_hook, r);
	if (err)
		return run_fail(r, err, "%s", strerror(-err));
	drain_note(r->drain, MG_EVENT_calibration, &r->calibration, MG_PAYLOAD_SIZE(CALIBRATION));
	run_end_clock_cpus(r);
	r->netns = netns_new(&r->hooks, run_on_hook, r);
	r->new_netns =
		ring_buffer__new(hooks_map_fd(&r->hooks, "new_netns"), on_new_netns, r, NULL);
	if (!r->netns || !r->new_netns)
		return run_fail(r, -ENOMEM, "out of memory");
	netns_attach_initial(r->netns, &o->hooks);
	if (r->flight && flight_begin(r))
		return run_fail(r, -EIO, "cannot begin the flight recorder");
	err = processes_follow(&r->hooks, &o->hooks, &r->ends.followed);
	if (!err)
		err = hooks_follow(&r->hooks);
	if (err)
		return run_fail(r, err, "cannot follow running processes and their sockets: %s",
			strerror(-err));
	if (!o->hooks.fresh)
		run_time_connections(r);
	if (!o->hooks.all && !o->hooks.fresh)
		listening_follow(&r->hooks);
	if (o->hooks.stack_ns)
		err = stacks_new(&r->stacks, &r->hooks, o->hooks.stack_ns);
	if (err)
		return run_fail(r, err, "cannot record stacks: %s", strerror(-err));
	err = chosen_start(r->chosen, r->writer, run_on_hook, r);
	if (err)
		return run_fail(r, err, "cannot record chosen events: %s", strerror(-err));
	return 0;
}

/*
 * Finds the tracepoints of --event before anything else begins: a wrong name is wrong usage.
 * Returns 0, or a negative errno after a message; -EINVAL for a wrong name.
 */
static int choose_events(struct run *r)
{
	const struct tracer_options *o = &r->options;
	struct chosen_options chosen = {.event = o->given.event.text,
		.count = (int)o->given.event.count,
		.anonymize = o->hooks.anonymize,
		.ring_bytes = hooks_ring_slots(&o->hooks) * sizeof(struct mg_slot)};
	char why[1024];
	int err = chosen_open(&r->chosen, &chosen, why, sizeof(why));

	if (err != -EINVAL)
		return err ? run_fail(r, err, "%s", why) : 0;
	mg_error("%s", why); /* treated like any wrong option: the exit status tells the parent */
	return err;
}

/* Makes COMMAND's process, which waits before its first instruction until `go` is written to. */
static int start_command(struct run *r, int *go)
{
	int gate[2];

	if (pipe2(gate, O_CLOEXEC) != 0)
		return -errno;
	r->child.pid = fork();
	if (r->child.pid < 0)
		return -errno;
	if (r->child.pid == 0) {
		char c;

		close(gate[1]);
		signal(SIGPIPE, r->before.sigpipe);
		signal(SIGXFSZ, r->before.sigxfsz);
		umask(r->before.umask);
		mg_limits_restore(&r->before.limits, MG_LIMITS);
		sigprocmask(SIG_SETMASK, &r->before.mask, NULL);
		if (read(gate[0], &c, 1) != 1)
			_exit(125);
		execvp(r->options.command[0], r->options.command);
		mg_error("cannot run %s: %s", r->options.command[0], strerror(errno));
		_exit(errno == ENOENT ? 127 : 126);
	}
	close(gate[0]);
	*go = gate[1];
	r->options.hooks.pid = (struct option_processes){.count = 1, .pid = {r->child.pid}};
	r->options.hooks.fresh = true;
	return 0;
}

/* Opens the control socket. Fails only if --control asked for it: recording works without. */
static int open_control(struct run *r)
{
	char why[400];
	int err = control_open(&r->socket, r->options.given.control, why, sizeof(why));

	if (!err)
		return 0;
	if (r->options.given.control)
		return run_fail(r, err, "%s", why);
	mg_debug("%s", why);
	return 0;
}

/* Gives up all system calls but those of any recorder, the loop and the control commands. */
static void give_up_calls(const struct run *r)
{
	static const char *const always[] = {"accept", "accept4", "bpf", "getsockopt", "ioctl",
		"mkdir", "mkdirat", "perf_event_open", "sched_setaffinity", "setpriority", "statfs",
		"wait4"};
	const char *calls[sizeof(always) / sizeof(always[0]) + 4] = {NULL};
	size_t n = sizeof(always) / sizeof(always[0]);
	int err;

	memcpy(calls, always, sizeof(always));
	if (netns_wanted(r->netns))
		calls[n++] = "setns"; /* for other network namespaces */
	if (r->stacks) { /* the remaining capabilities are given up before programs are read */
		calls[n++] = "capget";
		calls[n++] = "capset";
	}
	err = mg_keep_calls(calls);
	if (err)
		mg_warn("cannot give up system calls: %s", strerror(-err));
}

/* Keeps what COMMAND is to get back, and takes signals by a descriptor. */
static void take_environment(struct run *r, sigset_t *set)
{
	sigemptyset(set);
	sigaddset(set, SIGINT);
	sigaddset(set, SIGTERM);
	if (!mg_is_ignored(SIGHUP)) /* nohup */
		sigaddset(set, SIGHUP);
	sigaddset(set, SIGCHLD);
	if (r->options.given.flight.bytes || r->options.given.flight.ns)
		sigaddset(set, SIGUSR1);
	sigprocmask(SIG_BLOCK, set, &r->before.mask);
	r->before.sigpipe = signal(SIGPIPE, SIG_IGN);
	r->before.sigxfsz = signal(SIGXFSZ, SIG_IGN); /* writing fails then, as on a full disk */
	r->before.umask = umask(0077);
	mg_limits_raise(&r->before.limits, MG_LIMITS); /* hooks, namespaces, events on each CPU */
}

/* Records until the end. Returns 0 or a negative errno after a message. */
static int record(struct run *r, int gate)
{
	int err;

	own_use_begin(&r->use);
	parent_say(r, "ready");
	if (gate >= 0 && write(gate, "g", 1) != 1)
		mg_warn("cannot start %s", r->options.command[0]);
	err = run_loop(r);
	own_use_cease(&r->use);
	if (!err)
		err = run_finish(r);
	if (err == -ENOSPC)
		run_fail(r, err,
			"no space left in %s: recording ended early; the trace up to then is "
			"readable",
			r->options.given.output);
	else if (err)
		run_fail(r, err, "recording ended early: %s", strerror(-err));
	if (r->why_stopped && r->why_stopped != r->signal_name && r->options.control < 0)
		mg_warn("stopped: %s", r->why_stopped);
	parent_say(r, "done");
	return err;
}

/* Attaches, gives up privileges, and records. Returns 0 or a negative errno after a message. */
static int attach_and_record(struct run *r, int gate)
{
	int err = begin(r);

	if (err)
		return err;
	if (!r->options.hooks.fresh && r->options.hooks.pid.count)
		r->stop = !ends_watch(&r->ends, &r->options.hooks.pid);
	if (r->options.given.duration)
		r->stop_at = mg_monotonic_ns() + r->options.given.duration;
	if (privilege_drop(r->options.given.output, netns_wanted(r->netns), r->stacks != NULL))
		mg_warn("cannot give up capabilities: %s", strerror(errno));
	err = clock_reader_start(&r->clocks.reader);
	if (err)
		return run_fail(r, err, "cannot start a thread: %s", strerror(-err));
	err = open_control(r);
	if (err)
		return err;
	give_up_calls(r);
	return record(r, gate);
}

/* Detaches and frees everything. Returns 0, or a negative errno if the trace cannot be closed. */
static int end(struct run *r)
{
	int err = 0;

	control_close(r->socket);
	ring_buffer__free(r->new_netns);
	netns_free(r->netns);
	run_end_clock_cpus(r);
	clock_reader_free(r->clocks.reader);
	drain_free(r->drain);
	chosen_free(r->chosen);
	stacks_free(r->stacks);
	if (r->writer && ctf_close(r->writer))
		err = -EIO;
	hooks_unload(&r->hooks);
	flight_free(r->flight);
	free(r->hook);
	free(r->clocks.cpus_recorded);
	identities_free(&r->identities);
	recorder_options_free(&r->options.given);
	return err;
}

int main(int argc, char **argv)
{
	struct run r = {0};
	sigset_t set;
	int err, end_err, gate = -1;
	bool usage;

	mg_standard_fds();
	mg_log_name("magnet-kernel-tracer");
	if (argc > 1 && strcmp(argv[1], "ctl") == 0)
		return ctl_main(argc - 1, argv + 1);
	err = tracer_options_parse(&r.options, argc, argv);
	if (err)
		return err > 0 ? 0 : err == -ESRCH || err == -ENOMEM ? 1 : 2;
	take_environment(&r, &set);
	if (r.options.command && start_command(&r, &gate)) {
		run_fail(&r, -errno, "cannot start a process: %s", strerror(errno));
		return 1;
	}
	mg_close_others(r.options.control, gate); /* descriptors from before are for COMMAND */
	r.signals = signalfd(-1, &set, SFD_CLOEXEC);
	err = choose_events(&r);
	usage = err == -EINVAL;
	if (!err)
		err = attach_and_record(&r, gate);
	if (gate >= 0)
		close(gate);
	end_err = end(&r);
	return usage ? 2 : err || end_err ? 1 : r.child.status;
}
