/* SPDX-License-Identifier: MIT */
/* Events chosen with --event, from the command line to the trace. */
#define _GNU_SOURCE

#include "events/chosen.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "events/chosen_find.h"
#include "events/chosen_pack.h"
#include "events/chosen_rings.h"
#include "events/chosen_rings_open.h"
#include "events/tracefs.h"
#include "hooks/hooks.h"

struct chosen {
	struct chosen_list list;
	struct chosen_rings *rings;
};

int chosen_open(struct chosen **out, const struct chosen_options *o, char *why, size_t size)
{
	struct chosen *c;
	int tracefs, err;

	*out = NULL;
	if (!o->count)
		return 0;
	snprintf(why, size, "out of memory");
	c = calloc(1, sizeof(*c));
	if (!c)
		return -ENOMEM;
	*out = c;
	tracefs = tracefs_open(why, size);
	if (tracefs < 0) /* never on the path for events that were asked for */
		return tracefs == -EINVAL ? -EIO : tracefs;
	err = chosen_find(&c->list, tracefs, o, why, size);
	if (!err)
		err = chosen_rings_open(&c->rings, &c->list, tracefs, o->ring_bytes, why, size);
	close(tracefs);
	return err;
}

static int describe(const struct chosen_list *l, struct ctf_writer *w)
{
	size_t size = 0;
	char *text = NULL;
	FILE *f = open_memstream(&text, &size);
	int err;

	if (!f)
		return -ENOMEM;
	for (size_t i = 0; i < l->count; i++)
		format_describe(&l->event[i].format, f, l->event[i].id, l->event[i].category,
			l->event[i].name);
	err = fclose(f) ? -ENOMEM : ctf_describe(w, text);
	free(text);
	return err;
}

int chosen_start(struct chosen *c, struct ctf_writer *w, hook_report_fn report, void *report_arg)
{
	int err;

	if (!c)
		return 0;
	err = describe(&c->list, w);
	if (!err)
		err = chosen_rings_start(c->rings, w);
	for (size_t i = 0; i < c->list.count && !err; i++) {
		const struct chosen_event *e = &c->list.event[i];
		struct hook_status s = {.layer = MG_LAYER_EVENT, .status = e->status};

		if (snprintf(s.what, sizeof(s.what), "%s:%s", e->category, e->name) < 0)
			s.what[0] = 0;
		report(report_arg, &s);
	}
	return err;
}

int chosen_pass(struct chosen *c)
{
	return c ? chosen_rings_pass(c->rings) : 0;
}

int chosen_pause(struct chosen *c)
{
	return c ? chosen_rings_record(c->rings, false) : 0;
}

int chosen_resume(struct chosen *c)
{
	return c ? chosen_rings_record(c->rings, true) : 0;
}

int chosen_finish(struct chosen *c)
{
	return c ? chosen_rings_finish(c->rings) : 0;
}

uint64_t chosen_lost(const struct chosen *c)
{
	return c ? chosen_rings_lost(c->rings) : 0;
}

void chosen_free(struct chosen *c)
{
	if (!c)
		return;
	chosen_rings_free(c->rings);
	chosen_list_free(&c->list);
	free(c);
}
