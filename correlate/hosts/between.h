/* SPDX-License-Identifier: MIT */
/*
 * Recordings of the two hosts of a connection: their clocks are related by the packets that passed,
 * and each byte is followed from one program to the other (method, "Clock", "Hosts").
 */
#ifndef MAGNET_CORRELATE_BETWEEN_H
#define MAGNET_CORRELATE_BETWEEN_H

#include <stdbool.h>

#include "clock/hosts.h"
#include "bytes/ranges.h"
#include "joint.h"
#include "render/report.h"

/* Times kept for each byte of a socket, by its offset, in ns of the host's clock. */
struct end {
	uint64_t cookie;
	struct ranges call, xmit, sent_again; /* U0, X */
	struct ranges recv, ret, came_again;  /* R, U1 */
	UT_hash_handle hh;
};

struct host_side {
	struct core *core;
	struct end *ends;
	size_t kept;
	bool full; /* limit reached: later bytes are left out */
	struct host_exchanges exchanges;
};

/* Call it before the first event. */
void host_side_init(struct host_side *s, struct core *core);
/* Listener for core_listen(); `arg` is a struct host_side. */
void host_side_event(void *arg, const struct mg_event *e, const struct annotation *a);
void host_side_free(struct host_side *s);

/* One direction of a connection between the hosts. */
struct crossing {
	uint64_t a, b; /* its sockets on A and on B */
	bool to_b;
	uint64_t bytes;
	struct dist transit;             /* X to R, ns, by bytes */
	struct dist calls;               /* the sender's U0 to the receiver's U1, ns, by bytes */
	double transit_half, calls_half; /* largest error of any of them, ns */
	uint64_t ambiguous;              /* bytes that were sent or received more than once */
};

/* Return its two flows: on the host that sends, and on the other one. */
static inline struct fact_flow_id crossing_sent(const struct crossing *c)
{
	return (struct fact_flow_id){.sock = c->to_b ? c->a : c->b, .rx = false};
}

static inline struct fact_flow_id crossing_received(const struct crossing *c)
{
	return (struct fact_flow_id){.sock = c->to_b ? c->b : c->a, .rx = true};
}

struct between {
	const struct report *a, *b;
	struct hosts hosts;
	struct crossing *crossing;
	size_t crossings;
	bool left_out;
	struct joint joint;
};

/*
 * Computes the figures; the sides' exchanges are sorted. Returns 0 or -ENOMEM; the caller frees `w`
 * in any case.
 */
int between_make(struct between *w, const struct report *a, struct host_side *as,
	const struct report *b, struct host_side *bs);
void between_free(struct between *w);

/* Returns a host's name in a static buffer; `otherwise` if it is not known. */
const char *host_name(const struct report *r, const char *otherwise);
/*
 * Writes the name of a host beside the other one; where both have the same, the end of the
 * recording's name.
 */
#define HOST_LABEL 36
void host_label(const struct report *r, const struct report *other, const char *otherwise,
	char name[HOST_LABEL]);
void between_text(const struct between *w, FILE *to, bool colour);
/* Returns a new reference. */
json_t *between_json(const struct between *w);

#endif
