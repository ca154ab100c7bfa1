/* SPDX-License-Identifier: MIT */
/* Writes inputs of the core's target from a trace: fuzz_seeds DIR OPTIONS FROM COUNT >FILE */
#include <stdio.h>
#include <stdlib.h>

#include "bt/graph.h"
#include "core/core.h"
#include "record.h"

struct part {
	uint64_t from, left, before_ns;
};

static void take(void *arg, const struct mg_event *e, const struct annotation *a)
{
	struct part *p = arg;
	struct record r;

	(void)a;
	if (p->from) {
		p->from--;
		return;
	}
	if (!p->left)
		return;
	p->left--;
	record_from_event(&r, e, p->before_ns);
	p->before_ns = e->time_ns;
	fwrite(&r, sizeof(r), 1, stdout);
}

int main(int argc, char **argv)
{
	struct mg_traces traces;
	struct core core;
	struct part part = {0};
	char why[1024];

	if (argc != 5) {
		fprintf(stderr, "usage: fuzz_seeds DIR OPTIONS FROM COUNT >FILE\n");
		return 2;
	}
	putchar(atoi(argv[2]));
	part.from = strtoull(argv[3], NULL, 0);
	part.left = strtoull(argv[4], NULL, 0);
	if (mg_traces_find(&traces, (const char *const *)&argv[1], 1) || !traces.count)
		return 1;
	core_init(&core);
	core_listen(&core, take, &part);
	if (mg_read_traces(&traces, &core, NULL, why, sizeof(why)))
		fprintf(stderr, "fuzz_seeds: %s\n", why);
	core_free(&core);
	mg_traces_free(&traces);
	return 0;
}
