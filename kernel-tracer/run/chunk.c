/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE

#include "run/chunk.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "clock.h"
#include "trace_parts.h"
#include "events/chosen.h"
#include "hooks/calibrate.h"
#include "hooks/hook_table.h"
#include "hooks/hooks.h"
#include "hooks/identity.h"
#include "rings/drain.h"
#include "run/commands.h"
#include "run/flight.h"
#include "run/outcomes.h"
#include "run/tracer_options.h"

int chunk_make_dir(const struct run *r, uint32_t number, char *dir, size_t size)
{
	return trace_part_make(r->dir, number, dir, size);
}

static bool in_parts(const struct run *r)
{
	return r->options.given.rotate.bytes || r->options.given.rotate.ns;
}

int chunk_first_dir(struct run *r, char *dir, size_t size)
{
	const char *output = r->options.given.output;
	struct stat st;
	int fd;

	if (mkdir(output, 0700) != 0 && errno != EEXIST)
		return -errno;
	if (lstat(output, &st) == 0 && S_ISLNK(st.st_mode))
		return -ELOOP;
	/* open until the end */
	fd = open(output, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	snprintf(r->dir, sizeof(r->dir), "/proc/self/fd/%d", fd);
	snprintf(dir, size, "%s", r->dir);
	if (!in_parts(r))
		return 0;
	snprintf(dir, size, "%s/metadata", r->dir);
	if (access(dir, F_OK) == 0) /* never beside an older trace */
		return -EEXIST;
	r->part.fd = chunk_make_dir(r, 1, dir, size);
	return r->part.fd < 0 ? r->part.fd : 0;
}

/* ---- the head ---- */

static int put(struct ctf_writer *w, uint64_t ts, uint16_t id, const void *payload, uint32_t size)
{
	return ctf_event(w, CTF_OWN_STREAM, id, ts, payload, size);
}

int chunk_write_head(const struct run *r, struct ctf_writer *w, const struct identities *alive,
	const struct mg_clock_sync *sync, uint32_t number, uint64_t ts, uint64_t before_ns)
{
	struct mg_chunk e = {.from_ns = ts, .before_ns = before_ns, .number = number};
	int err = put(w, ts, MG_EVENT_chunk, &e, MG_PAYLOAD_SIZE(CHUNK));

	for (size_t i = 0; i < r->hook_count && !err; i++) {
		struct mg_hook hook = run_hook_event(&r->hook[i]);

		err = put(w, ts, MG_EVENT_hook, &hook, MG_PAYLOAD_SIZE(HOOK));
	}
	if (!err)
		err = put(
			w, ts, MG_EVENT_calibration, &r->calibration, MG_PAYLOAD_SIZE(CALIBRATION));
	for (int i = 0; i < r->clocks.cpus_count && !err; i++)
		err = put(w, ts, MG_EVENT_clock_cpus, &r->clocks.cpus_recorded[i],
			MG_PAYLOAD_SIZE(CLOCK_CPUS));
	if (!err && sync->mono_ns)
		err = put(w, ts, MG_EVENT_clock_sync, sync, MG_PAYLOAD_SIZE(CLOCK_SYNC));
	return err ? err : identities_write(alive, w, ts);
}

/* ---- rotation ---- */

static void note_begin(struct run *r, uint64_t now)
{
	r->part.began_at = now;
	r->part.began_bytes = ctf_bytes(r->writer);
}

int chunk_begin_first(struct run *r)
{
	struct mg_chunk e = {.from_ns = mg_monotonic_ns(), .number = 1};
	struct mg_clock_sync *sync = &r->clocks.last_sync;
	int err;

	r->part.number = !r->flight;
	note_begin(r, e.from_ns);
	if (!in_parts(r))
		return 0;
	err = put(r->writer, e.from_ns, MG_EVENT_chunk, &e, MG_PAYLOAD_SIZE(CHUNK));
	/* it may be full before the clock's thread has a reading that can be written */
	mg_clock_sync_read(sync, 100);
	return err ? err
		   : put(r->writer, sync->mono_ns, MG_EVENT_clock_sync, sync,
			     MG_PAYLOAD_SIZE(CLOCK_SYNC));
}

void chunk_forget_old(struct run *r)
{
	while (r->options.given.keep && r->part.number - r->part.gone > r->options.given.keep)
		trace_part_delete(r->dir, ++r->part.gone);
}

/*
 * Everything up to now goes into the part that ends. The next one's head has the time from before
 * the rings are emptied for the last time, so that it comes before whatever is read later.
 */
static int rotate(struct run *r)
{
	struct mg_chunk_end end = {.number = r->part.number};
	uint64_t cut = mg_monotonic_ns();
	char dir[PATH_MAX];
	int last, err = identities_read(&r->identities, &r->hooks);

	if (!err)
		err = drain_cut(r->drain);
	if (err >= 0)
		err = chosen_pass(r->chosen);
	if (err < 0)
		return err;
	/* a part must have two readings at least; this is the last of one and the first of the next
	 */
	mg_clock_sync_read(&r->clocks.last_sync, 100);
	err = put(r->writer, r->clocks.last_sync.mono_ns, MG_EVENT_clock_sync, &r->clocks.last_sync,
		MG_PAYLOAD_SIZE(CLOCK_SYNC));
	if (err)
		return err;
	err = ctf_tell_contents(r->writer, 1);
	if (err)
		return err;
	end.events = ctf_events(r->writer) + 1;
	err = drain_note(r->drain, MG_EVENT_chunk_end, &end, MG_PAYLOAD_SIZE(CHUNK_END));
	last = r->part.fd;
	if (!err)
		r->part.fd = chunk_make_dir(r, ++r->part.number, dir, sizeof(dir));
	if (!err && r->part.fd < 0)
		err = r->part.fd;
	if (!err)
		err = ctf_next(r->writer, dir); /* ctf_next() still writes to the last part */
	close(last);
	if (!err)
		err = chunk_write_head(r, r->writer, &r->identities, &r->clocks.last_sync,
			r->part.number, cut, cut);
	note_begin(r, cut);
	chunk_forget_old(r);
	return err;
}

static void stop_at_limit(struct run *r)
{
	run_note_change(r, "state", "stopped: --max-size");
	r->why_stopped = "it has reached --max-size";
	r->stop = true;
}

int chunk_look(struct run *r, uint64_t now)
{
	const struct recorder_options *o = &r->options.given;

	if (o->max_size && ctf_bytes(r->writer) >= o->max_size && !r->stop) {
		stop_at_limit(r);
		return 0;
	}
	if (r->paused)
		return 0;
	if (r->flight)
		return flight_look(r, now);
	if ((o->rotate.bytes && ctf_bytes(r->writer) - r->part.began_bytes >= o->rotate.bytes) ||
		(o->rotate.ns && now - r->part.began_at >= o->rotate.ns))
		return rotate(r);
	return 0;
}
