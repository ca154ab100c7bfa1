/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "stream.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "alloc.h"
#include "plain_file.h"

#define MAGIC      0xC1FC1FC1u
#define PACKET_MAX (64u << 20)
#define HEAD_MAX   4096
#define LATEST_NS  (1ull << 62) /* limit of times; offsets are smaller, so that no sum overflows */

const char stream_no_more_files[] =
	"the limit on open files is reached: raise it (ulimit -n), and try again";
static const char cut[] = "the file ends within a packet";

/* ---- bytes ---- */

static const char *open_source(struct stream *s)
{
	int fd;

	if (s->memory || s->fd >= 0)
		return NULL;
	fd = plain_file_open(s->path, &s->size);
	if (fd < 0)
		return fd == -EMFILE ? stream_no_more_files : plain_file_problem(-fd);
	s->fd = fd;
	return NULL;
}

static struct window_source source_of(const struct stream *s)
{
	return (struct window_source){s->memory, s->fd, s->size};
}

/* ---- packets ---- */

struct packet {
	uint64_t begin, end;    /* times */
	uint64_t content, size; /* bytes, with the header */
	uint64_t number;
	int64_t cpu;
};

/*
 * Parses a packet header; `after` is the end time of the packet before. Returns NULL or what is
 * wrong.
 */
static const char *read_head(const struct stream *s, const uint8_t *head, uint64_t left,
	uint64_t after, struct packet *p)
{
	const struct layout *l = s->layout;
	uint64_t content = spot_read(&l->content, head), size = spot_read(&l->packet, head);

	*p = (struct packet){spot_read(&l->begin, head), spot_read(&l->end, head), content / 8,
		size / 8, spot_read(&l->seq, head), (int64_t)spot_read(&l->cpu, head)};
	if (spot_read(&l->magic, head) != MAGIC)
		return "no packet begins there";
	if (memcmp(head + l->uuid.at, l->tsdl.uuid, sizeof(l->tsdl.uuid)) != 0 ||
		spot_read(&l->stream_id, head) != l->tsdl.stream_id)
		return "a packet of another trace";
	if (content % 8 || size % 8 || content > size || p->content < l->packet_head ||
		p->size > PACKET_MAX)
		return "a packet has a size that cannot be";
	if (p->size > left)
		return cut;
	if (p->begin < after || p->end < p->begin || p->end >= LATEST_NS)
		return "time runs backwards between packets";
	return NULL;
}

const char *stream_check(struct stream *s)
{
	const char *why = open_source(s);
	struct window_source from = source_of(s);
	uint32_t size = s->layout->packet_head;
	uint8_t head[HEAD_MAX];
	struct packet p = {0};

	if (!why && size > sizeof(head))
		why = "packets have heads that are too long";
	if (!why && s->size)
		why = size > s->size ? cut : window_read(&from, 0, head, size);
	if (!why && s->size)
		why = read_head(s, head, s->size, 0, &p);
	s->time = p.begin;
	stream_close(s);
	return why;
}

/* Moves the window to the next packet; `size` is its size if it does not fit, else 0. */
static const char *refill(struct stream *s, uint64_t size)
{
	struct window_source from = source_of(s);
	struct window *w = &s->window;
	uint64_t end = w->at + w->size;
	const char *why;

	if (size > s->size - s->next)
		return cut;
	why = size ? window_enlarge(w, &from, s->next, size) : window_move(w, &from, s->next);
	if (!why)
		s->read += w->at + w->size - end;
	return why;
}

/* Brings the next packet into the window: first its header, then all of it. */
static const char *next_packet(struct stream *s, struct packet *p)
{
	for (int tries = 0;; tries++) {
		uint64_t in = s->next - s->window.at, left = s->window.size - in;
		bool has_head = left >= s->layout->packet_head;
		const char *why =
			has_head ? read_head(s, s->window.bytes + in, left, s->until, p) : cut;

		if (why != cut || tries == 2)
			return why;
		why = refill(s, has_head && p->size > s->window.cap ? p->size : 0);
		if (why)
			return why;
	}
}

/* Detects missing packets by their numbers. The first packet may have any number. */
static const char *look_for_gap(struct stream *s, const struct packet *p)
{
	uint64_t expected = s->packet;

	if (!s->layout->seq.size)
		return NULL;
	s->packet = p->number + 1;
	if (!s->next || p->number == expected)
		return NULL;
	if (p->number < expected)
		return "packets are not in the order of their numbers";
	s->gap.count = p->number - expected;
	s->gap.from = s->until;
	s->gap.to = p->begin;
	return NULL;
}

/* Skips packets without events up to the next one that has some, or to a gap before it. */
static const char *enter_packet(struct stream *s)
{
	while (s->at == s->end && !s->gap.count) {
		struct packet p;
		const char *why;

		if (s->next == s->size) {
			s->ended = true;
			return NULL;
		}
		why = next_packet(s, &p);
		if (why == cut && s->grows) { /* it is not written yet */
			s->ended = true;
			return NULL;
		}
		if (!why)
			why = look_for_gap(s, &p);
		if (why)
			return why;
		s->at = s->window.bytes + (s->next - s->window.at) + s->layout->packet_head;
		s->end = s->at + (p.content - s->layout->packet_head);
		s->next += p.size;
		/* a gap is placed where it begins */
		s->time = s->gap.count ? s->gap.from : p.begin;
		s->until = p.end;
		if (!s->has_cpu)
			s->cpu = (int16_t)(s->layout->cpu.size ? p.cpu : -1);
	}
	return NULL;
}

/* ---- events ---- */

/* Goes to the next packet, where the present one has no event more. */
const char *stream_enter(struct stream *s)
{
	const char *why = s->at == s->end ? enter_packet(s) : NULL;

	if (why || s->ended || s->gap.count)
		return why;
	if ((size_t)(s->end - s->at) < s->layout->event_head)
		return "an event goes beyond its packet";
	return stream_advance(s);
}

const char *stream_start(struct stream *s)
{
	const char *why = open_source(s);
	struct window_source from = source_of(s);

	if (!why)
		why = window_begin(&s->window, &from, s->grows, s->core);
	if (why)
		return why;
	if (s->fd >= 0)
		posix_fadvise(s->fd, 0, 0, POSIX_FADV_SEQUENTIAL);
	s->time = 0;
	s->at = s->end = s->window.bytes;
	return stream_enter(s);
}

/* Sets the thread of an application's event, which the event itself names. */
static inline void whose(const struct layout *l, const uint8_t *head, struct mg_event *e)
{
	if (MG_IS_CALL(e->id)) {
		e->tid = e->call.tid;
		e->pid = e->call.pid;
	} else if (e->id == MG_EVENT_mark) {
		e->tid = e->mark.tid;
		e->pid = e->mark.pid;
	} else {
		e->tid = (uint32_t)spot_read(&l->tid, head);
		e->pid = (uint32_t)spot_read(&l->pid, head);
	}
}

const char *stream_event_any(struct stream *s, struct mg_event *out, bool text)
{
	const struct layout *l = s->layout;
	const uint8_t *head = s->at, *fields = head + l->event_head;
	size_t left = (size_t)(s->end - fields), size;
	const struct event_class *k;
	uint16_t id;

	memcpy(&id, head + l->id.at, sizeof(id));
	k = id < l->classes ? l->class[id] : NULL;
	if (!k)
		return "an event that is not described";
	size = event_size(k, fields, left);
	if (size > left)
		return "an event goes beyond its packet";
	s->at = fields + size;
	s->events++;
	out->id = 0;
	if (!k->desc && !k->is_chosen) {
		if (!s->unknown++ || strcmp(k->described->name, s->unknown_name) < 0)
			s->unknown_name = k->described->name;
		return NULL;
	}
	s->has_cpu = true;
	out->time_ns = s->time;
	out->cpu = s->cpu;
	out->id = k->desc ? k->desc->id : MG_EVENT_other;
	if (k->desc) {
		event_payload(k, fields, out);
		if (out->id == MG_EVENT_contents)
			s->contents = out->contents.events;
	} else {
		out->other.name = k->described->name;
		out->other.text = text ? event_text(k, fields, size) : NULL;
	}
	whose(l, head, out);
	return NULL;
}

const char *stream_pass_gap(struct stream *s)
{
	s->time = s->gap.to;
	s->gap.count = 0;
	return stream_enter(s);
}

const char *stream_more(struct stream *s)
{
	struct stat st;

	if (!s->window.bytes)
		return stream_start(s);
	if (fstat(s->fd, &st) != 0)
		return strerror(errno);
	if ((uint64_t)st.st_size < s->size)
		return "the file has become shorter";
	if ((uint64_t)st.st_size == s->size)
		return NULL;
	s->size = (uint64_t)st.st_size;
	if (!s->ended)
		return NULL;
	s->ended = false;
	return stream_enter(s);
}

void stream_close(struct stream *s)
{
	window_end(&s->window);
	if (s->fd >= 0)
		close(s->fd);
	s->fd = -1;
	s->at = s->end = NULL;
}

uint64_t stream_position(const struct stream *s)
{
	const struct window *w = &s->window;

	return w->bytes && s->at != s->end ? w->at + (uint64_t)(s->at - w->bytes) : s->next;
}
