/* SPDX-License-Identifier: MIT */
/* Counts events that are not in the table, which the user chose, by name. */
#include "trace/other.h"

#include <stdlib.h>
#include <string.h>

#include "alloc.h"
#include "core.h"
#include "event_table.h"

void other_on_event(struct core *c, const struct mg_event *e)
{
	struct other_stats *o;

	if (!e->other.name)
		return;
	HASH_FIND_STR(c->others, e->other.name, o);
	if (!o) {
		o = mg_calloc(1, sizeof(*o));
		if (!o)
			return;
		o->name = mg_strdup(e->other.name);
		if (!o->name) {
			free(o);
			return;
		}
		HASH_ADD_KEYPTR(hh, c->others, o->name, strlen(o->name), o);
		if (!o->hh.tbl) {
			free(o->name);
			free(o);
			return;
		}
	}
	o->n++;
}

void other_free(struct core *c)
{
	struct other_stats *o, *tmp;

	HASH_ITER (hh, c->others, o, tmp) {
		HASH_DEL(c->others, o);
		free(o->name);
		free(o);
	}
}
