/* SPDX-License-Identifier: MIT */
/*
 * The answer of two hosts together: a client on one of them and its server on the other one
 * (method, "The answer", "Two hosts").
 */
#ifndef MAGNET_CORRELATE_JOINT_H
#define MAGNET_CORRELATE_JOINT_H

#include <stdbool.h>
#include <stdint.h>

#include "joint_divide.h"
#include "render/report.h"

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
	uint64_t by_clocks;        /* exchanges that were divided by the relation of the clocks, */
	double clock_half;         /* whose largest error there was this, ns */
	uint64_t of_client;        /* exchanges of this client's group in all joint groups */
	double share;              /* of the time of all that the client's group has */
};

struct joint {
	struct joint_group *v; /* those that took longest first */
	size_t n;
	const char *why_none;    /* without a group, why there is none; */
	const struct report *of; /* the host that this is about, NULL: both */
	size_t unrelated;        /* exchanges that need a relation of the clocks and have none */
};

/*
 * Adds the exchanges of one host's clients with the other one's servers, through `sockets`, which
 * it sorts. Both hosts' exchanges are sorted. Returns 0 or -ENOMEM.
 */
int joint_add(struct joint *j, const struct joint_clocks *clocks, const struct report *client,
	const struct host_exchanges *asked, const struct report *server,
	const struct host_exchanges *answered, struct joint_sockets *sockets, size_t n);
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
