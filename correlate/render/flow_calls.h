/* SPDX-License-Identifier: MIT */
/* The calls on one flow only: the core sums up calls of all of them. */
#ifndef MAGNET_CORRELATE_RENDER_FLOW_CALLS_H
#define MAGNET_CORRELATE_RENDER_FLOW_CALLS_H

#include "report.h"

struct flow_calls {
	struct core *core;
	uint64_t cookie;
	bool rx;
	struct call_stats *calls;  /* of the program's; n, failed, bytes and total are filled in */
	struct call_stats *system; /* of the kernel's, for flows without any of the program's */
};

/* `flow` as the report names it. */
void flow_calls_init(struct flow_calls *f, struct core *core, const char *flow);
/* A listener for core_listen(); `arg` is a struct flow_calls. */
void flow_calls_event(void *arg, const struct mg_event *e, const struct annotation *a);
void flow_calls_free(struct flow_calls *f);

/* And the flow at the other end, where it is in the recording. */
void flow_calls_text(const struct report *r, struct flow_calls *f, FILE *to, bool colour);
/* A new reference. */
json_t *flow_calls_json(const struct report *r, const struct flow_calls *f);

#endif
