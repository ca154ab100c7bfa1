/* SPDX-License-Identifier: MIT */
/* Exchanges of a host that are kept until those of the other host are known, too. */
#ifndef MAGNET_CORRELATE_HOST_EXCHANGES_H
#define MAGNET_CORRELATE_HOST_EXCHANGES_H

#include <stdbool.h>
#include <stdint.h>

#include "figures/exchanges.h"

/* A cause's time in an exchange; `cause` has its end, or its part, times CAUSES. */
struct kept_cause {
	uint64_t time : 56; /* cycles */
	uint64_t cause : 8;
};

/* An exchange that was divided by cause. Times are in cycles. */
struct kept_exchange {
	uint64_t sock, request_offset, request_bytes, reply_offset, reply_bytes;
	uint64_t begin, end;
	struct client_waits waits; /* a client's */
	/* a server's: when the program had read the request, and when the reply's first byte
	 * departed, and its last */
	uint64_t read, departed, departed_upto;
	struct exchange_group *group;
	bool half_closed;
	uint64_t first : 56, causes : 8; /* in the list of causes */
};

/* Bytes of a socket that were sent again. */
struct kept_resent {
	uint64_t sock, offset, length;
	uint64_t begin, end; /* from the first copy to the last, cycles */
};

/* Exchanges of a host: of its servers, and of clients whose servers are not recorded there. */
struct host_exchanges {
	struct kept_exchange *v;
	struct kept_cause *cause;
	struct kept_resent *resent;
	size_t n, room, causes, cause_room, resents, resent_room;
	bool full, resents_full; /* limit reached: later ones are left out */
};

/* Listeners of figures_tell_exchanges(); `arg` is a struct host_exchanges, all 0 at first. */
void host_exchanges_add(void *arg, const struct divided_exchange *d);
void host_exchanges_resent(void *arg, const struct fact_resent *f);
/* Sorts what is kept, once all is. */
void host_exchanges_sort(struct host_exchanges *h);
/* Returns the exchange whose request has its first byte there; NULL if there is none. Sort first.
 */
const struct kept_exchange *host_exchanges_find(
	const struct host_exchanges *h, uint64_t sock, uint64_t request_offset);
void host_exchanges_free(struct host_exchanges *h);

#endif
