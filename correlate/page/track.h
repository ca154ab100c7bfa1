/* SPDX-License-Identifier: MIT */
/*
 * The points of one line of a chart, or the intervals of one row: rows of numbers, sorted by their
 * first column, a time. All tracks of a page together have at most a number of rows; beyond that
 * the long ones are thinned out, so that what remains still has the largest and smallest values.
 */
#ifndef MAGNET_CORRELATE_PAGE_TRACK_H
#define MAGNET_CORRELATE_PAGE_TRACK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "hash.h"
#include "sums/dist.h"

/* clang-format off */
/*
 * Kinds, X(ID, name, columns): name and type of each column after the first, which is TIME:
 * TIME and SPAN are cycles, as in the facts table; COUNT is a number; TEXT is a text's number.
 */
#define MG_TRACKS(X) \
	X(SIZE,        "size",        "payload:COUNT wire:COUNT") \
	X(BUFFER,      "buffer",      "bytes:COUNT") \
	X(UNSENT,      "unsent",      "bytes:COUNT") \
	X(CWND,        "cwnd",        "segments:COUNT") \
	X(SSTHRESH,    "ssthresh",    "segments:COUNT") \
	X(SRTT,        "srtt",        "us:COUNT") \
	X(RTO,         "rto",         "us:COUNT") \
	X(SND_WND,     "snd_wnd",     "bytes:COUNT") \
	X(RCV_WND,     "rcv_wnd",     "bytes:COUNT") \
	X(RETRANSMIT,  "retransmit",  "bytes:COUNT segments:COUNT") \
	X(DROP,        "drop",        "bytes:COUNT segments:COUNT why:TEXT") \
	X(EXCHANGE,    "exchange",    "to_reply:SPAN request:TEXT ordinal:COUNT") \
	X(WAIT,        "wait",        "woken:TIME end:TIME why:TEXT")
/* clang-format on */
#define TRACK_ID(ID, name, columns) TRACK_##ID,
enum track_kind { MG_TRACKS(TRACK_ID) TRACK_KINDS };
#undef TRACK_ID

/* the first one included */
#define TRACK_COLUMNS 4
enum track_type { TRACK_TIME, TRACK_SPAN, TRACK_COUNT, TRACK_TEXT };
struct track_form {
	const char *name;
	int columns;
	const char *column[TRACK_COLUMNS];
	enum track_type type[TRACK_COLUMNS];
};
/* Returns the columns of a kind. */
const struct track_form *track_form(enum track_kind kind);

struct track_key {
	uint64_t of;  /* socket or thread */
	uint32_t sub; /* layer, or the number of a text */
	uint8_t kind; /* enum track_kind */
	uint8_t rx;
	uint16_t unused; /* 0, so that keys can be compared as bytes */
};

struct track {
	struct track_key key;
	uint64_t *row; /* `n` rows of the columns of its kind */
	size_t n, cap;
	uint64_t seen;      /* rows that were added */
	uint32_t name;      /* number of a text */
	struct dist values; /* SIZE: payload of the packets that the figures count */
	UT_hash_handle hh;
};

struct tracks {
	struct track *table; /* a hash table */
	size_t rows, most;   /* of all of them; the limit */
};

/* Returns the track with this key, made if needed; NULL without memory. */
struct track *track_of(struct tracks *all, const struct track_key *key);
/* Adds a row; the columns are those of the kind. FACT_NONE is a value that is not known. */
void track_add(struct tracks *all, struct track *t, const uint64_t row[TRACK_COLUMNS]);
/* Sorts all tracks by time. */
void tracks_sort(struct tracks *all);
void tracks_free(struct tracks *all);

#endif
