/* SPDX-License-Identifier: MIT */
#include "show_bytes.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "alloc.h"
#include "commands.h"
#include "loader.h"
#include "log.h"
#include "output.h"
#include "render/byte_life.h"

#define ATOMS_SHOWN 12

static int read_once(struct life *l, struct loaded *in, char **dirs, int count)
{
	loaded_init(in);
	core_listen(&in->core, life_event, l);
	return loaded_read(in, dirs, count);
}

static int print(struct life *l, const char *flow, bool tsv)
{
	struct output out;
	int err;

	if (!l->flow_seen)
		return loaded_no_flow(flow);
	if (!l->rows) {
		mg_error("nothing was recorded of these bytes of flow %s (magnet report --flow %s "
			 "prints how many it has)",
			flow, flow);
		return EXIT_FAILED;
	}
	if (l->full) {
		mg_error("these bytes have too many events to be shown: give a shorter range");
		return EXIT_FAILED;
	}
	output_begin(&out);
	err = tsv ? life_tsv(l, out.to) : life_text(l, out.to, ATOMS_SHOWN);
	if (err) {
		mg_error("%s", strerror(-err));
		return EXIT_FAILED;
	}
	output_end(&out);
	return output_finish("the bytes' life");
}

int show_life(char **dirs, int count, const char *flow, uint64_t from, uint64_t to, bool tsv)
{
	struct loaded *in = mg_calloc(1, sizeof(*in)); /* too large for the stack */
	int status = EXIT_FAILED, err;
	struct life life;

	if (!in) {
		mg_error("%s", strerror(ENOMEM));
		return EXIT_FAILED;
	}
	life_init(&life, &in->core, flow, from, to);
	err = read_once(&life, in, dirs, count);
	if (!err && life.late) {
		loaded_free(in);
		life_again(&life, &in->core);
		err = read_once(&life, in, dirs, count);
	}
	if (!err)
		status = print(&life, flow, tsv);
	life_free(&life);
	loaded_free(in);
	free(in);
	return status;
}
