/* SPDX-License-Identifier: MIT */
#include "rings/not_run.h"

#include "event_set.h"
#include "events.h"

/* Events that a tracing program records whenever it runs; netfilter's record none of them. */
#define TRACED                                                                               \
	MG_EVENTS(dev_recv, dev_gro, dev_queue, dev_xmit, tcp_recv, tcp_ready, sched_switch, \
		softirq_entry)

void not_run_see(
	enum not_run *is, struct not_run_cpu *at, const struct mg_slot *s, uint64_t before_ns)
{
	if (*is == NOT_RUN_NEVER)
		return;
	if (mg_events_have(TRACED, s->id)) {
		*is = NOT_RUN_NEVER;
		at->packets = 0;
		return;
	}
	if (s->id != MG_EVENT_ip_in && s->id != MG_EVENT_ip_out)
		return;
	if (!at->packets) {
		at->from_ns = before_ns;
		at->received = false;
	}
	at->packets++;
	at->received |= s->id == MG_EVENT_ip_in;
}

uint64_t not_run_end(enum not_run *is, struct not_run_cpu *at, bool traced)
{
	uint64_t packets = at->packets;

	at->packets = 0;
	/* a packet that is sent may wait for an address before it passes a tracing program */
	if (*is == NOT_RUN_UNKNOWN && packets && at->received && traced)
		*is = NOT_RUN_HERE;
	return *is == NOT_RUN_HERE && traced ? packets : 0;
}
