/* SPDX-License-Identifier: MIT */
#include "capture/traffic.h"

#include <math.h>
#include <netinet/in.h>
#include <string.h>

#include "names.h"

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
	return hash_kept(n) ? n->text : "";
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

/* Returns whether the filter takes a packet; of a request that is asked for its socket later. */
static bool is_taken(const struct traffic *t, const struct mg_event *e, const struct annotation *a)
{
	if (!t->filter)
		return true;
	if (e->packet.sock & MG_REQUEST_ID && !a->sock)
		return filter_takes_time(t->filter, t->core, e->cycles);
	return filter_takes_event(t->filter, t->core, e, a);
}

static void on_event(void *arg, const struct mg_event *e, const struct annotation *a)
{
	struct traffic *t = arg;
	enum traffic_place place = place_of(e->id);
	const struct mg_packet *p = &e->packet;
	struct traffic_packet *to;

	if (place == PLACES || (t->packets_only && (place == PLACE_QUEUE || place == PLACE_IP)) ||
		!is_taken(t, e, a))
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
	(void)hash_kept(s);
}

const struct traffic_sock *traffic_sock(const struct traffic *t, uint64_t sock)
{
	struct traffic_sock *s = NULL;

	HASH_FIND(hh, t->socks, &sock, sizeof(sock), s);
	return s;
}

/* ---- requests to connect ---- */

/* A socket that was opened by its peer, by the initial sequence numbers of both ends. */
struct server {
	struct server_numbers {
		uint32_t isn, irs;
	} by;
	const struct traffic_sock *sock;
	UT_hash_handle hh;
};

/*
 * A request, and the socket that it became, under the initial sequence number of one end: the next
 * connection with the same ends has others.
 */
struct settled {
	struct settled_by {
		uint64_t request;
		uint32_t number, is_opener;
	} by;
	const struct traffic_sock *sock;
	UT_hash_handle hh;
};

static struct server *servers_of(const struct traffic *t)
{
	struct server *all = NULL, *one, *known;

	for (const struct traffic_sock *s = t->socks; s; s = s->hh.next) {
		struct server_numbers by = {s->isn, s->irs};

		HASH_FIND(hh, all, &by, sizeof(by), known);
		one = s->opened && s->is_server && !known ? mg_calloc(1, sizeof(*one)) : NULL;
		if (!one)
			continue;
		one->by = by;
		one->sock = s;
		HASH_ADD(hh, all, by, sizeof(one->by), one);
		(void)hash_kept(one);
	}
	return all;
}

/* Returns the socket with the numbers that a segment of its handshake has; NULL if none was. */
static const struct traffic_sock *with_numbers(struct server *all, const struct traffic_packet *p)
{
	struct server_numbers by = traffic_is_rx(p)
					   ? (struct server_numbers){p->ack - 1, p->seq - 1}
					   : (struct server_numbers){p->seq, p->ack - 1};
	struct server *s = NULL;

	HASH_FIND(hh, all, &by, sizeof(by), s);
	return s ? s->sock : NULL;
}

static struct settled *find_settled(struct settled *all, const struct settled_by *by)
{
	struct settled *r = NULL;

	HASH_FIND(hh, all, by, sizeof(*by), r);
	return r;
}

static void note_settled(
	struct settled **all, struct settled_by by, const struct traffic_sock *sock)
{
	struct settled *r = find_settled(*all, &by) ? NULL : mg_calloc(1, sizeof(*r));

	if (!r)
		return;
	r->by = by;
	r->sock = sock;
	HASH_ADD(hh, *all, by, sizeof(r->by), r);
	(void)hash_kept(r);
}

/* Returns the key of a packet's request: a SYN has the number of the end that opens only. */
static struct settled_by key_of(const struct traffic_packet *p)
{
	struct settled_by by = {.request = p->sock};

	by.is_opener = !(p->tcp_flags & FLAG_ACK);
	by.number = traffic_is_rx(p) && !by.is_opener ? p->ack - 1 : p->seq;
	return by;
}

/* Finds the sockets that requests became, by those of their packets that have both numbers. */
static struct settled *requests_of(const struct traffic *t)
{
	struct server *servers = servers_of(t), *s, *tmp;
	struct settled *all = NULL;

	for (size_t i = 0; i < t->packets; i++) {
		const struct traffic_packet *p = &t->packet[i];
		const struct traffic_sock *sock = NULL;

		if (p->sock & MG_REQUEST_ID && p->tcp_flags & FLAG_ACK)
			sock = with_numbers(servers, p);
		if (!sock)
			continue;
		note_settled(&all, key_of(p), sock);
		note_settled(&all, (struct settled_by){p->sock, sock->irs, true}, sock);
	}
	HASH_ITER (hh, servers, s, tmp) {
		HASH_DEL(servers, s);
		free(s);
	}
	return all;
}

/* Gives the packets of requests to the sockets that they became. */
static void settle_requests(struct traffic *t)
{
	struct settled *all = requests_of(t), *r, *tmp;

	for (size_t i = 0; i < t->packets; i++) {
		struct traffic_packet *p = &t->packet[i];
		struct settled_by by = key_of(p);

		r = p->sock & MG_REQUEST_ID ? find_settled(all, &by) : NULL;
		if (r && (!t->filter ||
				 filter_takes_flow(t->filter, (struct fact_flow_id){r->sock->sock,
								      traffic_is_rx(p), NULL})))
			p->sock = r->sock->sock;
	}
	HASH_ITER (hh, all, r, tmp) {
		HASH_DEL(all, r);
		free(r);
	}
}

/* Returns whether a packet without a known socket is worth a word: of requests a filter leaves some
 * out. */
static bool is_told(const struct traffic *t, const struct traffic_packet *p)
{
	return traffic_is_packet(p) && !(t->filter && p->sock & MG_REQUEST_ID);
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
			t->unknown += is_told(t, &t->packet[i]);
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
