/* SPDX-License-Identifier: MIT */
/*
 * The answer of two hosts together: a client on one of them and its server on the other one
 * (method, "The answer"). Only durations are compared, each by its own host's clock.
 */
#ifndef MAGNET_CORRELATE_JOINT_H
#define MAGNET_CORRELATE_JOINT_H

#include <stdbool.h>
#include <stdint.h>

#include "figures/exchanges.h"
#include "render/report.h"

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
	uint64_t departed,
		departed_upto; /* a server's: when the reply's first byte, and its last */
	struct exchange_group *group;
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
	bool full; /* limit reached: later ones are left out */
};

/* Listeners of figures_tell_exchanges(); `arg` is a struct host_exchanges, all 0 at first. */
void host_exchanges_add(void *arg, const struct divided_exchange *d);
void host_exchanges_resent(void *arg, const struct fact_resent *f);
/* Sorts what is kept, once all is. */
void host_exchanges_sort(struct host_exchanges *h);
void host_exchanges_free(struct host_exchanges *h);

/* Two ends of a connection. */
struct joint_sockets {
	uint64_t client, server;
};

/* Exchanges of a client with a server on the other host. */
struct joint_group {
	const struct report *client_report, *server_report;
	struct exchange_group *client;
	const struct exchange_group *server;
	struct cause_bins *causes; /* of both; in cycles of the client's host */
	uint64_t time;             /* sum of their whole time, likewise */
	uint64_t of_client;        /* exchanges of this client's group in all joint groups */
	double share;              /* of the time of all that the client's group has */
};

struct joint {
	struct joint_group *v; /* those that took longest first */
	size_t n;
	const char *why_none;    /* without a group, why there is none; */
	const struct report *of; /* the host that this is about, NULL: both */
};

/*
 * Adds the exchanges of one host's clients with the other one's servers, through `sockets`, which
 * it sorts. Both hosts' exchanges are sorted. Returns 0 or -ENOMEM.
 */
int joint_add(struct joint *j, const struct report *client, const struct host_exchanges *asked,
	const struct report *server, const struct host_exchanges *answered,
	struct joint_sockets *sockets, size_t n);
/* Sorts the groups, once all are there, and notes with the clients' groups that they are. */
void joint_finish(struct joint *j);
/* Says why there is no group, if there is none. */
void joint_explain(struct joint *j, size_t connections, const struct report *a,
	const struct host_exchanges *of_a, const struct report *b,
	const struct host_exchanges *of_b);
void joint_free(struct joint *j);

/* Fills in the next column of a group's answer, as next_exchange_group_answer(). */
struct answer_column_figures;
bool joint_column(const struct joint_group *g, uintptr_t *at, struct answer_column_figures *to);
/* Prints the answer of the group that took longest, and names the others (joint_print.c). */
void joint_text(const struct joint *j, FILE *to, bool colour);

#endif
