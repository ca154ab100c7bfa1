/* SPDX-License-Identifier: MIT */
#include "socket/requests.h"

#include "core.h"
#include "socket/socket.h"

struct request *request_find(struct request *all, uint64_t id)
{
	struct request *r;

	HASH_FIND(hh, all, &id, sizeof(id), r);
	return r;
}

struct mg_sock *request_sock(struct core *c, uint64_t id)
{
	const struct request *r = request_find(c->requests.done, id);

	return r ? sock_find(c, r->sock) : NULL;
}
