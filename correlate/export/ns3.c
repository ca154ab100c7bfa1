/* SPDX-License-Identifier: MIT */
#include "export/ns3.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "alloc.h"
#include "event_table.h"
#include "export/text_file.h"
#include "field_text.h"
#include "hash.h"
#include "render/report.h"

/* ends of the names of a sender's two files */
#define UDP    ".udp"
#define BURSTS ".csv"

struct write {
	uint64_t ns, bytes;
};

struct sender {
	UT_hash_handle hh;
	uint64_t sock;
	struct write *write;
	size_t n, room;
	bool is_known; /* its fact has come */
	char kind[16], program[32], local[64], remote[64];
};

struct ns3 {
	struct export *e;
	struct sender *by_sock;
	struct text_file list;
};

static struct sender *sender_of(struct ns3 *x, uint64_t sock)
{
	struct sender *s;

	HASH_FIND(hh, x->by_sock, &sock, sizeof(sock), s);
	if (s)
		return s;
	s = mg_calloc(1, sizeof(*s));
	if (!s)
		return NULL;
	s->sock = sock;
	HASH_ADD(hh, x->by_sock, sock, sizeof(s->sock), s);
	return hash_kept(s);
}

static void on_call(void *arg, const void *fact)
{
	const struct fact_call *f = fact;
	struct ns3 *x = arg;
	struct sender *s;

	if (!f->flow.sock || f->flow.rx || !f->begin || !f->bytes || f->bytes == FACT_NONE ||
		!export_takes(x->e, FACT_call, fact))
		return;
	s = sender_of(x, f->flow.sock);
	if (!s)
		return;
	if (s->n == s->room) {
		size_t room = s->room ? 2 * s->room : 64;
		struct write *all = mg_realloc(s->write, room * sizeof(*all));

		if (!all)
			return;
		s->write = all;
		s->room = room;
	}
	s->write[s->n++] = (struct write){core_ns(x->e->core, f->begin), f->bytes};
}

static void address(char out[64], const struct fact_address *a)
{
	if (a->addr)
		address_text(out, a->addr, a->port);
}

static void on_flow(void *arg, const void *fact)
{
	const struct fact_flow *f = fact;
	struct ns3 *x = arg;
	struct sender *s;

	if (f->flow.rx)
		return;
	HASH_FIND(hh, x->by_sock, &f->flow.sock, sizeof(f->flow.sock), s);
	if (!s)
		return;
	s->is_known = true;
	snprintf(s->kind, sizeof(s->kind), "%s", mg_kind_name(f->kind));
	snprintf(s->program, sizeof(s->program), "%.30s", f->program ? f->program : "");
	address(s->local, &f->local);
	address(s->remote, f->remote.addr ? &f->remote : &f->first_remote);
}

bool ns3_begin(struct export *e)
{
	struct ns3 *x = mg_calloc(1, sizeof(*x));

	if (!x)
		return export_refuse(e, e->to, ENOMEM);
	x->e = e;
	e->state = x;
	if (!export_directory(e) || !text_file_open(&x->list, e, "flows.tsv")) {
		free(x);
		return false;
	}
	facts_listen(core_facts(e->core), FACT_call, on_call, x);
	facts_listen(core_facts(e->core), FACT_flow, on_flow, x);
	return true;
}

static int by_time(const void *a, const void *b)
{
	uint64_t x = ((const struct write *)a)->ns, y = ((const struct write *)b)->ns;

	return (x > y) - (x < y);
}

/*
 * Writes what UdpTraceClient reads: number, type of frame, time in ms and bytes. Numbers begin at
 * 1, since it leaves out 0; times too, since a first time of 0 would have it send all again at
 * once.
 */
static void write_udp(FILE *to, const struct sender *s)
{
	for (size_t i = 0; i < s->n; i++)
		fprintf(to, "%zu P %" PRIu64 " %" PRIu64 "\n", i + 1,
			(s->write[i].ns - s->write[0].ns + 500000) / 1000000 + 1,
			s->write[i].bytes);
}

/* Writes what TraceFileBurstGenerator reads: bytes, and seconds until the next write. */
static void write_bursts(FILE *to, const struct sender *s)
{
	for (size_t i = 0; i < s->n; i++) {
		uint64_t ns = i + 1 < s->n ? s->write[i + 1].ns - s->write[i].ns : 0;

		fprintf(to, "%" PRIu64 ",%" PRIu64 ".%09" PRIu64 "\n", s->write[i].bytes,
			ns / 1000000000, ns % 1000000000);
	}
}

/* Fills in the begin of the names of a sender's files. */
static void stem_of(char stem[32], const struct sender *s)
{
	flow_name(stem, s->sock, false);
	for (char *c = stem; *c; c++)
		if (*c == '/' || *c == ':')
			*c = '-';
}

static bool write_file(struct ns3 *x, const struct sender *s, const char *stem, const char *suffix,
	void (*fn)(FILE *to, const struct sender *s))
{
	struct text_file file;

	if (!text_file_open(&file, x->e, "%s%s", stem, suffix))
		return false;
	fn(file.to, s);
	return text_file_close(&file, x->e, true);
}

static void list(struct ns3 *x, const struct sender *s, const char *stem, uint64_t first_ns)
{
	uint64_t bytes = 0, start = s->write[0].ns - first_ns;

	for (size_t i = 0; i < s->n; i++)
		bytes += s->write[i].bytes;
	fprintf(x->list.to, "%s\t%s\t", stem, s->is_known ? s->kind : "");
	field_text_words(x->list.to, s->program, strlen(s->program));
	fprintf(x->list.to, "\t%s\t%s\t%" PRIu64 ".%09" PRIu64 "\t%zu\t%" PRIu64 "\n", s->local,
		s->remote, start / 1000000000, start % 1000000000, s->n, bytes);
}

/* Writes the files of all senders. Returns false with `why` set if one of them could not be. */
static bool write_all(struct ns3 *x)
{
	uint64_t first_ns = UINT64_MAX;
	bool good = true;

	for (struct sender *s = x->by_sock; s; s = s->hh.next) {
		qsort(s->write, s->n, sizeof(*s->write), by_time);
		if (s->write[0].ns < first_ns)
			first_ns = s->write[0].ns;
	}
	fputs("flow\tprotocol\tprogram\tlocal\tremote\tstart_s\twrites\tbytes\n", x->list.to);
	for (struct sender *s = x->by_sock; s && good; s = s->hh.next) {
		char stem[32];

		stem_of(stem, s);
		good = write_file(x, s, stem, UDP, write_udp) &&
		       write_file(x, s, stem, BURSTS, write_bursts);
		list(x, s, stem, first_ns);
	}
	return good;
}

/* Removes the files of all senders, as not all could be written. */
static void remove_all(const struct ns3 *x)
{
	struct text_file file;

	for (const struct sender *s = x->by_sock; s; s = s->hh.next)
		for (int i = 0; i < 2; i++) {
			char stem[32];

			stem_of(stem, s);
			snprintf(file.path, sizeof(file.path), "%.3000s/%s%s", x->e->to, stem,
				i ? BURSTS : UDP);
			text_file_remove(&file);
		}
}

static bool has_writes(const struct ns3 *x)
{
	if (x->by_sock)
		return true;
	snprintf(x->e->why, sizeof(x->e->why),
		"no call that sends has a flow here: record the kernel side too, or choose more");
	return false;
}

bool ns3_end(struct export *e, bool is_read)
{
	struct ns3 *x = e->state;
	struct sender *s, *next;
	bool good = is_read && has_writes(x) && write_all(x);

	good = text_file_close(&x->list, e, good) && good;
	if (!good) {
		remove_all(x);
		export_remove_directory(e);
	}
	HASH_ITER (hh, x->by_sock, s, next) {
		HASH_DEL(x->by_sock, s);
		free(s->write);
		free(s);
	}
	free(x);
	return good;
}
