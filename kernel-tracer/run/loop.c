/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "run/loop.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <bpf/libbpf.h>

#include "clock.h"
#include "confine.h"
#include "cpu_time.h"
#include "log.h"
#include "signal_name.h"
#include "clock/clock_cpus.h"
#include "clock/clock_reader.h"
#include "control/control.h"
#include "events/chosen.h"
#include "hooks/hooks.h"
#include "hooks/identity.h"
#include "hooks/netns.h"
#include "rings/drain.h"
#include "run/chunk.h"
#include "run/commands.h"
#include "run/flight.h"
#include "run/parent.h"

static void on_clock_cpus(void *arg, const struct mg_clock_cpus *one)
{
	struct run *r = arg;
	struct mg_clock_cpus *more = realloc(
		r->clocks.cpus_recorded, (size_t)(r->clocks.cpus_count + 1) * sizeof(*more));

	if (more) {
		r->clocks.cpus_recorded = more;
		more[r->clocks.cpus_count++] = *one;
	}
	if (r->drain)
		drain_note(r->drain, MG_EVENT_clock_cpus, one, MG_PAYLOAD_SIZE(CLOCK_CPUS));
}

void run_end_clock_cpus(struct run *r)
{
	clock_cpus_end(r->clocks.cpus, on_clock_cpus, r);
	r->clocks.cpus = NULL;
}

uint64_t run_lost(const struct run *r)
{
	return drain_lost(r->drain) + chosen_lost(r->chosen);
}

static void read_signal(struct run *r)
{
	struct signalfd_siginfo info;
	int status;

	if (read(r->signals, &info, sizeof(info)) != (ssize_t)sizeof(info))
		return;
	if (info.ssi_signo == SIGUSR1) {
		r->dump_asked = "signal";
		return;
	}
	if (info.ssi_signo != SIGCHLD) {
		snprintf(r->signal_name, sizeof(r->signal_name), "ended by signal %u (%s)",
			info.ssi_signo, signal_name((int)info.ssi_signo));
		if (!r->why_stopped)
			r->why_stopped = r->signal_name;
		r->stop = true;
		return;
	}
	if (r->child.pid > 0 && waitpid(r->child.pid, &status, WNOHANG) == r->child.pid) {
		r->child.status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
		r->child.pid = 0;
		r->stop = true;
	}
}

/* A BPF program that has read the clock takes its slot within this time. */
#define SLOT_NS 10000000

/*
 * Writes the readings of the clock thread up to a time, stamped with the time of the reading, not
 * of writing. Who follows the recording as it grows relies on that time: all events up to a reading
 * are written before it.
 */
static int write_clock(struct run *r, uint64_t until)
{
	struct mg_clock_sync *sync = &r->clocks.next_sync;
	int err = 0;

	while (!err && (sync->mono_ns || clock_reader_take(r->clocks.reader, sync)) &&
		sync->mono_ns <= until) {
		r->clocks.last_sync = *sync;
		err = ctf_event(r->writer, CTF_OWN_STREAM, MG_EVENT_clock_sync, sync->mono_ns, sync,
			MG_PAYLOAD_SIZE(CLOCK_SYNC));
		sync->mono_ns = 0;
	}
	return err;
}

/*
 * The clock; and every 100 ms at most what programs were skipped, and namespaces that are gone. All
 * events up to `written` have been read from the rings.
 */
static int periodic(struct run *r, uint64_t now, uint64_t written)
{
	int err = write_clock(r, written);
	int64_t again;

	if (err || now < r->next_look)
		return err;
	again = drain_check_misses(r->drain);
	if (again < 0)
		return (int)again;
	r->next_look = now + (uint64_t)again;
	if (r->netns && now >= r->next_release)
		netns_release(r->netns);
	if (now >= r->next_release)
		r->next_release = now + 90000000;
	return 0;
}

int run_loop(struct run *r)
{
	enum { SIGNALS, NEW_NETNS, CONTROL, ENDED, SOCKET, FDS = SOCKET + CONTROL_FDS };
	struct pollfd fds[FDS] = {
		{r->signals, POLLIN, 0},
		{ring_buffer__epoll_fd(r->new_netns), POLLIN, 0},
		{r->options.control, POLLIN, 0},
		{ends_fd(&r->ends), POLLIN, 0},
	};
	int wait = 0, err = 0, chosen_fill;

	while (!r->stop) {
		uint64_t now, began;

		control_wait(r->socket, fds + SOCKET);
		if (poll(fds, FDS, wait) < 0 && errno != EINTR)
			return -errno;
		if (fds[NEW_NETNS].revents)
			ring_buffer__consume(r->new_netns);
		if (fds[SIGNALS].revents)
			read_signal(r);
		if (fds[CONTROL].revents)
			parent_read(r);
		if (fds[ENDED].revents) {
			r->stop = ends_next(&r->ends);
			fds[ENDED] = (struct pollfd){ends_fd(&r->ends), POLLIN, 0};
		}
		control_serve(r->socket, fds + SOCKET, command_answer, r);
		err = stacks_pass(r->stacks);
		if (err)
			return err;
		began = mg_monotonic_ns();
		err = drain_pass(r->drain);
		chosen_fill = err < 0 ? err : chosen_pass(r->chosen);
		if (chosen_fill < 0)
			return chosen_fill;
		/* a ring that fills fast is read again at once */
		wait = err > 25 || chosen_fill > 25 ? 0 : (int)r->options.given.drain;
		now = mg_monotonic_ns();
		err = periodic(r, now, drain_has_left(r->drain) ? 0 : began - SLOT_NS);
		if (!err &&
			!r->flight) /* the recorder's memory is better filled with full packets */
			err = ctf_flush(r->writer);
		if (!err && r->dump_asked) {
			err = flight_dump_for(r, r->dump_asked);
			r->dump_asked = NULL;
		}
		if (!err)
			err = chunk_look(r, now);
		if (err)
			return err;
		if (r->stop_at && now >= r->stop_at)
			r->stop = true;
	}
	return 0;
}

/*
 * Names the stacks: reads programs' files, which may be made to do harm, so that all privileges are
 * given up before. Nothing after this may need one.
 */
static int write_stacks(struct run *r)
{
	int err = stacks_finish(r->stacks);

	if (!err)
		err = ctf_flush(r->writer); /* makes the files that are still to be made */
	if (err)
		return err;
	err = mg_keep_capabilities(0);
	if (err)
		mg_warn("cannot give up capabilities: %s", strerror(-err));
	return stacks_write(r->stacks, r->writer);
}

int run_finish(struct run *r)
{
	struct mg_trace_end e = {0};
	int err = drain_stop(r->drain);

	clock_cpus_start(&r->clocks.cpus);
	hooks_detach(&r->hooks);
	netns_free(r->netns);
	r->netns = NULL;
	usleep(2000); /* programs that still run on another CPU */
	err = err ?: drain_finish(r->drain) ?: chosen_finish(r->chosen);
	if (!err && identities_read_last(&r->identities, &r->hooks) == 0)
		err = identities_write(&r->identities, r->writer, mg_monotonic_ns());
	run_end_clock_cpus(r);
	clock_reader_stop(r->clocks.reader);
	r->next_look = 0;
	if (!err)
		err = periodic(r, mg_monotonic_ns(), UINT64_MAX);
	if (!err && r->stacks)
		err = write_stacks(r);
	if (!err && !r->flight)
		err = ctf_tell_contents(r->writer, 1);
	e.events = ctf_events(r->writer) + 1;
	e.lost = run_lost(r);
	e.cpu_ns = own_cpu_ns() - r->use.began_cpu_ns;
	if (r->why_stopped)
		snprintf(e.why, sizeof(e.why), "%s", r->why_stopped);
	if (!err)
		err = drain_note(r->drain, MG_EVENT_trace_end, &e, MG_PAYLOAD_SIZE(TRACE_END));
	if (!err && r->flight)
		return flight_dump(r, &(struct mg_dump){.why = "end"}, true);
	return err ? err : ctf_flush(r->writer);
}
