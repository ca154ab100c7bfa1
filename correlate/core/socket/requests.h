/* SPDX-License-Identifier: MIT */
/* Requests to connect, and the sockets that they became; stream/request.c keeps their data. */
#ifndef MAGNET_CORRELATE_CORE_SOCKET_REQUESTS_H
#define MAGNET_CORRELATE_CORE_SOCKET_REQUESTS_H

#include "core.h"

struct request {
	uint64_t id; /* MG_REQUEST_ID and more */
	/* lowest sequence number of its segments, and the acknowledgement of all */
	uint32_t seq, ack;
	uint64_t sock; /* 0: it has none yet */
	struct mg_event *waiting;
	uint32_t count;
	UT_hash_handle hh;
};

/* Returns the request of this number in one of the core's two tables; NULL if it has none. */
struct request *request_find(struct request *all, uint64_t id);
/* Returns the socket that the request of this number became, NULL if that is not known yet. */
struct mg_sock *request_sock(struct core *c, uint64_t id);

#endif
