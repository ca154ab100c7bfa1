/* SPDX-License-Identifier: MIT */
/* The value of a figure, and what the table of figures says of it. */
#ifndef MAGNET_CORRELATE_REPORTED_VALUE_H
#define MAGNET_CORRELATE_REPORTED_VALUE_H

#include <jansson.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>

struct value {
	enum value_kind {
		VALUE_UNKNOWN,
		VALUE_COUNT,
		VALUE_SIGNED,
		VALUE_NUMBER,
		VALUE_TEXT,
		VALUE_FLAG,
		VALUE_ANY,   /* borrowed */
		VALUE_GIVEN, /* for whoever asks to free */
	} kind;
	union {
		uint64_t count;
		int64_t signed_count;
		double number;
		const char *text; /* valid as long as the figures it was asked of */
		bool flag;
		const json_t *any;
		json_t *given;
	};
};

static inline struct value value_unknown(void)
{
	return (struct value){.kind = VALUE_UNKNOWN};
}

static inline struct value value_count(uint64_t n)
{
	return (struct value){.kind = VALUE_COUNT, .count = n};
}

static inline struct value value_signed(int64_t n)
{
	return (struct value){.kind = VALUE_SIGNED, .signed_count = n};
}

/* Returns an unknown value for NAN and infinity. */
static inline struct value value_number(double v)
{
	return isfinite(v) ? (struct value){.kind = VALUE_NUMBER, .number = v} : value_unknown();
}

/* Returns an unknown value for NULL. */
static inline struct value value_text(const char *s)
{
	return s ? (struct value){.kind = VALUE_TEXT, .text = s} : value_unknown();
}

static inline struct value value_flag(bool b)
{
	return (struct value){.kind = VALUE_FLAG, .flag = b};
}

static inline struct value value_any(const json_t *j)
{
	return j ? (struct value){.kind = VALUE_ANY, .any = j} : value_unknown();
}

static inline struct value value_given(json_t *j)
{
	return j ? (struct value){.kind = VALUE_GIVEN, .given = j} : value_unknown();
}

/* Returns an unknown value unless it is known. */
static inline struct value value_if(bool known, struct value v)
{
	return known ? v : value_unknown();
}

/* Returns a number as such, NAN if it is not known. */
static inline double value_of(struct value v)
{
	return v.kind == VALUE_NUMBER   ? v.number
	       : v.kind == VALUE_COUNT  ? (double)v.count
	       : v.kind == VALUE_SIGNED ? (double)v.signed_count
					: NAN;
}

/* clang-format off */
#define MG_UNITS(U) \
	U(NONE, "") U(NS, "ns") U(US, "us") U(BYTES, "bytes") U(SHARE, "share") U(CALLS, "calls") \
	U(WAITS, "waits") U(SWITCHES, "switches") U(THREADS, "threads") U(RANGES, "ranges") \
	U(TIMES, "times") U(CYCLES, "cycles") U(SEGMENTS, "segments") U(PACKETS, "packets") \
	U(FLOWS, "flows") U(EVENTS, "events") U(PPM, "ppm") U(HZ, "Hz")
/* clang-format on */

#define MG_UNIT_ID(ID, name) IN_##ID,
enum unit { MG_UNITS(MG_UNIT_ID) UNITS };
#undef MG_UNIT_ID
extern const char *const unit_names[UNITS];

enum figure_type {
	FIGURE_COUNT,
	FIGURE_SIGNED,
	FIGURE_NUMBER,
	FIGURE_TEXT,
	FIGURE_FLAG,
	FIGURE_ANY,
	FIGURE_OBJECT,
	FIGURE_LIST,
	FIGURE_WORDS,
	FIGURE_TEXTS,
	FIGURE_PART,
};

/* When a figure is known. */
struct known {
	bool (*is)(const void *of); /* NULL: its getter knows */
	const char *when;
	bool always;
};

struct figure {
	const char *name, *label, *doc;
	const struct known *known;
	const struct scope *child;
	const char *const *words;
	uint8_t words_n;
	uint8_t type; /* enum figure_type */
	uint8_t unit; /* enum unit */
	union {
		struct value (*value)(const void *of);
		struct value (*word)(const void *of, int word);
		/* Fills in the figures of the child. Returns false if there are none. */
		bool (*into)(const void *of, void *child);
		/*
		 * Fills in those of the next one. `at` is 0 at first and the getter's own. Returns
		 * false at the end.
		 */
		bool (*next)(const void *of, uintptr_t *at, void *child);
		struct value (*next_text)(const void *of, uintptr_t *at);
	} get;
};

struct scope {
	const char *name, *doc;
	const struct figure *figure;
	int figures;
};

#endif
