/* SPDX-License-Identifier: MIT */
/* Frees all that the core holds. */
#include <stdlib.h>
#include <string.h>

#include "core.h"
#include "call/forget.h"
#include "call/forget_socks.h"
#include "clock/clockmap.h"
#include "clock/cpu_offsets.h"
#include "clock/queue.h"
#include "exchange/exchange.h"
#include "message/frames.h"
#include "message/parcel.h"
#include "message/pieces.h"
#include "socket/closed.h"
#include "socket/socket.h"
#include "socket/state_slots.h"
#include "socket/synack.h"
#include "stream/request.h"
#include "task/blocked.h"
#include "task/past.h"
#include "task/holders.h"
#include "task/process.h"
#include "task/threads.h"
#include "trace/other.h"
#include "trace/reconnect.h"
#include "trace/stack.h"

void core_free(struct core *c)
{
	struct thread *t, *ttmp;
	struct mg_sock *s, *stmp;

	core_end_apart(c);
	HASH_ITER (hh, c->tasks.threads, t, ttmp) {
		HASH_DEL(c->tasks.threads, t);
		thread_free(t);
	}
	holders_free(c);
	processes_free(c);
	blocked_free(c);
	past_free(c);
	free(c->tasks.switched);
	frames_free(c);
	requests_free(c);
	synacks_free(c);
	reconnect_free(c);
	free(c->marked.marks);
	closed_free(c);
	HASH_CLEAR(hh_alone, c->sockets.alone);
	HASH_CLEAR(hh_place, c->sockets.places);
	HASH_ITER (hh, c->sockets.socks, s, stmp)
		queues_empty(s->queues); /* messages in them point to their senders */
	HASH_ITER (hh, c->sockets.socks, s, stmp) {
		HASH_DEL(c->sockets.socks, s);
		sock_free(c, s);
	}
	clockmap_free(&c->clock);
	cpu_offsets_free(&c->offsets);
	other_free(c);
	stacks_free(c);
	for (struct mg_event *e = queue_first(&c->due.pending); e;
		e = queue_after(&c->due.pending, e))
		if (e->id == MG_EVENT_other)
			free(e->other.text);
	queue_free(&c->due.pending);
	if (c->attached.what)
		c->attached.does.free(c->attached.what);
	state_slots_free(c);
	free(c->losses.gaps);
	free(c->rotated.dumps);
	free(c->probes.hooks);
	free(c->probes.netns_hooks);
	memset(c, 0, sizeof(*c));
}
