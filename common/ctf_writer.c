/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "ctf.h"
#include "event_table.h"
#include "events.h"
#include "log.h"

#define MAGIC       0xC1FC1FC1u
#define PACKET_SIZE (256u * 1024)

struct packet_head {
	uint32_t magic;
	uint8_t uuid[16];
	uint32_t stream_id;
	uint64_t timestamp_begin, timestamp_end;
	uint64_t content_size, packet_size; /* bits */
	uint64_t packet_seq_num, events_discarded;
	int32_t cpu_id;
} __attribute__((packed));

struct event_head {
	uint16_t id;
	uint64_t timestamp;
	uint32_t tid, pid;
} __attribute__((packed));
_Static_assert(sizeof(struct event_head) == MG_SLOT_ON_DISK, "as in a slot");

struct stream {
	int fd, cpu;
	uint8_t *packet; /* being filled; the last 64 bytes allow for a whole slot to be copied */
	uint32_t used;
	uint64_t first_ts, last_ts, end_ts;
	uint64_t seq, discarded, file_size;
};

struct ctf_writer {
	char dir[4096];
	uint8_t uuid[16];
	enum ctf_domain domain;
	struct stream *streams; /* a CPU each, the tracer's own, a CPU each for chosen events */
	int stream_count;
	int cpus;
	int error; /* first one, and then nothing more is written */
	uint64_t events, bytes;
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

/* CLOCK_REALTIME - CLOCK_MONOTONIC, by the narrowest of some readings. */
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

static struct stream *stream_of(struct ctf_writer *w, int cpu)
{
	if (cpu <= CTF_CHOSEN(0))
		return &w->streams[w->cpus + 1 + CTF_CHOSEN(cpu)];
	return &w->streams[cpu == CTF_OWN_STREAM ? w->cpus : cpu];
}

int ctf_open(struct ctf_writer **out, const char *dir, enum ctf_domain domain, int cpus)
{
	struct ctf_writer *w = calloc(1, sizeof(*w));
	const struct mg_event_desc *table;
	char uuid[37];
	size_t count;
	int err = -ENOMEM;

	if (!w)
		return -ENOMEM;
	w->domain = domain;
	w->cpus = cpus;
	w->stream_count = 2 * cpus + 1;
	w->streams = calloc((size_t)w->stream_count, sizeof(*w->streams));
	if (!w->streams)
		goto fail;
	for (int i = 0; i < w->stream_count; i++)
		w->streams[i].fd = -1;
	for (int i = 0; i < cpus; i++)
		w->streams[i].cpu = stream_of(w, CTF_CHOSEN(i))->cpu = i;
	w->streams[cpus].cpu = CTF_OWN_STREAM;
	table = mg_event_table(&count);
	for (size_t i = 0; i < count; i++)
		if (table[i].id < MG_EVENT_KERNEL_END)
			w->size_of[table[i].id] = table[i].size;
	if (mkdir(dir, 0700) != 0 && errno != EEXIST) {
		err = -errno;
		goto fail;
	}
	snprintf(w->dir, sizeof(w->dir), "%s/metadata", dir);
	if (access(w->dir, F_OK) == 0) { /* never over an older trace */
		err = -EEXIST;
		goto fail;
	}
	snprintf(w->dir, sizeof(w->dir), "%s", dir);
	err = random_uuid(uuid);
	if (err)
		goto fail;
	parse_uuid(uuid, w->uuid);
	err = ctf_write_metadata(dir, domain, uuid, wall_clock_offset());
	if (err)
		goto fail;
	*out = w;
	return 0;
fail:
	free(w->streams);
	free(w);
	return err;
}

/* A stream's file appears with its first packet: a CPU without events leaves none. */
static int stream_start(struct ctf_writer *w, struct stream *s)
{
	char path[4200];

	if (s->fd < 0) {
		if (s->cpu == CTF_OWN_STREAM)
			snprintf(path, sizeof(path), "%s/%s", w->dir,
				w->domain == CTF_APP ? "calls" : "tracer");
		else
			snprintf(path, sizeof(path), "%s/%s%d", w->dir,
				s - w->streams < w->cpus ? "cpu" : "events", s->cpu);
		s->fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
		if (s->fd < 0)
			return -errno;
	}
	if (!s->packet) {
		s->packet = malloc(PACKET_SIZE);
		if (!s->packet)
			return -ENOMEM;
	}
	s->used = sizeof(struct packet_head);
	return 0;
}

/* Whole packets or nothing: what a full disk cut off is taken back, so the trace stays readable. */
static int write_packet(struct stream *s)
{
	uint32_t done = 0;

	while (done < s->used) {
		ssize_t n = pwrite(
			s->fd, s->packet + done, s->used - done, (off_t)(s->file_size + done));

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0) {
			int err = n < 0 ? -errno : -EIO;

			if (ftruncate(s->fd, (off_t)s->file_size) != 0)
				mg_debug("ftruncate: %s", strerror(errno));
			return err;
		}
		done += (uint32_t)n;
	}
	s->file_size += s->used;
	return 0;
}

static int flush_stream(struct ctf_writer *w, struct stream *s)
{
	struct packet_head h = {.magic = MAGIC, .cpu_id = s->cpu};

	if (s->used <= sizeof(h) || w->error)
		return w->error;
	memcpy(h.uuid, w->uuid, sizeof(h.uuid));
	/* packets of a stream must neither overlap nor leave the end before an event */
	h.timestamp_begin = s->first_ts;
	h.timestamp_end = s->last_ts;
	h.content_size = h.packet_size = (uint64_t)s->used * 8;
	h.packet_seq_num = s->seq++;
	h.events_discarded = s->discarded;
	memcpy(s->packet, &h, sizeof(h));
	w->error = write_packet(s);
	if (!w->error)
		w->bytes += s->used;
	s->end_ts = s->last_ts;
	s->used = 0;
	return w->error;
}

/* Room for one more event. Time must not run backwards in a stream: babeltrace2 would stop there.
 */
static int prepare(struct ctf_writer *w, struct stream *s, uint64_t *ts, uint32_t size)
{
	if (w->error)
		return w->error;
	if (*ts < s->last_ts)
		*ts = s->last_ts;
	if (s->used + size + 128 > PACKET_SIZE && flush_stream(w, s))
		return w->error;
	if (s->used == 0) {
		w->error = stream_start(w, s);
		if (w->error)
			return w->error;
		s->first_ts = *ts;
	}
	s->last_ts = *ts;
	w->events++;
	return 0;
}

static int write_event(struct ctf_writer *w, struct stream *s, struct event_head *h,
	const void *payload, uint32_t size)
{
	uint64_t ts = h->timestamp;
	int err = prepare(w, s, &ts, size);

	if (err)
		return err;
	h->timestamp = ts;
	memcpy(s->packet + s->used, h, sizeof(*h));
	memcpy(s->packet + s->used + sizeof(*h), payload, size);
	s->used += (uint32_t)sizeof(*h) + size;
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
	struct event_head h = {.id = id, .timestamp = ts, .tid = tid, .pid = pid};

	return write_event(w, stream_of(w, CTF_OWN_STREAM), &h, payload, size);
}

int ctf_event_on(struct ctf_writer *w, int cpu, uint16_t id, uint64_t ts, uint32_t tid,
	uint32_t pid, const void *payload, uint32_t size)
{
	struct event_head h = {.id = id, .timestamp = ts, .tid = tid, .pid = pid};

	return write_event(w, stream_of(w, cpu), &h, payload, size);
}

int ctf_slot(struct ctf_writer *w, int cpu, const struct mg_slot *slot)
{
	struct stream *s = &w->streams[cpu];
	uint64_t ts = slot->ts;
	int err = prepare(w, s, &ts, sizeof(*slot));
	uint8_t *at;

	if (err)
		return err;
	/* a copy of fixed length is the fastest; what is too much is overwritten by the next */
	at = s->packet + s->used;
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
	char path[4200];
	FILE *f;

	snprintf(path, sizeof(path), "%s/metadata", w->dir);
	f = fopen(path, "ae");
	if (!f)
		return -errno;
	fputs(classes, f);
	return fclose(f) == 0 ? 0 : -errno;
}

int ctf_flush(struct ctf_writer *w)
{
	for (int i = 0; i < w->stream_count && !w->error; i++)
		flush_stream(w, &w->streams[i]);
	return w->error;
}

uint64_t ctf_events(const struct ctf_writer *w)
{
	return w->events;
}

uint64_t ctf_bytes(const struct ctf_writer *w)
{
	return w->bytes;
}

int ctf_close(struct ctf_writer *w)
{
	int err = ctf_flush(w);

	for (int i = 0; i < w->stream_count; i++) {
		if (w->streams[i].fd >= 0)
			close(w->streams[i].fd);
		free(w->streams[i].packet);
	}
	free(w->streams);
	free(w);
	return err;
}
