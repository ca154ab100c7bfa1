/* SPDX-License-Identifier: MIT */
/* A recording that is read while it is made: from its directory to its end. */
#ifndef MAGNET_CLI_FOLLOWING_H
#define MAGNET_CLI_FOLLOWING_H

#include <stdbool.h>
#include <stdint.h>

#include "core/contract.h"
#include "direct/follow.h"

/* time between two looks at the files */
#define FOLLOWING_MS 100

struct following {
	const char *dir;
	struct core *core;
	struct follow *follow; /* NULL: the recording has not begun */
	uint64_t began_ns;     /* since when it is waited for */
	uint64_t next_look_ns; /* at session.json */
	bool is_awaited;       /* the directory may not be there yet */
	bool ended, silent;    /* silent: nobody writes any more, without a word */
	bool told_stall[CORE_SIDES];
	char why[1024];
};

enum following_state { FOLLOWING_WAITS, FOLLOWING_MORE, FOLLOWING_ENDED, FOLLOWING_FAILED };

/* Prepares to follow the recording in `dir` into a core, to which the caller listens. */
void following_init(struct following *f, const char *dir, struct core *core);
/*
 * Reads what is there. Returns FOLLOWING_WAITS: call it again after FOLLOWING_MS; FOLLOWING_MORE:
 * at once; FOLLOWING_ENDED: all is read, and the core is finished; FOLLOWING_FAILED, with the
 * reason in `why`.
 */
enum following_state following_read(struct following *f);
/* Has what is there by now taken for all: nobody records any more. */
void following_end(struct following *f);
/*
 * Returns a sentence, once, where a side stopped telling how far it has got, or the end came
 * without a word; else NULL.
 */
const char *following_notice(struct following *f);
void following_free(struct following *f);

#endif
