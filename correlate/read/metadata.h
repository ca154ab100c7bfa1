/* SPDX-License-Identifier: MIT */
/* The description of a CTF trace as text, and what is to be known of it before anybody parses it.
 */
#ifndef MAGNET_CORRELATE_READ_METADATA_H
#define MAGNET_CORRELATE_READ_METADATA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define METADATA_MAX (16u << 20) /* bytes */

/*
 * Returns the text of DIR/metadata without the packets it may come in, ended by a 0, to be freed.
 * NULL: `why` gets what is wrong with the file. One whose packets do not follow each other to its
 * end babeltrace2 would read for ever.
 */
char *metadata_text(const char *dir, size_t *size, char *why, size_t why_size);

struct metadata_facts {
	bool is_own;         /* magnet wrote it, */
	bool is_lttng;       /* or one of LTTng's tracers did */
	bool is_app;         /* of the application side, if it is magnet's own */
	bool tells_contents; /* and it ends with an event that tells how much there is */
	bool has_other_side; /* the recording has a trace of the other side too */
	bool has_uuid;
	char uuid[37];
};
void metadata_look(struct metadata_facts *facts, const char *text);

/* Blanks in place of comments and of what stands in quotes. */
void metadata_blank_words(char *text, size_t size);

/* Whether its blocks lie deeper in each other than those of any tracer, so that parsers fail. */
bool metadata_is_too_deep(const char *text, size_t size);

#endif
