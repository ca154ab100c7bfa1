/* SPDX-License-Identifier: MIT */
/*
 * Sockets without sequence numbers: UDP, raw, ICMP and UNIX. What passed each layer is counted,
 * with its sizes and spacings; which datagram is which is not followed.
 */
#include <string.h>

#include "parts.h"
#include "event_table.h"

/* IP protocols */
#define TCP    6
#define UDP    17
#define ICMP   1
#define ICMPV6 58
/* flags of calls whose bytes stay where they are, or are not what was received */
#define MSG_PEEK_FLAG     0x2
#define MSG_ERRQUEUE_FLAG 0x2000

bool is_datagram(const struct mg_packet *p)
{
	return p->proto != 0 && p->proto != TCP; /* 0: of an older version */
}

void sock_on_new(struct core *c, const struct mg_event *e)
{
	const struct mg_sock_new *p = &e->sock_new;
	struct mg_sock *s = sock_get(c, p->sock), *peer;

	if (!s)
		return;
	s->kind = p->kind;
	s->netns = p->netns;
	s->family = p->family;
	s->lport = p->lport;
	s->rport = p->rport;
	if (!s->pid) {
		s->pid = e->pid;
		s->tid = e->tid;
	}
	peer = p->peer ? sock_find(c, p->peer) : NULL;
	if (peer) {
		s->peer = peer;
		peer->peer = s;
	}
}

static const struct {
	uint16_t event;
	bool rx;
	uint8_t layer;
} places[] = {
	{MG_EVENT_ip_out, false, TX_IP_OUT},
	{MG_EVENT_ip_post, false, TX_IP_POST},
	{MG_EVENT_dev_queue, false, TX_QUEUE},
	{MG_EVENT_dev_xmit, false, TX_XMIT},
	{MG_EVENT_dev_recv, true, RX_DEV},
	{MG_EVENT_ip_in, true, RX_IP},
};

static void passes(
	struct flow *f, int layer, uint64_t t, uint64_t bytes, uint32_t frame, uint32_t segs)
{
	flow_touch(f, t);
	unit_add(&f->units[layer], t, bytes);
	unit_wire(&f->units[layer], frame, segs);
}

void datagram_on_packet(struct core *c, const struct mg_event *e, struct annotation *a)
{
	const struct mg_packet *p = &e->packet;
	struct mg_sock *s = sock_get(c, p->sock);

	if (!s)
		return;
	if (s->kind == MG_KIND_tcp) /* it was not announced, or that was lost */
		s->kind = p->proto == UDP                          ? MG_KIND_udp
			  : p->proto == ICMP || p->proto == ICMPV6 ? MG_KIND_raw
								   : MG_KIND_socket;
	for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
		struct flow *f = places[i].rx ? &s->rx : &s->tx;

		if (places[i].event != e->id)
			continue;
		a->rx = places[i].rx;
		a->length = p->len;
		passes(f, places[i].layer, e->cycles, p->len, p->frame, p->segs);
	}
}

void datagram_on_done(struct mg_sock *s, const struct mg_event *e, struct annotation *a)
{
	a->length = e->dev_done.len;
	if (e->dev_done.rc == 0)
		passes(&s->tx, TX_DONE, e->cycles, e->dev_done.len, 0, e->dev_done.segs);
}

void sock_on_moved(struct core *c, const struct mg_event *e, struct annotation *a)
{
	const struct mg_sock_moved *p = &e->sock_moved;
	struct mg_sock *s = sock_get(c, p->sock);
	bool rx = e->id == MG_EVENT_sock_received;

	a->rx = rx;
	if (!s || p->ret < 0 || (rx && p->flags & (MSG_PEEK_FLAG | MSG_ERRQUEUE_FLAG)))
		return;
	a->length = (uint64_t)p->ret;
	s->kind = p->kind;
	passes(rx ? &s->rx : &s->tx, rx ? (int)RX_COPY : (int)TX_COPY, e->cycles, (uint64_t)p->ret,
		0, 1);
}

void datagram_settle(struct mg_sock *s, const struct kernel_call *k, uint64_t enter, uint64_t leave,
	uint64_t bytes)
{
	bool rx = mg_syscall_direction(k->call) == MG_DIR_RX;
	struct flow *f = rx ? &s->rx : &s->tx;

	if (k->ret < 0 || mg_syscall_direction(k->call) == MG_DIR_OTHER)
		return;
	if (rx && k->flags & (MSG_PEEK_FLAG | MSG_ERRQUEUE_FLAG))
		return;
	passes(f, rx ? (int)RX_CALL : (int)TX_CALL,
		rx ? (leave ? leave : k->exit) : (enter ? enter : k->enter), bytes, 0, 1);
	if (!enter)
		f->kernel_only += bytes;
	if (f->calls++ == 0)
		f->first_call = enter ? enter : k->enter;
	f->last_call = enter ? enter : k->enter;
}

/* Its bytes are what the layer nearest to the program saw. */
void datagram_finish(struct mg_sock *s)
{
	static const uint8_t tx[] = {TX_COPY, TX_CALL, TX_IP_OUT, TX_XMIT, TX_QUEUE, TX_DONE};
	static const uint8_t rx[] = {RX_COPY, RX_CALL, RX_IP, RX_DEV};

	for (size_t i = sizeof(tx); i-- > 0;)
		if (s->tx.units[tx[i]].n)
			s->tx.total = s->tx.units[tx[i]].bytes;
	for (size_t i = sizeof(rx); i-- > 0;)
		if (s->rx.units[rx[i]].n)
			s->rx.total = s->rx.units[rx[i]].bytes;
}
