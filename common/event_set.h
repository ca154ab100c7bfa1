/* SPDX-License-Identifier: MIT */
/* Sets of the system's events, those with an id below MG_TRACER_BASE. Others are in no set. */
#ifndef MAGNET_COMMON_EVENT_SET_H
#define MAGNET_COMMON_EVENT_SET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "events.h"

#define MG_SET_WORDS ((MG_TRACER_BASE + 63) / 64)

struct mg_events {
	uint64_t word[MG_SET_WORDS]; /* a bit for each id */
};

static inline bool mg_events_have(struct mg_events s, unsigned int id)
{
	return id < MG_TRACER_BASE && s.word[id / 64] >> id % 64 & 1;
}

static inline void mg_events_add(struct mg_events *s, unsigned int id)
{
	if (id && id < MG_TRACER_BASE) /* 0 is no event */
		s->word[id / 64] |= UINT64_C(1) << id % 64;
}

static inline void mg_events_add_all(struct mg_events *s, struct mg_events more)
{
	for (size_t i = 0; i < MG_SET_WORDS; i++)
		s->word[i] |= more.word[i];
}

static inline struct mg_events mg_events_without(struct mg_events s, struct mg_events less)
{
	for (size_t i = 0; i < MG_SET_WORDS; i++)
		s.word[i] &= ~less.word[i];
	return s;
}

/* Whether they have an event in common. */
static inline bool mg_events_meet(struct mg_events a, struct mg_events b)
{
	uint64_t both = 0;

	for (size_t i = 0; i < MG_SET_WORDS; i++)
		both |= a.word[i] & b.word[i];
	return both != 0;
}

static inline bool mg_events_any(struct mg_events s)
{
	return mg_events_meet(s, s);
}

/* Whether `s` has all of `others`. */
static inline bool mg_events_have_all(struct mg_events s, struct mg_events others)
{
	return !mg_events_any(mg_events_without(others, s));
}

static inline struct mg_events mg_events_all(void)
{
	struct mg_events s = {{0}};

	for (unsigned int id = 0; id < MG_TRACER_BASE; id++)
		mg_events_add(&s, id);
	return s;
}

static inline struct mg_events mg_events_of(const uint16_t *id, size_t count)
{
	struct mg_events s = {{0}};

	for (size_t i = 0; i < count; i++)
		mg_events_add(&s, id[i]);
	return s;
}

/* The set of up to eight events by their names: MG_EVENTS(ip_out, ip_in). */
#define MG_EVENTS(...)                                              \
	mg_events_of((const uint16_t[]){MG_EVENT_IDS(__VA_ARGS__)}, \
		sizeof((const uint16_t[]){MG_EVENT_IDS(__VA_ARGS__)}) / sizeof(uint16_t))
#define MG_EVENT_IDS(...)                             MG_PICK_IDS(__VA_ARGS__, 8, 7, 6, 5, 4, 3, 2, 1)(__VA_ARGS__)
#define MG_PICK_IDS(...)                              MG_PICK_NINTH(__VA_ARGS__)
#define MG_PICK_NINTH(a, b, c, d, e, f, g, h, n, ...) MG_IDS_##n
#define MG_IDS_1(a)                                   MG_EVENT_##a
#define MG_IDS_2(a, ...)                              MG_EVENT_##a, MG_IDS_1(__VA_ARGS__)
#define MG_IDS_3(a, ...)                              MG_EVENT_##a, MG_IDS_2(__VA_ARGS__)
#define MG_IDS_4(a, ...)                              MG_EVENT_##a, MG_IDS_3(__VA_ARGS__)
#define MG_IDS_5(a, ...)                              MG_EVENT_##a, MG_IDS_4(__VA_ARGS__)
#define MG_IDS_6(a, ...)                              MG_EVENT_##a, MG_IDS_5(__VA_ARGS__)
#define MG_IDS_7(a, ...)                              MG_EVENT_##a, MG_IDS_6(__VA_ARGS__)
#define MG_IDS_8(a, ...)                              MG_EVENT_##a, MG_IDS_7(__VA_ARGS__)

#endif
