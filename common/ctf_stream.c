/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "ctf_stream.h"

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "log.h"

#define MAGIC 0xC1FC1FC1u
/* no packet is begun in less room at the end of a page */
#define WORTH_BEGINNING (sizeof(struct ctf_packet_head) + 4 * sizeof(struct mg_slot))

/* A stream's file appears with its first packet: a CPU without events leaves none. */
static int open_file(struct ctf_stream *s, const struct ctf_target *t)
{
	char path[4200];

	if (s->fd >= 0)
		return 0;
	snprintf(path, sizeof(path), "%s/%s", t->dir, s->name);
	s->fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	return s->fd < 0 ? -errno : 0;
}

static uint64_t packet_bytes(const uint8_t *packet)
{
	uint64_t bits;

	memcpy(&bits, packet + offsetof(struct ctf_packet_head, packet_size), sizeof(bits));
	return bits / 8;
}

/* A full disk may take part of a packet: the whole ones before it stay. */
static void keep_whole(struct ctf_stream *s, struct ctf_target *t, const uint8_t *p, uint32_t done)
{
	uint32_t whole = 0;

	while (whole + sizeof(struct ctf_packet_head) <= done &&
		whole + packet_bytes(p + whole) <= done)
		whole += (uint32_t)packet_bytes(p + whole);
	s->file_size += whole;
	t->bytes += whole;
	if (ftruncate(s->fd, (off_t)s->file_size) != 0)
		mg_debug("ftruncate: %s", strerror(errno));
}

static int write_file(struct ctf_stream *s, struct ctf_target *t, const uint8_t *p, uint32_t size)
{
	int err = open_file(s, t);
	uint32_t done = 0;

	if (err)
		return err;
	while (done < size) {
		ssize_t n = pwrite(s->fd, p + done, size - done, (off_t)(s->file_size + done));

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0) {
			err = n < 0 ? -errno : -EIO;
			keep_whole(s, t, p, done);
			return err;
		}
		done += (uint32_t)n;
	}
	s->file_size += size;
	t->bytes += size;
	return 0;
}

/* The rest of the page is left empty where it is too short for another packet, or `fill` says so.
 */
static void close_packet(struct ctf_stream *s, const struct ctf_target *t, bool fill)
{
	struct ctf_packet_head h = {.magic = MAGIC, .cpu_id = s->cpu};
	uint32_t used = s->used;

	if (used == s->packet)
		return;
	memcpy(h.uuid, t->uuid, sizeof(h.uuid));
	/* packets of a stream must neither overlap nor leave the end before an event */
	h.timestamp_begin = s->first_ts;
	h.timestamp_end = s->last_ts;
	h.content_size = (uint64_t)(used - s->packet) * 8;
	if (fill || used + WORTH_BEGINNING > s->end) {
		memset(s->buffer + used, 0, s->end - used);
		s->used = s->end;
	}
	h.packet_size = (uint64_t)(s->used - s->packet) * 8;
	h.packet_seq_num = s->seq++;
	h.events_discarded = s->discarded - s->discarded_before;
	memcpy(s->buffer + s->packet, &h, sizeof(h));
	s->packet = s->used;
	s->limit = 0;
}

uint64_t ctf_stream_events(const struct ctf_stream *s)
{
	uint64_t sum = 0;

	for (unsigned int id = 0; id < CTF_ID_MAX; id++)
		sum += s->count[id];
	return sum;
}

/* Writes the buffer, and continues at the same place in a page. */
static int write_out(struct ctf_stream *s, struct ctf_target *t)
{
	uint32_t size = s->packet - s->from;
	int err = 0;

	if (size && t->sink) {
		uint64_t events = ctf_stream_events(s); /* all events are in closed packets */

		err = t->sink(t->sink_arg, s->which, s->buffer + s->from, size, events - s->given);
		s->given = events;
	} else if (size)
		err = write_file(s, t, s->buffer + s->from, size);
	if (err)
		return err;
	if (t->sink)
		t->bytes += size;
	s->from = s->packet = s->used = s->used % CTF_PAGE;
	return 0;
}

static void begin_packet(struct ctf_stream *s, uint64_t ts, uint32_t pages)
{
	s->end = s->packet / CTF_PAGE * CTF_PAGE + pages;
	s->used = s->packet + (uint32_t)sizeof(struct ctf_packet_head);
	s->limit = s->end - (uint32_t)sizeof(struct mg_slot) + 1;
	s->first_ts = ts;
}

/* Writes an empty packet up to the end of a page of which the file has a part. */
static void fill_page(struct ctf_stream *s, const struct ctf_target *t)
{
	if (s->packet % CTF_PAGE == 0)
		return;
	begin_packet(s, s->last_ts, CTF_PAGE);
	close_packet(s, t, true);
}

int ctf_stream_make_room(struct ctf_stream *s, struct ctf_target *t, uint32_t size, uint64_t ts)
{
	uint32_t pages; /* bytes */
	int err = 0;

	size += (uint32_t)sizeof(struct ctf_packet_head);
	pages = (size + CTF_PAGE - 1) / CTF_PAGE * CTF_PAGE;
	if (pages > CTF_BUFFER)
		return -E2BIG;
	close_packet(s, t, true);
	if (s->packet % CTF_PAGE + size > CTF_PAGE)
		fill_page(s, t);
	if (s->packet / CTF_PAGE * CTF_PAGE + pages > CTF_BUFFER)
		err = write_out(s, t);
	if (!err && !s->buffer) {
		s->buffer = aligned_alloc(CTF_PAGE, CTF_BUFFER);
		err = s->buffer ? 0 : -ENOMEM;
	}
	if (!err && !t->sink) /* a write error is reported at once */
		err = open_file(s, t);
	if (!err)
		begin_packet(s, ts, pages);
	return err;
}

int ctf_stream_flush(struct ctf_stream *s, struct ctf_target *t, bool fill)
{
	close_packet(s, t, fill);
	if (fill)
		fill_page(s, t);
	return write_out(s, t);
}

int ctf_stream_append(struct ctf_stream *s, struct ctf_target *t, uint8_t *packets, uint32_t size)
{
	int err = ctf_stream_flush(s, t, true);

	for (uint32_t at = 0; !err && at < size; at += (uint32_t)packet_bytes(packets + at)) {
		struct ctf_packet_head h;

		memcpy(&h, packets + at, sizeof(h));
		if (s->seq == 0)
			s->discarded_before = h.events_discarded;
		memcpy(h.uuid, t->uuid, sizeof(h.uuid));
		h.events_discarded -= s->discarded_before;
		h.packet_seq_num = s->seq++;
		s->last_ts = h.timestamp_end;
		memcpy(packets + at, &h, sizeof(h));
	}
	return err ? err : write_file(s, t, packets, size);
}

void ctf_stream_next(struct ctf_stream *s)
{
	if (s->fd >= 0)
		close(s->fd);
	s->fd = -1;
	s->from = s->packet = s->used = s->limit = 0;
	s->seq = s->file_size = s->last_ts = 0;
	s->discarded_before = s->discarded;
}

void ctf_stream_free(struct ctf_stream *s)
{
	if (s->fd >= 0)
		close(s->fd);
	free(s->buffer);
}
