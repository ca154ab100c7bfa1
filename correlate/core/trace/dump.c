/* SPDX-License-Identifier: MIT */
#include "trace/dump.h"

#include <string.h>

#include "alloc.h"

/* The first dumps are kept; a recording has rarely more. */
#define DUMPS_MAX 1000

void dump_on_event(struct core *c, const struct mg_event *e)
{
	struct core_dump *more;

	if (c->rotated.dump_count == DUMPS_MAX)
		return;
	more = mg_realloc(c->rotated.dumps, (c->rotated.dump_count + 1) * sizeof(*more));
	if (!more)
		return;
	c->rotated.dumps = more;
	more[c->rotated.dump_count++] = (struct core_dump){e->time_ns, e->dump};
}

bool core_next_dump(const struct core *c, uintptr_t *at, struct fact_dump *to)
{
	const struct core_dump *d;

	if (*at >= c->rotated.dump_count)
		return false;
	d = &c->rotated.dumps[(*at)++];
	*to = (struct fact_dump){.time = d->what.fired_ns ? d->what.fired_ns : d->time_ns,
		.written = d->time_ns,
		.why = d->what.why,
		.value = d->what.value_ns ? d->what.value_ns : FACT_NONE,
		.flow = {.sock = d->what.sock, .rx = strcmp(d->what.why, "latency") == 0}};
	return true;
}
