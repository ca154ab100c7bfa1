/* SPDX-License-Identifier: MIT */
#include "lttng_socks.h"

#include <stdlib.h>
#include <string.h>

#include "alloc.h"

void socks_renew(struct lttng_socks *s, struct lttng_sock *sock, const struct sock_known *known)
{
	sock->id = LTTNG_SOCK + ++s->last;
	core_know_sock(s->core, sock->id, known);
}

struct lttng_sock *socks_get(
	struct lttng_socks *s, const struct sock_key *key, const struct sock_known *known)
{
	struct lttng_sock *sock;

	HASH_FIND(hh, s->socks, key, sizeof(*key), sock);
	if (sock)
		return sock;
	sock = mg_calloc(1, sizeof(*sock));
	if (!sock)
		return NULL;
	sock->key = *key;
	HASH_ADD(hh, s->socks, key, sizeof(sock->key), sock);
	sock = hash_kept(sock);
	if (!sock)
		return NULL;
	socks_renew(s, sock, known);
	return sock;
}

void socks_queued(struct lttng_socks *s, uint64_t address, const struct mg_packet *p)
{
	struct lttng_buffer *b;

	HASH_FIND(hh, s->buffers, &address, sizeof(address), b);
	if (!b) {
		b = mg_calloc(1, sizeof(*b));
		if (!b)
			return;
		b->address = address;
		HASH_ADD(hh, s->buffers, address, sizeof(b->address), b);
		b = hash_kept(b);
		if (!b)
			return;
	}
	b->done = (struct mg_dev_done){.sock = p->sock, .seq = p->seq, .len = p->len};
}

bool socks_sent(struct lttng_socks *s, uint64_t address, struct mg_dev_done *out)
{
	struct lttng_buffer *b;

	HASH_FIND(hh, s->buffers, &address, sizeof(address), b);
	if (!b)
		return false;
	*out = b->done;
	HASH_DEL(s->buffers, b);
	free(b);
	return true;
}

void socks_free(struct lttng_socks *s)
{
	struct lttng_sock *sock, *tmp;
	struct lttng_buffer *b, *btmp;

	HASH_ITER (hh, s->socks, sock, tmp) {
		HASH_DEL(s->socks, sock);
		free(sock);
	}
	HASH_ITER (hh, s->buffers, b, btmp) {
		HASH_DEL(s->buffers, b);
		free(b);
	}
}
