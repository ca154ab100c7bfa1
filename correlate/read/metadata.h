/* SPDX-License-Identifier: MIT */
/* The metadata of a CTF trace as text, and the facts that are needed before it is parsed. */
#ifndef MAGNET_CORRELATE_READ_METADATA_H
#define MAGNET_CORRELATE_READ_METADATA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define METADATA_MAX (16u << 20) /* bytes */

/*
 * Returns the text of DIR/metadata without packet headers, ended by a 0; the caller frees it.
 * Returns NULL with the reason in `why` if the file is damaged; metadata whose packets do not reach
 * its end babeltrace2 would read for ever.
 */
char *metadata_text(const char *dir, size_t *size, char *why, size_t why_size);

/*
 * Returns whether it is of CTF 2, JSON fragments behind record separators, as LTTng writes it from
 * version 2.15 on.
 */
bool metadata_is_ctf2(const char *text, size_t size);

struct metadata_facts {
	bool is_own;   /* magnet wrote the trace */
	bool is_lttng; /* one of LTTng's tracers wrote it */
	bool is_app;   /* one of magnet's, of the application side */
	/* one of magnet's, and ends with an event that gives the number of events */
	bool tells_contents;
	bool has_other_side; /* the recording has a trace of the other side too */
	bool has_uuid;
	char uuid[37];
	uint64_t format;  /* one of magnet's: MG_TRACE_FORMAT as it was then, */
	char version[33]; /* and the version of magnet; "" not known */
};
/* Returns the offset of the trace's clock from the epoch, ns; 0 if it has none in nanoseconds. */
int64_t metadata_clock_offset(const char *text);
void metadata_look(struct metadata_facts *facts, const char *text);

/* Overwrites comments and quoted texts with blanks. */
void metadata_blank_words(char *text, size_t size);

/*
 * Returns whether blocks are nested deeper than any tracer writes them, which would make parsers
 * fail.
 */
bool metadata_is_too_deep(const char *text, size_t size);

#endif
