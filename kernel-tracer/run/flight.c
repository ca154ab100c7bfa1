/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE

#include "run/flight.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "clock.h"
#include "log.h"
#include "events/chosen.h"
#include "hooks/hooks.h"
#include "hooks/identity.h"
#include "rings/drain.h"
#include "run/chunk.h"
#include "run/loop.h"
#include "run/tracer_options.h"
#include "run/trigger.h"

#define STRETCHES      8           /* stretches into which the limit is divided */
#define STRETCH_MIN_NS 10000000ull /* asking for what is alive takes its time */

/* Whole packets of one stream. */
struct block {
	struct block *next;
	int stream;
	uint32_t size;
	uint64_t events;
	uint8_t packets[];
};

struct stretch {
	struct stretch *next;
	uint64_t began_at, bytes;
	struct identities alive;
	struct mg_clock_sync sync;
	struct block *first, **end;
};

struct flight {
	struct stretch *oldest, *newest;
	uint64_t bytes;        /* bytes of all stretches */
	uint64_t dumped_until; /* 0 = nothing was dumped yet */
	uint64_t dump_at;      /* 0 = no trigger has fired */
	uint64_t lost;         /* losses at the last look */
	struct mg_dump why;
	struct triggers *triggers;
};

static void free_oldest(struct flight *f)
{
	struct stretch *s = f->oldest;

	while (s->first) {
		struct block *b = s->first;

		s->first = b->next;
		free(b);
	}
	f->bytes -= s->bytes;
	f->oldest = s->next;
	if (!f->oldest)
		f->newest = NULL;
	identities_free(&s->alive);
	free(s);
}

static int keep(void *arg, int stream, const uint8_t *packets, uint32_t size, uint64_t events)
{
	struct flight *f = arg;
	struct stretch *s = f->newest;
	struct block *b;

	if (!s) /* before it begins there is nothing to keep */
		return 0;
	/* without memory the oldest stretch is dropped, as at the limit */
	while (!(b = malloc(sizeof(*b) + size)) && f->oldest != s)
		free_oldest(f);
	if (!b)
		return -ENOMEM;
	b->next = NULL;
	b->stream = stream;
	b->size = size;
	b->events = events;
	memcpy(b->packets, packets, size);
	*s->end = b;
	s->end = &b->next;
	s->bytes += size;
	f->bytes += size;
	return 0;
}

int flight_open(struct run *r)
{
	struct flight *f = calloc(1, sizeof(*f));
	char dir[PATH_MAX];

	if (!f)
		return -ENOMEM;
	r->flight = f;
	snprintf(dir, sizeof(dir), "%s/0001", r->dir);
	if (access(dir, F_OK) == 0) /* never beside an older trace */
		return -EEXIST;
	return ctf_open_sink(&r->writer, CTF_KERNEL, r->hooks.cpus, keep, f);
}

static int put_clock(struct run *r)
{
	mg_clock_sync_read(&r->clocks.last_sync, 100);
	return ctf_event(r->writer, CTF_OWN_STREAM, MG_EVENT_clock_sync,
		r->clocks.last_sync.mono_ns, &r->clocks.last_sync, MG_PAYLOAD_SIZE(CLOCK_SYNC));
}

/* Ends the newest stretch, which has all events so far, and begins another one. */
static int next_stretch(struct run *r, bool read_rings, uint64_t began_at)
{
	struct flight *f = r->flight;
	struct stretch *s = calloc(1, sizeof(*s));
	int err = s ? 0 : -ENOMEM;

	if (err)
		return err;
	s->end = &s->first;
	s->began_at = began_at;
	err = identities_read(&s->alive, &r->hooks);
	if (!err && read_rings)
		err = drain_pass_all(r->drain);
	if (err >= 0 && read_rings)
		err = chosen_pass(r->chosen);
	if (err >= 0)
		err = put_clock(r) ?: ctf_flush(r->writer);
	if (err < 0) {
		identities_free(&s->alive);
		free(s);
		return err;
	}
	s->sync = r->clocks.last_sync;
	if (f->newest)
		f->newest->next = s;
	else
		f->oldest = s;
	f->newest = s;
	return 0;
}

int flight_begin(struct run *r)
{
	struct mg_events of = triggers_events(&r->options);

	r->flight->triggers = triggers_new(r);
	if (!r->flight->triggers)
		return -ENOMEM;
	drain_watch(r->drain, of, triggers_see, r->flight->triggers);
	r->flight->lost = run_lost(r);
	return next_stretch(r, false, mg_monotonic_ns());
}

/* ---- dumps ---- */

#define DRAIN_EACH (4u << 20) /* bytes written between two looks at the rings */

/* The stretches up to `end`. Recording goes on meanwhile. */
static int write_stretches(struct run *r, struct ctf_writer *w, const struct stretch *end)
{
	uint64_t drained_at = 0;
	int err = 0;

	for (struct stretch *s = r->flight->oldest; s != end && !err; s = s->next)
		for (struct block *b = s->first; b && !err; b = b->next) {
			err = ctf_append(w, b->stream, b->packets, b->size, b->events);
			if (err || !end || ctf_bytes(w) - drained_at < DRAIN_EACH)
				continue;
			drained_at = ctf_bytes(w);
			err = drain_pass(r->drain);
			err = err < 0 ? err : 0;
		}
	return err;
}

static int write_part(struct run *r, const struct stretch *end)
{
	struct flight *f = r->flight;
	const struct stretch *first = f->oldest;
	struct ctf_writer *w;
	char dir[PATH_MAX];
	int err, closed, fd = chunk_make_dir(r, r->part.number, dir, sizeof(dir));

	if (fd < 0)
		return fd;
	err = ctf_open_like(&w, dir, r->writer);
	if (err) {
		close(fd);
		return err;
	}
	err = chunk_write_head(r, w, &first->alive, &first->sync, r->part.number, first->began_at,
		f->dumped_until);
	if (!err)
		err = write_stretches(r, w, end);
	if (!err)
		err = ctf_tell_contents(w, 0);
	closed = ctf_close(w);
	close(fd);
	return err ? err : closed;
}

int flight_dump(struct run *r, const struct mg_dump *why, bool last)
{
	struct flight *f = r->flight;
	struct mg_chunk_end end = {.number = ++r->part.number};
	uint64_t cut = mg_monotonic_ns();
	int err = last ? 0 : drain_cut(r->drain);

	f->dump_at = 0;
	if (err >= 0 && !last)
		err = chosen_pass(r->chosen);
	if (err >= 0)
		err = drain_note(r->drain, MG_EVENT_dump, why, MG_PAYLOAD_SIZE(DUMP));
	end.events = ctf_events(r->writer) + 1;
	if (!err && !last)
		err = drain_note(r->drain, MG_EVENT_chunk_end, &end, MG_PAYLOAD_SIZE(CHUNK_END));
	if (!err && last)
		err = put_clock(r) ?: ctf_flush(r->writer);
	if (!err && !last)
		err = next_stretch(r, false, cut);
	if (!err)
		err = write_part(r, last ? NULL : f->newest);
	if (err < 0)
		return err;
	while (f->oldest && (last || f->oldest != f->newest))
		free_oldest(f);
	f->dumped_until = cut;
	chunk_forget_old(r);
	if (r->options.control < 0)
		mg_warn("dumped to %s/%04u: %.24s", r->options.given.output, r->part.number,
			why->why);
	return 0;
}

int flight_dump_for(struct run *r, const char *why)
{
	struct mg_dump e = {0};

	snprintf(e.why, sizeof(e.why), "%s", why);
	return flight_dump(r, &e, false);
}

void flight_fire(struct run *r, const struct mg_dump *why)
{
	struct flight *f = r->flight;

	if (f->dump_at)
		return;
	f->why = *why;
	f->why.fired_ns = mg_monotonic_ns();
	f->dump_at = f->why.fired_ns + FLIGHT_AFTER_NS;
}

/* ---- what is kept ---- */

/* `now` may be older than a stretch that has just begun. */
static uint64_t age(const struct stretch *s, uint64_t now)
{
	return now > s->began_at ? now - s->began_at : 0;
}

static bool too_old(const struct flight *f, const struct recorder_options *o, uint64_t now)
{
	const struct stretch *second = f->oldest->next;

	if (!second)
		return false;
	/* no less is kept than was asked for: a stretch may be as large as a full ring */
	return o->flight.bytes ? f->bytes - f->oldest->bytes >= o->flight.bytes
			       : age(second, now) > o->flight.ns;
}

static bool is_full(const struct stretch *s, const struct recorder_options *o, uint64_t now)
{
	if (age(s, now) < STRETCH_MIN_NS)
		return false;
	return o->flight.bytes ? s->bytes >= o->flight.bytes / STRETCHES
			       : age(s, now) >= o->flight.ns / STRETCHES;
}

int flight_look(struct run *r, uint64_t now)
{
	struct flight *f = r->flight;
	uint64_t lost = run_lost(r);
	int err = 0;

	if (r->options.trigger.lost && lost > f->lost)
		flight_fire(r, &(struct mg_dump){.why = "lost"});
	f->lost = lost;
	if (f->dump_at && now >= f->dump_at)
		err = flight_dump(r, &f->why, false);
	if (!err && is_full(f->newest, &r->options.given, now))
		err = next_stretch(r, true, mg_monotonic_ns());
	while (!err && too_old(f, &r->options.given, now))
		free_oldest(f);
	return err;
}

void flight_free(struct flight *f)
{
	if (!f)
		return;
	while (f->oldest)
		free_oldest(f);
	triggers_free(f->triggers);
	free(f);
}
