/* SPDX-License-Identifier: MIT */
#include "capture/traffic.h"

#include <math.h>
#include <netinet/in.h>
#include <string.h>

#include "names.h"

#define FLAG_SYN 2u
#define FLAG_ACK 16u

/* A name of a program, kept once. */
struct traffic_name {
	char text[17];
	UT_hash_handle hh;
};

static const char *kept_name(struct traffic *t, const char *text)
{
	struct traffic_name *n = NULL;
	char key[sizeof(n->text)] = "";

	memcpy(key, text, strnlen(text, sizeof(key) - 1));
	HASH_FIND(hh, t->names, key, sizeof(key), n);
	if (n)
		return n->text;
	n = mg_calloc(1, sizeof(*n));
	if (!n)
		return "";
	memcpy(n->text, key, sizeof(key));
	HASH_ADD(hh, t->names, text, sizeof(n->text), n);
	return n->text;
}

/* Returns room for one more element at the end of an array; NULL without memory. */
static void *more(void **array, size_t *count, size_t *room, size_t size)
{
	if (*count == *room) {
		size_t larger = *room ? 2 * *room : 1024;
		void *v = mg_realloc(*array, larger * size);

		if (!v)
			return NULL;
		*array = v;
		*room = larger;
	}
	return (char *)*array + (*count)++ * size;
}

static void on_call(void *arg, const void *fact)
{
	struct traffic *t = arg;
	const struct fact_call *f = fact;
	struct traffic_call *c;

	if (!f->flow.sock || !f->bytes || f->bytes == FACT_NONE || f->offset == FACT_NONE)
		return;
	c = more((void **)&t->call, &t->calls, &t->calls_room, sizeof(*t->call));
	if (c)
		*c = (struct traffic_call){.sock = f->flow.sock,
			.rx = f->flow.rx,
			.offset = f->offset,
			.bytes = f->bytes,
			.begin_ns = core_ns(t->core, f->begin),
			.end_ns = core_ns(t->core, f->end),
			.pid = (uint32_t)f->pid,
			.tid = (uint32_t)f->tid,
			.program = kept_name(t, core_program(t->core, (uint32_t)f->tid)),
			.function = f->function};
}

static enum traffic_place place_of(unsigned int id)
{
	switch (id) {
	case MG_EVENT_dev_queue:
		return PLACE_QUEUE;
	case MG_EVENT_dev_xmit:
		return PLACE_DRIVER;
	case MG_EVENT_dev_recv:
		return PLACE_DEVICE;
	case MG_EVENT_ip_in:
		return PLACE_IP;
	default:
		return PLACES;
	}
}

static void on_event(void *arg, const struct mg_event *e, const struct annotation *a)
{
	struct traffic *t = arg;
	enum traffic_place place = place_of(e->id);
	const struct mg_packet *p = &e->packet;
	struct traffic_packet *to;

	if (place == PLACES || (t->packets_only && (place == PLACE_QUEUE || place == PLACE_IP)) ||
		(t->filter && !filter_takes_event(t->filter, t->core, e, a)))
		return;
	if (p->via) {
		t->elsewhere += place == PLACE_DRIVER || place == PLACE_DEVICE;
		return;
	}
	to = more((void **)&t->packet, &t->packets, &t->packets_room, sizeof(*to));
	if (to)
		*to = (struct traffic_packet){.sock = a->sock ? annotated_flow(a).sock : p->sock,
			.sender = annotated_sender(a).sock,
			.time_ns = e->time_ns,
			.offset = a->has_offset ? a->offset : FACT_NONE,
			.seq = p->seq,
			.ack = p->ack,
			.len = p->len,
			.ifindex = p->ifindex,
			.headers = p->headers,
			.segs = p->segs,
			.gso_size = p->gso_size,
			.ip_id = p->ip_id,
			.frag = p->frag,
			.tcp_flags = p->tcp_flags,
			.proto = p->proto,
			.icmp_type = p->icmp_type,
			.place = (uint8_t)place,
			.zero_window = p->zero_window};
}

void traffic_listen(struct traffic *t, struct core *core)
{
	t->core = core;
	facts_listen(core_facts(core), FACT_call, on_call, t);
	core_listen(core, on_event, t);
}

/* ---- sockets ---- */

static bool is_specified(const uint8_t addr[16])
{
	static const uint8_t any[16], any_ipv4[16] = {[10] = 0xff, [11] = 0xff};

	return memcmp(addr, any, 16) != 0 && memcmp(addr, any_ipv4, 16) != 0;
}

/* Returns whether the address is known, and not that of any interface. */
static bool take_end(struct frame_end *to, const struct fact_address *from)
{
	to->port = from->port;
	if (!from->addr)
		return false;
	memcpy(to->addr, from->addr, sizeof(to->addr));
	return is_specified(to->addr);
}

static void add_sock(void *arg, const struct fact_flow *tx, const struct fact_flow *rx)
{
	struct traffic *t = arg;
	struct traffic_sock *s = mg_calloc(1, sizeof(*s));

	if (!s)
		return;
	s->sock = tx->flow.sock;
	s->has_local = take_end(&s->local, &tx->local);
	s->has_remote = take_end(&s->remote, &tx->remote);
	s->one_remote = s->has_remote;
	if (!s->has_remote && tx->several_remotes != 1 && rx->several_remotes != 1) {
		const struct fact_flow *f = tx->first_remote.addr ? tx : rx;

		s->has_remote = s->one_remote = take_end(&s->remote, &f->first_remote);
	}
	s->opened = tx->opened;
	s->is_server = tx->side == SIDE_SERVER;
	s->isn = (uint32_t)tx->isn;
	s->irs = (uint32_t)tx->irs;
	s->netns = tx->netns == FACT_NONE ? 0 : (uint32_t)tx->netns;
	s->pid = tx->pid == FACT_NONE ? 0 : (uint32_t)tx->pid;
	s->peer = tx->peer_sock == FACT_NONE ? 0 : tx->peer_sock;
	s->program = kept_name(t, tx->program ? tx->program : "");
	HASH_ADD(hh, t->socks, sock, sizeof(s->sock), s);
}

const struct traffic_sock *traffic_sock(const struct traffic *t, uint64_t sock)
{
	struct traffic_sock *s = NULL;

	HASH_FIND(hh, t->socks, &sock, sizeof(sock), s);
	return s;
}

/*
 * Returns the socket that a request to connect became, by the initial sequence numbers of both
 * ends as a segment of its handshake has them; 0 if none was recorded.
 */
static uint64_t sock_of_request(const struct traffic *t, const struct traffic_packet *p)
{
	for (const struct traffic_sock *s = t->socks; s; s = s->hh.next) {
		uint32_t own = traffic_is_rx(p) ? p->ack - 1 : p->seq;
		uint32_t far = traffic_is_rx(p) ? p->seq : p->ack - 1;

		if (!s->opened || !s->is_server)
			continue;
		if (traffic_is_rx(p) && !(p->tcp_flags & FLAG_SYN))
			far--;
		if (far == s->irs && (own == s->isn || !(p->tcp_flags & FLAG_ACK)))
			return s->sock;
	}
	return 0;
}

/* Gives the packets of requests to connect to the sockets that they became. */
static void settle_requests(struct traffic *t)
{
	struct settled {
		uint64_t request, sock;
		UT_hash_handle hh;
	} *all = NULL, *s, *tmp;

	for (size_t i = 0; i < t->packets; i++) {
		struct traffic_packet *p = &t->packet[i];

		if (!(p->sock & MG_REQUEST_ID))
			continue;
		HASH_FIND(hh, all, &p->sock, sizeof(p->sock), s);
		if (!s) {
			s = mg_calloc(1, sizeof(*s));
			if (!s)
				break;
			s->request = p->sock;
			s->sock = sock_of_request(t, p);
			HASH_ADD(hh, all, request, sizeof(s->request), s);
		}
		p->sock = s->sock ? s->sock : p->sock;
	}
	HASH_ITER (hh, all, s, tmp) {
		HASH_DEL(all, s);
		free(s);
	}
}

static int by_bytes(const void *a, const void *b)
{
	const struct traffic_call *x = a, *y = b;

	if (x->sock != y->sock)
		return x->sock < y->sock ? -1 : 1;
	if (x->rx != y->rx)
		return x->rx - y->rx;
	if (x->offset != y->offset)
		return x->offset < y->offset ? -1 : 1;
	return x->begin_ns < y->begin_ns ? -1 : x->begin_ns > y->begin_ns;
}

void traffic_finish(struct traffic *t)
{
	struct fact_recording r;
	size_t kept = 0;

	core_recording(t->core, &r);
	t->time_error_ns = r.cpus_compared && r.hz > 0 ? r.cpus_error / r.hz * 1e9 : 0;
	t->join_error_ns = r.hz > 0 ? r.clock_error / r.hz * 1e9 + t->time_error_ns : NAN;
	t->wall_clock_ns = r.wall_clock == FACT_NONE ? 0 : r.wall_clock;
	core_each_flow(t->core, add_sock, t);
	settle_requests(t);
	for (size_t i = 0; i < t->packets; i++) {
		if (traffic_sock(t, t->packet[i].sock))
			t->packet[kept++] = t->packet[i];
		else
			t->unknown += traffic_is_packet(&t->packet[i]);
	}
	t->packets = kept;
	if (t->calls)
		qsort(t->call, t->calls, sizeof(*t->call), by_bytes);
}

void traffic_free(struct traffic *t)
{
	struct traffic_sock *s, *s_tmp;
	struct traffic_name *n, *n_tmp;

	HASH_ITER (hh, t->socks, s, s_tmp) {
		HASH_DEL(t->socks, s);
		free(s);
	}
	HASH_ITER (hh, t->names, n, n_tmp) {
		HASH_DEL(t->names, n);
		free(n);
	}
	free(t->packet);
	free(t->call);
	t->packet = NULL;
	t->call = NULL;
}

/* ---- questions ---- */

/* Fills in an end; where only its port is known, the address stays 0. */
static bool give_end(struct frame_end *to, const struct frame_end *from, bool known)
{
	to->port = from->port;
	if (known)
		memcpy(to->addr, from->addr, sizeof(to->addr));
	return known;
}

bool traffic_ends(const struct traffic *t, const struct traffic_packet *p, struct frame *f)
{
	static const uint8_t ipv4[12] = {[10] = 0xff, [11] = 0xff};
	const struct traffic_sock *s = traffic_sock(t, p->sock);
	const struct traffic_sock *other = p->sender ? traffic_sock(t, p->sender) : NULL;
	bool rx = traffic_is_rx(p), has_local, has_remote;
	struct frame_end *local = rx ? &f->to : &f->from, *remote = rx ? &f->from : &f->to;

	memset(local, 0, sizeof(*local));
	memset(remote, 0, sizeof(*remote));
	if (!s)
		return false;
	has_local = give_end(local, &s->local, s->has_local);
	has_remote = s->one_remote && give_end(remote, &s->remote, s->has_remote);
	if (!has_remote && other)
		has_remote = give_end(remote, &other->local, other->has_local);
	if (!has_local && other && other->one_remote)
		has_local = give_end(local, &other->remote, other->has_remote);
	f->is_ipv6 = (has_local || has_remote) &&
		     memcmp(has_local ? local->addr : remote->addr, ipv4, sizeof(ipv4)) != 0;
	return has_local && has_remote;
}

const struct traffic_call *traffic_calls(
	const struct traffic *t, uint64_t sock, bool rx, uint64_t from, uint64_t to, size_t *count)
{
	struct traffic_call key = {.sock = sock, .rx = rx, .offset = from, .begin_ns = UINT64_MAX};
	size_t low = 0, high = t->calls;

	*count = 0;
	while (low < high) { /* the first call that begins after `from` */
		size_t mid = low + (high - low) / 2;

		if (by_bytes(&t->call[mid], &key) <= 0)
			low = mid + 1;
		else
			high = mid;
	}
	if (low && t->call[low - 1].sock == sock && t->call[low - 1].rx == rx &&
		t->call[low - 1].offset + t->call[low - 1].bytes > from)
		low--;
	while (low + *count < t->calls && t->call[low + *count].sock == sock &&
		t->call[low + *count].rx == rx && t->call[low + *count].offset < to)
		++*count;
	return *count ? &t->call[low] : NULL;
}
