/* SPDX-License-Identifier: MIT */
/* Figures of the calls on one flow; the core sums calls over all flows. */
#ifndef MAGNET_CORRELATE_RENDER_FLOW_CALLS_H
#define MAGNET_CORRELATE_RENDER_FLOW_CALLS_H

#include "report.h"

struct flow_calls {
	struct core *core;
	uint64_t cookie;
	bool rx;
	/* the program's calls; n, failed, bytes and total are filled in */
	struct call_stats *calls;
	struct call_stats *system; /* system calls, for flows without any call of the program */
};

/* Starts collecting; `flow` is the id that the report shows. */
void flow_calls_init(struct flow_calls *f, struct core *core, const char *flow);
/* Listener for core_listen(); `arg` is a struct flow_calls. */
void flow_calls_event(void *arg, const struct mg_event *e, const struct annotation *a);
void flow_calls_free(struct flow_calls *f);

/* Prints the calls, and the flow at the other end if it is in the recording. */
void flow_calls_text(const struct report *r, struct flow_calls *f, FILE *to, bool colour);
/* Returns a new reference. */
json_t *flow_calls_json(const struct report *r, const struct flow_calls *f);

#endif
