/* SPDX-License-Identifier: MIT */
/*
 * Sockets without sequence numbers: UDP, raw, ICMP and UNIX. Packets at each layer are counted with
 * sizes and spacings; datagram_tx.c, datagram_rx.c and unix.c follow single datagrams. Offsets
 * count the payload: sent as the calls handed it over, received as it came.
 */
#include "message/datagram.h"

#include <string.h>

#include "core.h"
#include "stage.h"
#include "event_table.h"
#include "bytes/layer.h"
#include "message/arrival.h"
#include "message/datagram_read.h"
#include "message/datagram_rx.h"
#include "message/datagram_tx.h"
#include "message/parcel.h"
#include "message/pieces.h"
#include "message/unix.h"
#include "socket/socket.h"
#include "task/thread.h"
#include "task/threads.h"

/* IP protocols */
#define TCP         6
#define UDP         17
#define ICMP        1
#define ICMPV6      58
#define ICMP_HEADER 8
/* flags of calls whose bytes stay in the queue, or are not received data */
#define MSG_PEEK_FLAG     0x2
#define MSG_ERRQUEUE_FLAG 0x2000
#define LOOKS_ONLY        (MSG_PEEK_FLAG | MSG_ERRQUEUE_FLAG)

bool is_datagram(const struct mg_packet *p)
{
	return p->proto != 0 && p->proto != TCP; /* 0: of an older version */
}

void sock_on_new(struct core *c, const struct mg_event *e)
{
	const struct mg_sock_new *p = &e->sock_new;
	struct mg_sock *s = sock_get(c, p->sock), *peer;
	struct thread *t;

	if (!s)
		return;
	s->kind = p->kind;
	/* protocol 262 of a stream, of which the event has the lower byte */
	if (p->kind == MG_KIND_socket && p->proto == TCP)
		s->ulp = MG_ULP_MPTCP;
	s->netns = p->netns;
	s->family = p->family;
	s->lport = p->lport;
	s->rport = p->rport;
	t = s->user.pid || !e->tid ? NULL : thread_get(c, e->tid, e->pid);
	if (t)
		sock_used_by(c, s, t);
	peer = p->peer ? sock_find(c, p->peer) : NULL;
	if (peer) {
		s->peer = peer;
		peer->peer = s;
	}
}

void sock_on_peer(struct core *c, const struct mg_event *e, struct annotation *a)
{
	const struct mg_sock_peer *p = &e->sock_peer;
	struct mg_sock *s = sock_get(c, p->sock);
	struct far_end *f;

	a->rx = p->rx;
	if (!s || s->rport)
		return;
	if (!s->far)
		s->far = mg_calloc(2, sizeof(*s->far));
	if (!s->far)
		return;
	f = &s->far[p->rx != 0];
	/* a known one may be announced again after others */
	if (!f->known) {
		memcpy(f->addr, p->addr, sizeof(f->addr));
		f->port = p->port;
		f->known = true;
	} else if (f->port != p->port || memcmp(f->addr, p->addr, sizeof(f->addr)) != 0) {
		f->several = true;
	}
}

/* Returns the layers; cached, as they are needed for each packet and change only with the hooks. */
uint32_t datagram_required(struct core *c, const struct flow *f)
{
	struct queues *q = queues_of(f->sock);

	if (!q)
		return 0;
	if (q->required && q->as_of == c->probes.hook_changes)
		return q->required;
	q->as_of = c->probes.hook_changes;
	q->required = 1u << TX_CALL | 1u << TX_COPY | tx_stages(core_hooked(c, f->sock->netns));
	return q->required;
}

bool datagram_in_call(const struct thread *t, const struct mg_sock *s)
{
	return t && t->in_call && !t->in_softirq && t->now.cookie == s->cookie &&
	       t->now.kind != MG_KIND_tcp;
}

uint32_t datagram_length(const struct mg_packet *p)
{
	bool header = (p->proto == ICMP || p->proto == ICMPV6) && !packet_is_later_part(p);

	return p->len + (header ? ICMP_HEADER : 0);
}

static void passes(struct core *c, struct flow *f, int layer, uint64_t t, uint64_t bytes,
	uint32_t frame, uint32_t segs)
{
	queues_count(f, layer, bytes);
	flow_touch(f, t);
	layer_pass(c, f, layer,
		&(struct passing){.t = t,
			.offset = FACT_NONE,
			.payload = bytes,
			.fresh = bytes,
			.wire = frame,
			.packets = segs});
}

void datagram_on_packet(
	struct core *c, struct thread *t, const struct mg_event *e, struct annotation *a)
{
	const struct mg_packet *p = &e->packet;
	struct mg_sock *s = sock_get(c, p->sock);

	if (!p->sock || (s && s->kind == MG_KIND_raw)) /* each raw socket gets a copy */
		datagram_unclaimed(c, e);
	if (!s)
		return;
	if (s->kind == MG_KIND_tcp) /* it was not announced, or that event was lost */
		s->kind = p->proto == UDP                          ? MG_KIND_udp
			  : p->proto == ICMP || p->proto == ICMPV6 ? MG_KIND_raw
								   : MG_KIND_socket;
	a->rx = rx_stage_of(e->id) != RX_NONE;
	a->length = p->len;
	if (a->rx) {
		enum rx_layer in = (enum rx_layer)rx_stage_of(e->id);

		passes(c, &s->rx, in, e->cycles, p->len, packet_frame(p), p->segs);
		datagram_in(c, s, e, in, a);
	} else {
		enum tx_layer out = (enum tx_layer)tx_stage_of(e->id);

		passes(c, &s->tx, out, e->cycles, p->len, packet_frame(p), p->segs);
		datagram_out(c, t, s, e, out, a);
	}
}

void datagram_on_done(
	struct core *c, struct mg_sock *s, const struct mg_event *e, struct annotation *a)
{
	a->length = e->dev_done.len;
	if (e->dev_done.rc != 0)
		return;
	passes(c, &s->tx, TX_DONE, e->cycles, e->dev_done.len, 0, e->dev_done.segs);
	datagram_done(c, s, e, a);
}

void datagram_on_ready(
	struct core *c, struct thread *t, const struct mg_event *e, struct annotation *a)
{
	struct mg_sock *s = sock_get(c, e->sock_ready.sock);

	a->rx = true;
	if (!s)
		return;
	s->kind = e->sock_ready.kind;
	if (is_unix(s))
		unix_ready(c, t, s, e, a);
	else
		datagram_ready(c, s, e, a);
}

void datagram_on_copy(struct core *c, struct thread *t, struct mg_sock *s, const struct mg_event *e,
	struct annotation *a)
{
	a->length = e->sock_copy.len;
	if (!datagram_in_call(t, s) || t->now.flags & LOOKS_ONLY)
		return;
	t->now.message.buffer = e->sock_copy.seq;
	if (is_unix(s))
		unix_copy(c, t, s, e, a);
}

/* Ends a message; the next one of the same call begins. */
static void end_message(struct kernel_call *k, uint64_t now)
{
	k->moved = true;
	k->message.since = now;
	k->message.piece = k->pieces;
	k->message.buffer = 0;
}

static void message_ends(struct core *c, struct thread *t, struct mg_sock *s, bool rx,
	const struct mg_event *e, const struct mg_sock_moved *p, struct annotation *a)
{
	if (!is_unix(s) && s->kind != MG_KIND_udp && s->kind != MG_KIND_raw)
		return;
	if (rx && is_unix(s))
		unix_received(c, t, s, e, p, a);
	else if (rx)
		datagram_received(c, t, s, e, p, a);
	else if (is_unix(s))
		unix_sent(t, s, p->ret, e->cycles);
	else
		datagram_sent(t, s, p->ret);
	end_message(&t->now, e->cycles);
}

/*
 * Returns whether a call moved nothing: an empty datagram is a message, an empty read of a stream
 * is its end.
 */
static bool moves_nothing(const struct mg_sock *s, int64_t ret)
{
	return ret < 0 || (ret == 0 && s->kind == MG_KIND_unix_stream);
}

void sock_on_moved(struct core *c, struct thread *t, const struct mg_event *e, struct annotation *a)
{
	const struct mg_sock_moved *p = &e->sock_moved;
	struct mg_sock *s = sock_get(c, p->sock);
	bool rx = e->id == MG_EVENT_sock_received;

	a->rx = rx;
	if (!s)
		return;
	s->kind = p->kind;
	if (!s->user.pid && t) /* no system calls are recorded */
		sock_used_by(c, s, t);
	if (rx && (p->ret < 0 || p->flags & LOOKS_ONLY)) {
		if (datagram_in_call(t, s))
			end_message(&t->now, e->cycles);
		return;
	}
	if (p->ret >= 0)
		a->length = (uint64_t)p->ret;
	if (!moves_nothing(s, p->ret))
		passes(c, rx ? &s->rx : &s->tx, rx ? (int)RX_COPY : (int)TX_COPY, e->cycles,
			(uint64_t)p->ret, 0, 1);
	if (!datagram_in_call(t, s))
		return;
	if (!rx && t->now.pieces > t->now.message.piece) {
		a->has_offset = true;
		a->offset = t->now.piece[t->now.message.piece].off;
	}
	message_ends(c, t, s, rx, e, p, a);
}

/* Handles calls whose messages have no events: splice(), and all calls on older kernels. */
void datagram_end_call(struct core *c, struct thread *t, const struct mg_event *e)
{
	struct kernel_call *k = &t->now;
	struct mg_sock *s = sock_find(c, k->cookie);
	bool rx = mg_syscall_direction(k->call) == MG_DIR_RX;
	struct mg_sock_moved p = {.ret = (int32_t)k->ret, .flags = k->flags};
	struct annotation none = {0};

	if (!s || k->moved || mg_syscall_direction(k->call) == MG_DIR_OTHER || k->ret < 0 ||
		(rx && k->flags & LOOKS_ONLY))
		return;
	if (k->call == MG_SYS_sendmmsg || k->call == MG_SYS_recvmmsg) { /* it returns messages */
		call_drop_pieces(k, 0);
		return;
	}
	message_ends(c, t, s, rx, e, &p, &none);
}

void datagram_settle(struct core *c, struct mg_sock *s, const struct kernel_call *k, uint64_t enter,
	uint64_t leave, uint64_t bytes)
{
	bool rx = mg_syscall_direction(k->call) == MG_DIR_RX;
	struct flow *f = rx ? &s->rx : &s->tx;

	if (rx)
		datagram_settle_rx(c, k, leave ? leave : k->exit);
	else
		datagram_settle_tx(c, k, enter ? enter : k->enter);
	if (moves_nothing(s, k->ret) || mg_syscall_direction(k->call) == MG_DIR_OTHER)
		return;
	if (rx && k->flags & LOOKS_ONLY)
		return;
	passes(c, f, rx ? (int)RX_CALL : (int)TX_CALL,
		rx ? (leave ? leave : k->exit) : (enter ? enter : k->enter), bytes, 0, 1);
	if (!enter && !k->pieces) /* otherwise each piece has been counted */
		f->use.kernel_only += bytes;
	if (f->use.calls++ == 0)
		f->use.first = enter ? enter : k->enter;
	f->use.last = enter ? enter : k->enter;
}

/* Counts bytes that should have byte ranges and have none. */
static void count_incomplete(struct flow *f)
{
	if (f->total < f->complete + f->drops.bytes) /* bytes that were followed have passed */
		f->total = f->complete + f->drops.bytes;
	f->incomplete = f->total - f->drops.bytes - f->complete;
}

/*
 * Returns the bytes that the layer nearest to the program saw: the larger of the socket's own
 * events, which splice() lacks, and the calls, whose ends may be lost. Calls without their system
 * call may be on a socket that is no longer followed, so they count only if events are known to be
 * missing.
 */
static uint64_t bytes_of(
	const struct flow *f, int copy, int call, const uint8_t others[], size_t n, bool is_lossy)
{
	static const struct passed nothing[TX_LAYERS];
	const struct passed *u = f->sock->queues ? f->sock->queues->passed[f->rx] : nothing;
	uint64_t called = u[call].bytes + (is_lossy ? f->missing.bytes : 0);

	if (u[copy].n || u[call].n || called)
		return u[copy].bytes > called ? u[copy].bytes : called;
	for (size_t i = 0; i < n; i++)
		if (u[others[i]].n)
			return u[others[i]].bytes;
	return f->total;
}

static bool lost_calls(const struct core *c)
{
	for (uint32_t i = 0; i < c->losses.gap_count; i++)
		if (gap_is_loss(&c->losses.gaps[i]) &&
			c->losses.gaps[i].layers >> MG_LAYER_SYSCALL & 1)
			return true;
	return false;
}

/*
 * Returns the share of lost events, among the program's or else the kernel's, which may concern
 * this flow too.
 */
static double events_missing_share(const struct core *c, const struct flow *f)
{
	uint64_t lost = c->counts.app_events ? c->counts.lost_app : c->counts.lost_kernel;
	uint64_t all =
		lost + (c->counts.app_events ? c->counts.app_events : c->counts.kernel_events);

	return mg_events_any(f->missing.events) && all ? (double)lost / (double)all : 0;
}

void datagram_finish(const struct core *c, struct mg_sock *s)
{
	bool is_lossy = lost_calls(c);

	static const uint8_t tx[] = {TX_IP_OUT, TX_XMIT, TX_QUEUE, TX_DONE}, rx[] = {RX_IP, RX_DEV};

	s->tx.total = bytes_of(&s->tx, TX_COPY, TX_CALL, tx, sizeof(tx), is_lossy);
	s->rx.total = bytes_of(&s->rx, RX_COPY, RX_CALL, rx, sizeof(rx), is_lossy);
	s->tx.missing.events_share = events_missing_share(c, &s->tx);
	s->rx.missing.events_share = events_missing_share(c, &s->rx);
	count_incomplete(&s->tx);
	count_incomplete(&s->rx);
}
