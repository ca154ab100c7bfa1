/* SPDX-License-Identifier: MIT */
#include "run/trigger.h"

#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>

#include "hash.h"
#include "run/flight.h"
#include "run/tracer_options.h"

#define SOCKETS_MAX 4096
#define WAITING_MAX 128 /* arrivals of a connection that are not read yet; a power of two */

struct arrival {
	uint64_t ts;
	uint32_t end; /* sequence number behind the last byte */
};

struct watched {
	uint64_t sock;
	uint32_t copied; /* bytes before this were copied */
	bool any_copied;
	struct arrival waiting[WAITING_MAX];
	uint32_t first, count;
	UT_hash_handle hh;
};

struct triggers {
	struct run *run;
	struct watched *sockets;
};

struct triggers *triggers_new(struct run *r)
{
	struct triggers *t = calloc(1, sizeof(*t));

	if (t)
		t->run = r;
	return t;
}

struct mg_events triggers_events(const struct tracer_options *o)
{
	struct mg_events of = {{0}};

	if (o->trigger.retransmission)
		mg_events_add(&of, MG_EVENT_tcp_retransmit);
	if (o->trigger.latency_ns)
		mg_events_add_all(&of, MG_EVENTS(dev_recv, sock_copy, sock_state));
	return of;
}

static struct watched *find(struct triggers *t, uint64_t sock, bool make)
{
	struct watched *w = NULL;

	HASH_FIND(hh, t->sockets, &sock, sizeof(sock), w);
	if (w || !make || !sock || HASH_COUNT(t->sockets) >= SOCKETS_MAX)
		return w;
	w = calloc(1, sizeof(*w));
	if (!w)
		return NULL;
	w->sock = sock;
	HASH_ADD(hh, t->sockets, sock, sizeof(w->sock), w);
	return hash_kept(w);
}

static void forget(struct triggers *t, struct watched *w)
{
	HASH_DEL(t->sockets, w);
	free(w);
}

static bool before_or_at(uint32_t a, uint32_t b)
{
	return (int32_t)(a - b) <= 0;
}

/* If too many wait, the new ones are left out: the oldest waits longest. */
static void on_arrival(struct triggers *t, const struct mg_slot *s)
{
	struct mg_packet p;
	struct watched *w;

	memcpy(&p, s->payload, MG_PAYLOAD_SIZE(PACKET));
	w = p.len && p.proto == IPPROTO_TCP && !p.via ? find(t, p.sock, true) : NULL;
	if (!w || w->count == WAITING_MAX)
		return;
	if (w->any_copied && before_or_at(p.seq + p.len, w->copied))
		return;
	w->waiting[(w->first + w->count++) % WAITING_MAX] =
		(struct arrival){.ts = s->ts, .end = p.seq + p.len};
}

static void on_copy(struct triggers *t, const struct mg_slot *s)
{
	struct mg_dump why = {.why = "latency"};
	struct mg_sock_copy p;
	struct watched *w;

	memcpy(&p, s->payload, MG_PAYLOAD_SIZE(SOCK_COPY));
	w = find(t, p.sock, false); /* a connection without arrivals waits for nothing */
	if (!w)
		return;
	w->copied = p.seq + p.len;
	w->any_copied = true;
	while (w->count && before_or_at(w->waiting[w->first].end, w->copied)) {
		uint64_t arrived = w->waiting[w->first].ts;

		if (s->ts > arrived && s->ts - arrived > why.value_ns)
			why.value_ns = s->ts - arrived;
		w->first = (w->first + 1) % WAITING_MAX;
		w->count--;
	}
	why.sock = p.sock;
	if (why.value_ns > t->run->options.trigger.latency_ns)
		flight_fire(t->run, &why);
}

static void on_retransmit(struct triggers *t, const struct mg_slot *s)
{
	struct mg_tcp_retransmit p;

	memcpy(&p, s->payload, MG_PAYLOAD_SIZE(TCP_RETRANSMIT));
	flight_fire(t->run, &(struct mg_dump){.sock = p.sock, .why = "retransmission"});
}

#define STATE_CLOSE 7

void triggers_see(void *triggers, const struct mg_slot *s)
{
	struct triggers *t = triggers;
	struct mg_sock_state state;
	struct watched *w;

	switch (s->id) {
	case MG_EVENT_tcp_retransmit:
		if (t->run->options.trigger.retransmission)
			on_retransmit(t, s);
		break;
	case MG_EVENT_dev_recv:
		on_arrival(t, s);
		break;
	case MG_EVENT_sock_copy:
		on_copy(t, s);
		break;
	case MG_EVENT_sock_state:
		memcpy(&state, s->payload, MG_PAYLOAD_SIZE(SOCK_STATE));
		w = state.now == STATE_CLOSE ? find(t, state.sock, false) : NULL;
		if (w)
			forget(t, w);
		break;
	}
}

void triggers_free(struct triggers *t)
{
	struct watched *w, *tmp;

	if (!t)
		return;
	HASH_ITER (hh, t->sockets, w, tmp) {
		forget(t, w);
	}
	free(t);
}
