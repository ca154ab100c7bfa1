/* SPDX-License-Identifier: MIT */
/* From the directories on the command line to a core that has read them, for all who show
 * recordings.
 */
#ifndef MAGNET_CLI_LOADER_H
#define MAGNET_CLI_LOADER_H

#include <jansson.h>
#include <stdbool.h>

#include "core/contract.h"
#include "filter/filter.h"
#include "render/report.h"

struct loaded {
	struct core *core;
	struct report report; /* after loaded_report() */
	json_t *session;      /* session.json of the first directory that has one, else NULL */
	const char *name;     /* the first directory */
	char source[1024];    /* all directories, as a command line has them */
	bool reported;
	struct filter *filter; /* NULL: none */
	bool again;            /* what is wrong was said when it was read before */
};

/*
 * Call first in a command that does nothing but read and print: without memory it ends at once with
 * a message and EXIT_FAILED, since whatever it would print could be wrong; and a reader of its
 * output that has seen enough ends it silently.
 */
void loader_begin(void);

/* Prepares the core, to which the caller may listen then. */
void loaded_init(struct loaded *l);
/* Does the same without figures, for callers that ask for none: reading is faster then. */
void loaded_init_facts(struct loaded *l);
/*
 * Reads all traces below the directories into the core. Returns 0; -1 after a message; or, after a
 * message too, LOADED_IN_PART if only a part could be read, which the core was given.
 */
#define LOADED_IN_PART 1
int loaded_read(struct loaded *l, char *const dirs[], int count);
/*
 * Has only what the filter takes counted and printed. Reads the directories first where that must
 * be known before. Call it after loaded_init(). Returns 0, or -1 after a message.
 */
int loaded_filter(struct loaded *l, struct filter *f, char *const dirs[], int count);
/* Computes the report of what was read. Returns 0, or -ENOMEM after a message. */
int loaded_report(struct loaded *l);
void loaded_free(struct loaded *l);

/* Says that a flow is not in the recording. Returns EXIT_FAILED. */
int loaded_no_flow(const char *id);

#endif
