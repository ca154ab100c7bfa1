/* SPDX-License-Identifier: MIT */
#include "show_bytes.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "alloc.h"
#include "commands.h"
#include "log.h"
#include "open_trace.h"
#include "reading.h"
#include "render/byte_life.h"

#define ATOMS_SHOWN 12

static int read_once(struct life *l, struct core *core, char **dirs, int count)
{
	json_t *session = NULL;
	int err;

	core_init(core);
	core_listen(core, life_event, l);
	err = open_trace(dirs, count, core, &session);
	json_decref(session);
	return err;
}

static int print(struct life *l, const char *flow, bool tsv)
{
	struct whole_text text;
	FILE *to;
	int err;

	if (!l->flow_seen) {
		mg_error("there is no flow %s in this recording", flow);
		return EXIT_FAILED;
	}
	if (!l->rows) {
		mg_error("nothing was recorded of these bytes of flow %s (magnet report --flow %s "
			 "tells how many it has)",
			flow, flow);
		return EXIT_FAILED;
	}
	if (l->full) {
		mg_error("too much happened to so many bytes: ask for fewer");
		return EXIT_FAILED;
	}
	to = whole_text_begin(&text);
	err = tsv ? life_tsv(l, to) : life_text(l, to, ATOMS_SHOWN);
	if (err) {
		mg_error("%s", strerror(-err));
		return EXIT_FAILED;
	}
	whole_text_end(&text);
	return printed("the bytes' life");
}

int show_life(char **dirs, int count, const char *flow, uint64_t from, uint64_t to, bool tsv)
{
	struct core *core = mg_calloc(1, sizeof(*core)); /* it is large */
	int status = EXIT_FAILED, err;
	struct life life;

	if (!core) {
		mg_error("%s", strerror(ENOMEM));
		return EXIT_FAILED;
	}
	life_init(&life, core, flow, from, to);
	err = read_once(&life, core, dirs, count);
	if (!err && life.late) {
		core_free(core);
		life_again(&life, core);
		err = read_once(&life, core, dirs, count);
	}
	if (!err)
		status = print(&life, flow, tsv);
	life_free(&life);
	core_free(core);
	free(core);
	return status;
}
