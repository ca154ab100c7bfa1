/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "ctf.h"
#include "ctf_stream.h"
#include "event_table.h"
#include "events.h"

struct event_head {
	uint16_t id;
	uint64_t timestamp;
	uint32_t tid, pid;
} __attribute__((packed));
_Static_assert(sizeof(struct event_head) == MG_SLOT_ON_DISK, "as in a slot");

struct ctf_writer {
	struct ctf_target target;
	enum ctf_domain domain;
	bool other_side;            /* whether the recording has the other side too */
	int64_t offset_ns;          /* offset from the wall clock, ns */
	struct ctf_stream *streams; /* a stream for each CPU, the tracer's own, and one for each CPU
				       for chosen events */
	int cpus, stream_count;
	char uuid[37];
	char *classes;                        /* metadata of chosen events; NULL = none */
	uint64_t events_before;               /* bytes in the directories before this one */
	int error;                            /* first one, and then nothing more is written */
	uint8_t size_of[MG_EVENT_KERNEL_END]; /* payload by id */
};

static void parse_uuid(const char *text, uint8_t out[16])
{
	for (int i = 0; i < 16; i++) {
		unsigned int byte;

		while (*text == '-')
			text++;
		sscanf(text, "%2x", &byte);
		out[i] = (uint8_t)byte;
		text += 2;
	}
}

/* Returns CLOCK_REALTIME - CLOCK_MONOTONIC, by the narrowest of some readings. */
static int64_t wall_clock_offset(void)
{
	int64_t offset = 0, best = INT64_MAX;

	for (int i = 0; i < 20; i++) {
		struct timespec a, r, b;
		int64_t before, after, width;

		clock_gettime(CLOCK_MONOTONIC, &a);
		clock_gettime(CLOCK_REALTIME, &r);
		clock_gettime(CLOCK_MONOTONIC, &b);
		before = a.tv_sec * 1000000000LL + a.tv_nsec;
		after = b.tv_sec * 1000000000LL + b.tv_nsec;
		width = after - before;
		if (width >= best)
			continue;
		best = width;
		offset = r.tv_sec * 1000000000LL + r.tv_nsec - (before + width / 2);
	}
	return offset;
}

static struct ctf_stream *stream_of(const struct ctf_writer *w, int cpu)
{
	if (cpu <= CTF_CHOSEN(0))
		return &w->streams[w->cpus + 1 + CTF_CHOSEN(cpu)];
	return &w->streams[cpu == CTF_OWN_STREAM ? w->cpus : cpu];
}

static void name_stream(struct ctf_writer *w, int which, int cpu, const char *name)
{
	struct ctf_stream *s = stream_of(w, which);

	s->fd = -1;
	s->cpu = cpu;
	s->which = which;
	if (cpu == CTF_OWN_STREAM)
		snprintf(s->name, sizeof(s->name), "%s", name);
	else
		snprintf(s->name, sizeof(s->name), "%s%d", name, cpu);
}

static struct ctf_writer *make(enum ctf_domain domain, int cpus)
{
	struct ctf_writer *w = calloc(1, sizeof(*w));
	const struct mg_event_desc *table;
	size_t count;

	if (!w)
		return NULL;
	w->domain = domain;
	w->cpus = cpus;
	w->offset_ns = wall_clock_offset();
	w->stream_count = 2 * cpus + 1;
	w->streams = calloc((size_t)w->stream_count, sizeof(*w->streams));
	if (!w->streams) {
		free(w);
		return NULL;
	}
	name_stream(w, CTF_OWN_STREAM, CTF_OWN_STREAM, domain == CTF_APP ? "calls" : "tracer");
	for (int i = 0; i < cpus; i++) {
		name_stream(w, i, i, "cpu");
		name_stream(w, CTF_CHOSEN(i), i, "events");
	}
	table = mg_event_table(&count);
	for (size_t i = 0; i < count; i++)
		if (table[i].id < MG_EVENT_KERNEL_END)
			w->size_of[table[i].id] = table[i].size;
	return w;
}

static int describe(const struct ctf_writer *w)
{
	return ctf_write_metadata(
		w->target.dir, w->domain, w->uuid, w->offset_ns, w->classes, w->other_side);
}

static int make_trace(struct ctf_writer *w, const char *dir)
{
	struct ctf_target *t = &w->target;
	int err;

	if (mkdir(dir, 0700) != 0 && errno != EEXIST)
		return -errno;
	snprintf(t->dir, sizeof(t->dir), "%.4000s/metadata", dir);
	if (access(t->dir, F_OK) == 0) /* never over an older trace */
		return -EEXIST;
	snprintf(t->dir, sizeof(t->dir), "%.4000s", dir);
	err = random_uuid(w->uuid);
	if (err)
		return err;
	parse_uuid(w->uuid, t->uuid);
	return describe(w);
}

int ctf_open(struct ctf_writer **out, const char *dir, enum ctf_domain domain, int cpus)
{
	struct ctf_writer *w = make(domain, cpus);
	int err = w ? make_trace(w, dir) : -ENOMEM;

	if (!err)
		*out = w;
	else if (w)
		ctf_close(w);
	return err;
}

int ctf_open_sink(
	struct ctf_writer **out, enum ctf_domain domain, int cpus, ctf_sink_fn sink, void *sink_arg)
{
	struct ctf_writer *w = make(domain, cpus);

	if (!w)
		return -ENOMEM;
	w->target.sink = sink;
	w->target.sink_arg = sink_arg;
	*out = w;
	return 0;
}

int ctf_open_like(struct ctf_writer **out, const char *dir, const struct ctf_writer *other)
{
	struct ctf_writer *w = make(other->domain, other->cpus);
	int err = w ? 0 : -ENOMEM;

	if (w && other->classes) {
		w->classes = strdup(other->classes);
		err = w->classes ? 0 : -ENOMEM;
	}
	if (!err) {
		w->offset_ns = other->offset_ns;
		w->other_side = other->other_side;
		err = make_trace(w, dir);
	}
	if (!err)
		*out = w;
	else if (w)
		ctf_close(w);
	return err;
}

int ctf_tell_other_side(struct ctf_writer *w)
{
	w->other_side = true;
	return w->target.sink ? 0 : describe(w);
}

static int fail(struct ctf_writer *w, int err)
{
	if (!w->error)
		w->error = err;
	for (int i = 0; i < w->stream_count; i++)
		w->streams[i].limit = 0; /* all who write call this */
	return w->error;
}

int ctf_next(struct ctf_writer *w, const char *dir)
{
	int err = ctf_flush(w);

	for (int i = 0; i < w->stream_count; i++)
		ctf_stream_next(&w->streams[i]);
	w->events_before = ctf_events(w);
	if (!err)
		err = make_trace(w, dir);
	return err ? fail(w, err) : 0;
}

static int make_room(struct ctf_writer *w, struct ctf_stream *s, uint32_t size, uint64_t ts)
{
	int err = w->error;

	if (!err)
		err = ctf_stream_make_room(s, &w->target, size, ts);
	return err ? fail(w, err) : 0;
}

static int write_event(struct ctf_writer *w, struct ctf_stream *s, struct event_head *h,
	const void *payload, uint32_t size)
{
	uint32_t length = (uint32_t)sizeof(*h) + size;

	/* time must not run backwards in a stream: babeltrace2 would stop there */
	if (h->timestamp < s->last_ts)
		h->timestamp = s->last_ts;
	if ((s->limit == 0 || s->used + length > s->end) && make_room(w, s, length, h->timestamp))
		return w->error;
	s->last_ts = h->timestamp;
	s->count[h->id < CTF_ID_MAX ? h->id : 0]++;
	memcpy(s->buffer + s->used, h, sizeof(*h));
	memcpy(s->buffer + s->used + sizeof(*h), payload, size);
	s->used += length;
	return 0;
}

int ctf_event(
	struct ctf_writer *w, int cpu, uint16_t id, uint64_t ts, const void *payload, uint32_t size)
{
	struct event_head h = {.id = id, .timestamp = ts};

	return write_event(w, stream_of(w, cpu), &h, payload, size);
}

int ctf_event_of(struct ctf_writer *w, uint16_t id, uint64_t ts, uint32_t tid, uint32_t pid,
	const void *payload, uint32_t size)
{
	return ctf_event_on(w, CTF_OWN_STREAM, id, ts, tid, pid, payload, size);
}

int ctf_event_on(struct ctf_writer *w, int cpu, uint16_t id, uint64_t ts, uint32_t tid,
	uint32_t pid, const void *payload, uint32_t size)
{
	struct event_head h = {.id = id, .timestamp = ts, .tid = tid, .pid = pid};

	return write_event(w, stream_of(w, cpu), &h, payload, size);
}

int ctf_slot(struct ctf_writer *w, int cpu, const struct mg_slot *slot)
{
	struct ctf_stream *s = &w->streams[cpu];
	uint64_t ts = slot->ts;
	uint8_t *at;

	if (ts < s->last_ts)
		ts = s->last_ts;
	if (s->used >= s->limit && make_room(w, s, sizeof(*slot), ts))
		return w->error;
	s->last_ts = ts;
	s->count[slot->id]++;
	/* a copy of fixed length is the fastest; the next event overwrites what is too much */
	at = s->buffer + s->used;
	memcpy(at, (const uint8_t *)slot + MG_SLOT_SKIP, sizeof(*slot) - MG_SLOT_SKIP);
	memcpy(at + offsetof(struct event_head, timestamp), &ts, sizeof(ts));
	s->used += MG_SLOT_ON_DISK + w->size_of[slot->id];
	return 0;
}

void ctf_set_discarded(struct ctf_writer *w, int cpu, uint64_t count)
{
	stream_of(w, cpu)->discarded = count;
}

int ctf_describe(struct ctf_writer *w, const char *classes)
{
	free(w->classes);
	w->classes = strdup(classes);
	if (!w->classes)
		return -ENOMEM;
	return w->target.sink ? 0 : describe(w);
}

int ctf_append(struct ctf_writer *w, int cpu, uint8_t *packets, uint32_t size, uint64_t events)
{
	struct ctf_stream *s = stream_of(w, cpu);
	int err = w->error;

	if (!err)
		err = ctf_stream_append(s, &w->target, packets, size);
	if (!err)
		s->appended += events;
	return err ? fail(w, err) : 0;
}

static void flush_stream(struct ctf_writer *w, int i)
{
	int err =
		w->error ? 0 : ctf_stream_flush(&w->streams[i], &w->target, w->target.sink != NULL);

	if (err)
		fail(w, err);
}

/* The own stream is the last: its clock readings tell readers what the others have by then. */
int ctf_flush(struct ctf_writer *w)
{
	for (int i = 0; i < w->stream_count; i++)
		if (i != w->cpus)
			flush_stream(w, i);
	flush_stream(w, w->cpus);
	return w->error;
}

uint64_t ctf_count(const struct ctf_writer *w, int cpu, uint16_t id)
{
	return id < CTF_ID_MAX ? stream_of(w, cpu)->count[id] : 0;
}

uint64_t ctf_events_of(const struct ctf_writer *w, int cpu)
{
	return ctf_stream_events(stream_of(w, cpu));
}

uint64_t ctf_events(const struct ctf_writer *w)
{
	uint64_t sum = 0;

	for (int i = 0; i < w->stream_count; i++)
		sum += ctf_stream_events(&w->streams[i]);
	return sum;
}

int ctf_tell_contents(struct ctf_writer *w, unsigned int more)
{
	struct mg_contents e = {.events = ctf_events(w) - w->events_before + 1 + more,
		.side = w->domain == CTF_KERNEL};

	for (int i = 0; i < w->stream_count; i++)
		e.events += w->streams[i].appended;
	/* not later than the last event: it covers no time of its own */
	return ctf_event(w, CTF_OWN_STREAM, MG_EVENT_contents, 0, &e, MG_PAYLOAD_SIZE(CONTENTS));
}

uint64_t ctf_bytes(const struct ctf_writer *w)
{
	return w->target.bytes;
}

int ctf_close(struct ctf_writer *w)
{
	int err = ctf_flush(w);

	for (int i = 0; i < w->stream_count; i++)
		ctf_stream_free(&w->streams[i]);
	free(w->streams);
	free(w->classes);
	free(w);
	return err;
}
