/* SPDX-License-Identifier: MIT */
#include "capture/match.h"

#include <netinet/in.h>
#include <string.h>

#define PARTS_MOST 128 /* datagrams that one packet may stand for */
#define NUMBERED   7u  /* flags that use a number or end it: FIN, SYN, RST */

/* Sockets of the same ends, one after the other. */
struct match_sock {
	const struct traffic_sock *sock;
	struct match_sock *next;
};

struct match_key {
	uint8_t local[16], remote[16];
	uint16_t lport, rport;
	uint8_t proto;
};

struct match_ends {
	struct match_key key;
	struct match_sock *first;
	UT_hash_handle hh;
};

/* ---- making ---- */

static int compare(const void *a, const void *b)
{
	const struct match_entry *x = a, *y = b;

	if (x->sock != y->sock)
		return x->sock < y->sock ? -1 : 1;
	if (x->place != y->place)
		return x->place - y->place;
	if (x->has_payload != y->has_payload)
		return x->has_payload - y->has_payload;
	if (x->number != y->number)
		return x->number < y->number ? -1 : 1;
	return (x->at > y->at) - (x->at < y->at);
}

/* Segments without payload often have the same sequence number: their acknowledgements differ. */
static uint32_t number_of(uint8_t proto, uint32_t len, uint32_t seq, uint32_t ack, uint16_t ip_id)
{
	if (proto != IPPROTO_TCP)
		return ip_id;
	return len ? seq : ack;
}

static void add_entry(struct matcher *m, size_t at)
{
	const struct traffic_packet *p = &m->t->packet[at];
	bool is_tcp = p->proto == IPPROTO_TCP;

	m->entry[m->entries++] = (struct match_entry){.sock = p->sock,
		.number = number_of(p->proto, p->len, p->seq, p->ack, p->ip_id),
		.at = (uint32_t)at,
		.place = p->place,
		.has_payload = is_tcp && p->len};
	if (is_tcp && p->len > m->longest)
		m->longest = p->len;
	if (!is_tcp && p->segs > m->most_parts && p->segs <= PARTS_MOST)
		m->most_parts = p->segs;
}

static struct match_key key_of(const struct traffic_sock *s, uint8_t proto, bool whole)
{
	struct match_key key;

	memset(&key, 0, sizeof(key)); /* padding too: keys are compared by memory */
	key.proto = proto;
	key.lport = s->local.port;
	if (whole) {
		memcpy(key.local, s->local.addr, sizeof(key.local));
		memcpy(key.remote, s->remote.addr, sizeof(key.remote));
		key.rport = s->remote.port;
	}
	return key;
}

static void add_sock(struct matcher *m, const struct traffic_sock *s, uint8_t proto)
{
	bool whole = s->has_local && s->has_remote && s->one_remote && proto == IPPROTO_TCP;
	struct match_key key = key_of(s, proto, whole);
	struct match_ends **all = whole ? &m->ends : &m->by_port, *e = NULL;
	struct match_sock *one;

	HASH_FIND(hh, *all, &key, sizeof(key), e);
	if (!e) {
		e = mg_calloc(1, sizeof(*e));
		if (!e)
			return;
		e->key = key;
		HASH_ADD(hh, *all, key, sizeof(e->key), e);
		if (!hash_kept(e))
			return;
	}
	for (one = e->first; one; one = one->next)
		if (one->sock == s)
			return;
	one = mg_calloc(1, sizeof(*one));
	if (!one)
		return;
	one->sock = s;
	one->next = e->first;
	e->first = one;
}

void matcher_init(struct matcher *m, const struct traffic *t)
{
	uint64_t last = 0;

	memset(m, 0, sizeof(*m));
	m->t = t;
	m->most_parts = 1;
	m->entry = mg_calloc(t->packets + 1, sizeof(*m->entry));
	for (size_t i = 0; i < t->packets && m->entry; i++)
		add_entry(m, i);
	if (m->entry)
		qsort(m->entry, m->entries, sizeof(*m->entry), compare);
	for (size_t i = 0; i < m->entries; i++) {
		const struct traffic_packet *p = &t->packet[m->entry[i].at];

		if (i == 0 || p->sock != last)
			add_sock(m, traffic_sock(t, p->sock), p->proto);
		last = p->sock;
	}
}

static void free_ends(struct match_ends *all)
{
	struct match_ends *e, *tmp;

	HASH_ITER (hh, all, e, tmp) {
		HASH_DEL(all, e);
		while (e->first) {
			struct match_sock *next = e->first->next;

			free(e->first);
			e->first = next;
		}
		free(e);
	}
}

void matcher_free(struct matcher *m)
{
	free_ends(m->ends);
	free_ends(m->by_port);
	free(m->entry);
	memset(m, 0, sizeof(*m));
}

/* ---- packets ---- */

/* A search for one frame in one direction. */
struct search {
	const struct matcher *m;
	const struct frame *f;
	enum traffic_place place;
	uint64_t time_ns;
	/* the result: the best one so far, and how many there are */
	const struct match_entry *best;
	uint64_t away_ns; /* from the time */
	uint32_t found;
	bool left_out; /* there are more, which were not looked at */
};

/* Returns whether a captured datagram is the recorded one, or one of those it stands for. */
static bool is_datagram(const struct traffic_packet *p, const struct frame *f)
{
	uint32_t part = (uint16_t)(f->ip_id - p->ip_id), rest;

	if (p->proto != f->proto || p->frag != f->frag || p->icmp_type != f->icmp_type)
		return false;
	if (part == 0 && f->len == p->len)
		return true;
	if (p->segs < 2 || part >= p->segs || !p->gso_size)
		return false;
	rest = p->len > part * p->gso_size ? p->len - part * p->gso_size : 0;
	return f->len == (rest < p->gso_size ? rest : p->gso_size);
}

/* Returns whether a captured segment has bytes of the recorded one, or is it if it has none. */
static bool is_segment(const struct traffic_packet *p, const struct frame *f)
{
	if (!f->len)
		return !p->len && p->seq == f->seq && p->ack == f->ack &&
		       (p->tcp_flags & NUMBERED) == (f->tcp_flags & NUMBERED);
	return f->seq - p->seq < p->len || p->seq - f->seq < f->len;
}

static void consider(struct search *s, const struct match_entry *e)
{
	const struct traffic_packet *p = &s->m->t->packet[e->at];
	uint64_t away;

	if (!(p->proto == IPPROTO_TCP ? s->f->proto == IPPROTO_TCP && is_segment(p, s->f)
				      : is_datagram(p, s->f)))
		return;
	away = p->time_ns > s->time_ns ? p->time_ns - s->time_ns : s->time_ns - p->time_ns;
	if (!s->found || (s->time_ns && away < s->away_ns)) {
		s->best = e;
		s->away_ns = away;
	}
	s->found++;
}

/* Returns the first entry not before `key`. */
static size_t first_from(const struct matcher *m, const struct match_entry *key)
{
	size_t low = 0, high = m->entries;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (compare(&m->entry[mid], key) < 0)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

static bool is_same(const struct match_entry *a, const struct match_entry *b)
{
	return a->sock == b->sock && a->place == b->place && a->has_payload == b->has_payload &&
	       a->number == b->number;
}

/* Returns the first entry of those with the same number that is not before the search's time. */
static size_t near_time(const struct search *s, size_t from, size_t to)
{
	while (from < to) {
		size_t mid = from + (to - from) / 2;

		if (s->m->t->packet[s->m->entry[mid].at].time_ns < s->time_ns)
			from = mid + 1;
		else
			to = mid;
	}
	return from;
}

#define LOOKED_AT 64 /* of many with one number, on each side of the time */

/* Considers the entries with one number; of very many those nearest in time. Returns the end. */
static size_t consider_same(struct search *s, size_t from)
{
	const struct matcher *m = s->m;
	struct match_entry after = m->entry[from];
	size_t to, near, begin, end;

	after.at = UINT32_MAX;
	to = first_from(m, &after);
	begin = from;
	end = to;
	if (to - from > 2 * LOOKED_AT) {
		near = near_time(s, from, to);
		begin = near - from > LOOKED_AT ? near - LOOKED_AT : from;
		end = to - near > LOOKED_AT ? near + LOOKED_AT : to;
		s->left_out = true;
	}
	for (size_t i = begin; i < end; i++)
		consider(s, &m->entry[i]);
	return to;
}

/* Considers entries of a socket with numbers [low, high]. */
static void consider_range(
	struct search *s, uint64_t sock, bool payload, uint32_t low, uint32_t high)
{
	const struct matcher *m = s->m;
	struct match_entry key = {
		.sock = sock, .place = (uint8_t)s->place, .has_payload = payload, .number = low};
	size_t i = first_from(m, &key);

	while (i < m->entries) {
		key.number = m->entry[i].number;
		if (!is_same(&m->entry[i], &key) || key.number > high)
			break;
		i = consider_same(s, i);
	}
}

static void search_sock(struct search *s, uint64_t sock)
{
	const struct frame *f = s->f;
	bool payload = f->proto == IPPROTO_TCP && f->len;
	uint32_t number = number_of(f->proto, f->len, f->seq, f->ack, f->ip_id);
	uint32_t before = payload                   ? s->m->longest
			  : f->proto == IPPROTO_TCP ? 0
						    : s->m->most_parts - 1;
	uint32_t low = number - before, high = number + (payload ? f->len - 1 : 0);

	if (f->proto != IPPROTO_TCP) {
		low &= UINT16_MAX;
		if (low > number) { /* numbers of 16 bits start again */
			consider_range(s, sock, payload, low, UINT16_MAX);
			low = 0;
		}
		consider_range(s, sock, payload, low, number);
		return;
	}
	if (low > high) { /* those of 32 bits, too */
		consider_range(s, sock, payload, low, UINT32_MAX);
		low = 0;
	}
	consider_range(s, sock, payload, low, high);
}

/* ---- sockets ---- */

static bool agrees(const struct frame_end *known, bool is_known, const struct frame_end *seen)
{
	return !is_known || memcmp(known->addr, seen->addr, sizeof(known->addr)) == 0;
}

/* Searches the packets of all sockets with these ends. Returns whether there are any. */
static bool search_ends(
	struct search *s, const struct frame_end *local, const struct frame_end *remote)
{
	const struct frame *f = s->f;
	struct traffic_sock ends = {.local = *local, .remote = *remote};
	struct match_key key = key_of(&ends, f->proto, true);
	const struct match_ends *e = NULL;
	bool any = false;

	HASH_FIND(hh, s->m->ends, &key, sizeof(key), e);
	for (const struct match_sock *one = e ? e->first : NULL; one; one = one->next) {
		search_sock(s, one->sock->sock);
		any = true;
	}
	key = key_of(&ends, f->proto, false);
	HASH_FIND(hh, s->m->by_port, &key, sizeof(key), e);
	for (const struct match_sock *one = e ? e->first : NULL; one; one = one->next) {
		if (!agrees(&one->sock->local, one->sock->has_local, local) ||
			!agrees(&one->sock->remote, one->sock->one_remote, remote) ||
			(one->sock->one_remote && one->sock->remote.port &&
				one->sock->remote.port != remote->port))
			continue;
		search_sock(s, one->sock->sock);
		any = true;
	}
	return any;
}

static void settle(const struct search *s, struct matched *to)
{
	if (!s->best)
		return;
	to->packet = &s->m->t->packet[s->best->at];
	to->at = s->best->at;
	to->is_only = s->found == 1 && !s->left_out;
}

static bool search_direction(const struct matcher *m, const struct frame *f,
	enum traffic_place place, uint64_t time_ns, bool rx, struct matched *to)
{
	struct search s = {.m = m, .f = f, .place = place, .time_ns = time_ns};
	struct frame_end local = rx ? f->to : f->from, remote = rx ? f->from : f->to;
	bool any;

	if (f->proto == IPPROTO_ICMP || f->proto == IPPROTO_ICMPV6) {
		local.port = f->icmp_id;
		any = search_ends(&s, &local, &remote);
		local.port = 0; /* raw sockets have no identifier */
		any = search_ends(&s, &local, &remote) || any;
	} else {
		any = search_ends(&s, &local, &remote);
	}
	settle(&s, to);
	return any;
}

enum match_problem match_frame(const struct matcher *m, const struct frame *f,
	struct match_places at, uint64_t time_ns, struct matched *sent, struct matched *received)
{
	bool any;

	memset(sent, 0, sizeof(*sent));
	memset(received, 0, sizeof(*received));
	any = search_direction(m, f, at.sent, time_ns, false, sent);
	any = search_direction(m, f, at.received, time_ns, true, received) || any;
	if (!any)
		return MATCH_NO_SOCKET;
	if (!sent->packet && !received->packet)
		return MATCH_NO_PACKET;
	if (!time_ns && f->proto != IPPROTO_TCP && !(sent->packet && sent->is_only) &&
		!(received->packet && received->is_only))
		return MATCH_SEVERAL;
	return MATCH_NONE;
}
