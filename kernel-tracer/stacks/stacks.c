/* SPDX-License-Identifier: MIT */
#include "stacks/stacks.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "clock.h"
#include "hash.h"
#include "stacks/chain.h"
#include "stacks/places.h"

/* A place that was written, by function, file and offset. */
struct written {
	uint64_t number;
	UT_hash_handle hh;
	char key[];
};

struct stacks {
	const struct hooks *hooks;
	struct ring_buffer *ring;
	struct places *places;
	struct mg_stack **stack; /* each only as long as it has frames */
	size_t count, room;
	uint64_t block_ns, unreadable, no_room;
	uint64_t passed; /* CLOCK_MONOTONIC: mappings from before were read */
	uint32_t self;
	int err;
	struct written *written;
	struct chain chain;
};

static int keep(struct stacks *s, const struct mg_stack *from)
{
	size_t size = offsetof(struct mg_stack, frame) + from->count * sizeof(from->frame[0]);
	struct mg_stack *copy;

	if (s->count == s->room) {
		size_t room = s->room ? 2 * s->room : 256;
		struct mg_stack **more = realloc(s->stack, room * sizeof(struct mg_stack *));

		if (!more)
			return -ENOMEM;
		s->stack = more;
		s->room = room;
	}
	copy = malloc(size);
	if (!copy)
		return -ENOMEM;
	memcpy(copy, from, size);
	s->stack[s->count++] = copy;
	return 0;
}

/* Reads what the kernel has reported of mappings until now. */
static void read_mappings(struct stacks *s)
{
	s->passed = mg_monotonic_ns();
	places_pass(s->places);
}

static int on_stack(void *arg, void *data, size_t size)
{
	struct stacks *s = arg;
	const struct mg_stack *one = data;

	if (size < sizeof(*one) || one->count > MG_STACK_FRAMES)
		return 0;
	if (one->user && one->pid == s->self) /* calibration's */
		return 0;
	s->err = keep(s, one);
	if (s->err)
		return s->err;
	if (one->at >= s->passed) /* its mappings may be newer, too */
		read_mappings(s);
	places_see(s->places, one);
	return 0;
}

int stacks_new(struct stacks **out, const struct hooks *h, uint64_t block_ns)
{
	struct stacks *s = calloc(1, sizeof(*s));

	if (!s)
		return -ENOMEM;
	*out = s;
	unsetenv("DEBUGINFOD_URLS"); /* libdw would ask servers for debuginfo */
	s->hooks = h;
	s->block_ns = block_ns;
	s->self = (uint32_t)getpid();
	s->places = places_new();
	s->ring = ring_buffer__new(hooks_map_fd(h, "new_stacks"), on_stack, s, NULL);
	return s->places && s->ring ? 0 : -ENOMEM;
}

int stacks_pass(struct stacks *s)
{
	if (!s)
		return 0;
	read_mappings(s);
	ring_buffer__consume(s->ring);
	return s->err;
}

/* ---- the end ---- */

static uint64_t missing(const struct stacks *s, uint32_t why)
{
	uint64_t n = 0;

	bpf_map_lookup_elem(hooks_map_fd(s->hooks, "stacks_missing"), &why, &n);
	return n;
}

int stacks_finish(struct stacks *s)
{
	int err = stacks_pass(s);

	s->unreadable = missing(s, MG_STACK_UNREADABLE);
	s->no_room = missing(s, MG_STACK_NO_ROOM);
	return err;
}

static int write_text(struct ctf_writer *w, struct mg_symbol *e, enum mg_symbol_text what,
	const char *text, size_t len)
{
	int err = 0;

	e->what = (uint8_t)what;
	e->piece = 0;
	for (size_t at = 0; at < len && !err; at += sizeof(e->text), e->piece++) {
		size_t n = len - at < sizeof(e->text) ? len - at : sizeof(e->text);

		memset(e->text, 0, sizeof(e->text));
		memcpy(e->text, text + at, n);
		err = ctf_event(w, CTF_OWN_STREAM, MG_EVENT_symbol, mg_monotonic_ns(), e,
			MG_PAYLOAD_SIZE(SYMBOL));
	}
	return err;
}

/* Writes a place unless it was written. Returns its number, 0 with an error in s->err. */
static uint64_t write_place(struct stacks *s, struct ctf_writer *w, const struct place *p)
{
	const char *function = p->function ? p->function : "", *file = p->file ? p->file : "";
	const char *why = p->why ? p->why : "";
	size_t size = p->function_length + strlen(file) + 24;
	struct mg_symbol e = {.offset = p->offset};
	struct written *one = calloc(1, sizeof(*one) + size), *known = NULL;

	if (!one) {
		s->err = -ENOMEM;
		return 0;
	}
	snprintf(one->key, size, "%" PRIx64 " %.*s\n%s", p->offset, (int)p->function_length,
		function, file);
	HASH_FIND_STR(s->written, one->key, known);
	if (known) {
		free(one);
		return known->number;
	}
	e.place = one->number = HASH_COUNT(s->written) + 1;
	HASH_ADD_STR(s->written, key, one);
	if (!hash_kept(one)) {
		s->err = -ENOMEM;
		return 0;
	}
	s->err = write_text(w, &e, MG_SYMBOL_FUNCTION, function, p->function_length);
	if (!s->err)
		s->err = write_text(w, &e, MG_SYMBOL_FILE, file, strlen(file));
	if (!s->err)
		s->err = write_text(w, &e, MG_SYMBOL_WHY, why, strlen(why));
	return e.place;
}

static int write_stack(struct stacks *s, struct ctf_writer *w, const struct mg_stack *one)
{
	chain_make(&s->chain, one, places_name, s->places);
	for (uint32_t i = 0; i < s->chain.count && !s->err; i++) {
		const struct chain_frame *f = &s->chain.frame[i];
		struct mg_stack_frame e = {.stack = one->id, .address = f->address, .depth = i};

		if (f->address)
			e.place = write_place(s, w, &f->place);
		if (!s->err)
			s->err = ctf_event(w, CTF_OWN_STREAM, MG_EVENT_stack_frame,
				mg_monotonic_ns(), &e, MG_PAYLOAD_SIZE(STACK_FRAME));
	}
	return s->err;
}

int stacks_write(struct stacks *s, struct ctf_writer *w)
{
	struct mg_stacks e;
	const char *why;

	for (size_t i = 0; i < s->count && !s->err; i++)
		write_stack(s, w, s->stack[i]);
	if (s->err)
		return s->err;
	e = (struct mg_stacks){.block_ns = s->block_ns,
		.distinct = s->count,
		.unreadable = s->unreadable,
		.no_room = s->no_room,
		.mappings_lost = places_mappings_lost(s->places)};
	why = places_why_no_kernel(s->places);
	if (why)
		snprintf(e.kernel, sizeof(e.kernel), "%s", why);
	return ctf_event(
		w, CTF_OWN_STREAM, MG_EVENT_stacks, mg_monotonic_ns(), &e, MG_PAYLOAD_SIZE(STACKS));
}

void stacks_free(struct stacks *s)
{
	struct written *one, *next;

	if (!s)
		return;
	HASH_ITER (hh, s->written, one, next) {
		HASH_DEL(s->written, one);
		free(one);
	}
	for (size_t i = 0; i < s->count; i++)
		free(s->stack[i]);
	free(s->stack);
	ring_buffer__free(s->ring);
	places_free(s->places);
	free(s);
}
