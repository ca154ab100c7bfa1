/* SPDX-License-Identifier: MIT */
#include "show_bytes.h"

#include <errno.h>
#include <langinfo.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "commands.h"
#include "log.h"
#include "open_trace.h"
#include "render/byte_life.h"
#include "render/table.h"

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
	setlocale(LC_CTYPE, "");
	text_set_unicode(strcmp(nl_langinfo(CODESET), "UTF-8") == 0);
	err = tsv ? life_tsv(l, stdout) : life_text(l, stdout, ATOMS_SHOWN);
	if (err) {
		mg_error("%s", strerror(-err));
		return EXIT_FAILED;
	}
	if (fflush(stdout) != 0 || ferror(stdout)) {
		mg_error("cannot write: %s", strerror(errno));
		return EXIT_FAILED;
	}
	return EXIT_DONE;
}

int show_life(char **dirs, int count, const char *flow, uint64_t from, uint64_t to, bool tsv)
{
	struct core *core = calloc(1, sizeof(*core)); /* it is large */
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
