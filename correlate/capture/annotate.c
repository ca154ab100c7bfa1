/* SPDX-License-Identifier: MIT */
#include "capture/annotate.h"

#include <inttypes.h>
#include <math.h>
#include <netinet/in.h>
#include <string.h>

#include "capture/annotate_print.h"
#include "capture/comment.h"

#define SECTION_FIXED 24 /* bytes before its options */
#define SECTION_SIZE  16 /* where its length stands */

static enum frame_problem parse(const struct captured *p, struct frame *f)
{
	return frame_parse(f, p->interface->link_type, p->data, p->length, p->original);
}

int annotate_begin(struct annotate *a, const struct traffic *t, struct capture_reader *capture)
{
	struct captured p;
	struct frame f;
	int got;

	memset(a, 0, sizeof(*a));
	a->t = t;
	a->capture = capture;
	matcher_init(&a->matcher, t);
	capture_clock_init(&a->clock, t, 0);
	while ((got = capture_next(capture)) > 0) {
		got = capture_packet(capture, &p);
		if (got < 0)
			break;
		if (!got || parse(&p, &f) != FRAME_NONE)
			continue;
		a->clock.hosts.slack =
			fmax(a->clock.hosts.slack, p.resolution_ns / 2 + t->time_error_ns);
		capture_clock_add(&a->clock, &a->matcher, &p, &f);
	}
	if (got < 0)
		return -1;
	capture_clock_solve(&a->clock);
	return capture_rewind(capture);
}

void annotate_free(struct annotate *a)
{
	capture_clock_free(&a->clock);
	matcher_free(&a->matcher);
}

/* ---- comments ---- */

uint64_t annotate_offset(const struct traffic_packet *p, const struct frame *f)
{
	int64_t further = p->proto == IPPROTO_TCP
				  ? (int32_t)(f->seq - p->seq)
				  : (int64_t)(uint16_t)(f->ip_id - p->ip_id) * p->gso_size;

	if (p->offset == FACT_NONE || (further < 0 && p->offset < (uint64_t)-further))
		return FACT_NONE;
	return p->offset + (uint64_t)further;
}

/* Adds when it was captured, by the clocks' relation. */
static void add_time(
	char out[COMMENT_MOST], const struct traffic_packet *p, uint64_t time_ns, double half_ns)
{
	size_t used = strlen(out);
	bool later = time_ns >= p->time_ns;
	uint64_t away = later ? time_ns - p->time_ns : p->time_ns - time_ns;

	if (!isnan(half_ns))
		snprintf(out + used, COMMENT_MOST - used,
			"; captured %.3f us %s %s (within %.3f us)", (double)away / 1e3,
			later ? "after" : "before",
			traffic_is_rx(p) ? "its device delivered it" : "its driver had it",
			half_ns / 1e3);
}

static void add_comment(struct annotate *a, struct block *to, const struct matched *m,
	const struct frame *f, uint64_t time_ns, double half_ns)
{
	char text[COMMENT_MOST];
	struct comment_bytes b = {0};

	if (!m->packet)
		return;
	b.sock = m->packet->sock;
	b.rx = traffic_is_rx(m->packet);
	b.offset = annotate_offset(m->packet, f);
	b.len = f->len;
	b.time_ns = m->packet->time_ns;
	comment_write(text, a->t, &b);
	add_time(text, m->packet, time_ns, half_ns);
	block_text(to, OPTION_COMMENT, text);
}

/* Makes the packet's block with its comments. Returns false if it stays as it is. */
static bool annotate_packet(struct annotate *a, const struct captured *p, struct block *to)
{
	static const struct match_places at = {PLACE_DRIVER, PLACE_DEVICE};
	struct matched sent, received;
	enum frame_problem problem;
	enum match_problem missing;
	uint64_t time_ns = 0;
	double half_ns = NAN;
	bool takes = p->options || !a->capture->is_pcapng;
	struct frame f;

	a->packets++;
	problem = parse(p, &f);
	a->frame_problem[problem] += problem != FRAME_NONE;
	if (problem != FRAME_NONE)
		return false;
	if (p->has_time)
		time_ns = capture_clock_time(&a->clock, p->ns, &half_ns);
	missing = match_frame(&a->matcher, &f, at, time_ns, &sent, &received);
	a->match_problem[missing] += missing != MATCH_NONE;
	if (missing != MATCH_NONE)
		return false;
	a->matched++;
	a->no_room += !takes;
	if (!takes)
		return false;
	capture_copy(a->capture, p, to);
	add_comment(a, to, &sent, &f, time_ns, half_ns);
	add_comment(a, to, &received, &f, time_ns, half_ns);
	block_finish(to);
	return true;
}

/* ---- the file ---- */

static void section_comment(const struct annotate *a, char *out, size_t size)
{
	struct annotate_relation r;

	annotate_relation(a, &r);
	if (!r.known)
		snprintf(out, size,
			"Comments that begin with \"magnet:\" were added by magnet annotate. The "
			"clocks of "
			"capture and recording could not be related.");
	else
		snprintf(out, size,
			"Comments that begin with \"magnet:\" were added by magnet annotate. The "
			"capture's "
			"clock is ahead of the recording's by %.0f ns, within %.0f ns.",
			r.ahead_ns, r.half_ns);
}

/* Writes the section's header; its length is not given, as comments change it. */
static void copy_section(struct annotate *a, struct block *to)
{
	const struct captured whole = {.options = SECTION_FIXED};
	const uint64_t not_given = UINT64_MAX;
	char text[400];

	section_comment(a, text, sizeof(text));
	capture_copy(a->capture, &whole, to);
	if (!to->failed)
		memcpy(to->v + SECTION_SIZE, &not_given, sizeof(not_given));
	block_text(to, OPTION_COMMENT, text);
	block_finish(to);
}

/* Writes what stands at the beginning of a pcapng file, for a pcap file, which has none. */
static bool write_head(struct annotate *a, const char *program, struct block *b, FILE *to)
{
	const struct capture_interface *i = a->capture->interface;
	uint8_t resolution = i->ticks == 1000000 ? 6 : 9;
	char text[400];

	section_comment(a, text, sizeof(text));
	block_begin_section(b);
	block_text(b, OPTION_COMMENT, text);
	block_text(b, OPTION_PROGRAM, program);
	block_finish(b);
	if (!block_write(b, to))
		return false;
	block_begin_interface(b, i->link_type, i->snaplen);
	block_option(b, OPTION_RESOLUTION, &resolution, sizeof(resolution));
	block_finish(b);
	return block_write(b, to);
}

/* Writes the present block. Returns 1, 0 if that failed, or -1 if the block is damaged. */
static int write_block(struct annotate *a, struct block *b, FILE *to)
{
	struct capture_reader *r = a->capture;
	struct captured p;
	int got = capture_packet(r, &p);

	if (got < 0)
		return -1;
	if (got && annotate_packet(a, &p, b))
		return block_write(b, to);
	if (r->type == BLOCK_SECTION) {
		copy_section(a, b);
		return block_write(b, to);
	}
	if (!r->is_pcapng) {
		capture_copy(r, &p, b);
		block_finish(b);
		return block_write(b, to);
	}
	return fwrite(r->block, 1, r->size, to) == r->size;
}

int annotate_write(struct annotate *a, const char *program, FILE *to)
{
	struct block b = {0};
	int got, written = 1;

	if (!a->capture->is_pcapng)
		written = write_head(a, program, &b, to);
	while (written > 0 && (got = capture_next(a->capture)) != 0)
		written = got < 0 ? -1 : write_block(a, &b, to);
	block_free(&b);
	return written < 0 ? -1 : !written;
}
