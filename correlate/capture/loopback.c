/* SPDX-License-Identifier: MIT */
#include "capture/loopback.h"

#include <netinet/in.h>
#include <string.h>

/*
 * The same in both records of a packet. Segments have their ports and numbers, all others the
 * number of their buffer, which passes the device as it is.
 */
struct key {
	uint32_t netns, seq, ack, len;
	uint16_t from, to, ip_id, frag;
	uint8_t tcp_flags, proto;
};

struct record {
	struct key key;
	size_t at; /* in order of time */
};

static int by_key(const void *a, const void *b)
{
	const struct record *x = a, *y = b;
	int order = memcmp(&x->key, &y->key, sizeof(x->key));

	return order ? order : (x->at > y->at) - (x->at < y->at);
}

static size_t collect(const struct traffic *t, struct record *r)
{
	size_t n = 0;

	for (size_t i = 0; i < t->packets; i++) {
		const struct traffic_packet *p = &t->packet[i];
		const struct traffic_sock *s = traffic_sock(t, p->sock);
		struct frame f;

		if (p->ifindex != LOOPBACK_IFINDEX || !traffic_is_packet(p) || !s)
			continue;
		traffic_ends(t, p, &f);
		memset(&r[n], 0, sizeof(r[n])); /* padding too: keys are compared by memory */
		r[n].key.netns = s->netns;
		r[n].key.from = p->proto == IPPROTO_TCP ? f.from.port : 0;
		r[n].key.to = p->proto == IPPROTO_TCP ? f.to.port : 0;
		r[n].key.seq = p->seq;
		r[n].key.ack = p->ack;
		r[n].key.len = p->len;
		r[n].key.ip_id = p->ip_id;
		r[n].key.frag = p->frag;
		r[n].key.tcp_flags = p->tcp_flags;
		r[n].key.proto = p->proto;
		r[n++].at = i;
	}
	return n;
}

size_t *loopback_pairs(const struct traffic *t, uint64_t *pairs)
{
	struct record *r = mg_malloc((t->packets + 1) * sizeof(*r));
	size_t *other = mg_malloc((t->packets + 1) * sizeof(*other));
	size_t n = r ? collect(t, r) : 0, sent = 0;

	*pairs = 0;
	for (size_t i = 0; i < t->packets && other; i++)
		other[i] = LOOPBACK_NONE;
	if (n)
		qsort(r, n, sizeof(*r), by_key);
	/* each received one belongs to the first one sent before that has none yet */
	for (size_t i = 0; i < n && other; i++) {
		if (memcmp(&r[i].key, &r[sent].key, sizeof(r[i].key)) != 0)
			sent = i;
		if (!traffic_is_rx(&t->packet[r[i].at]))
			continue;
		while (sent < i && (traffic_is_rx(&t->packet[r[sent].at]) ||
					   other[r[sent].at] != LOOPBACK_NONE))
			sent++;
		if (sent == i)
			continue;
		other[r[sent].at] = r[i].at;
		other[r[i].at] = r[sent].at;
		++*pairs;
	}
	free(r);
	return other;
}
