/* SPDX-License-Identifier: MIT */
/*
 * Sockets and their flows: the two directions of each, with the byte ranges seen at every layer.
 * All times are cycles of the counter.
 */
#ifndef MAGNET_CORRELATE_FLOW_H
#define MAGNET_CORRELATE_FLOW_H

#include <stdbool.h>
#include <stdint.h>

#include "event_set.h"
#include "hash.h"
#include "bytes/acks.h"
#include "bytes/call_ends.h"
#include "bytes/ranges.h"
#include "bytes/resent.h"
#include "bytes/timed_sends.h"
#include "bytes/why_state.h"
#include "bytes/zerocopy_sends.h"
#include "facts/facts.h"

/*
 * Index of a received flow's list after those of its layers: bytes that arrived before bytes that
 * precede them, and when the last of these came (stream/head_of_line.c).
 */
#define RX_OVERTOOK RX_LAYERS
_Static_assert((int)RX_OVERTOOK < (int)TX_LAYERS, "a flow has room for the list");

/*
 * Bytes that passed more than once before they were acknowledged: which copy a time belongs to is
 * unknown (Karn & Partridge 1987).
 */
struct copies {
	/* bytes that came again, with the time of their first passing */
	struct ranges again;
	uint64_t pending;       /* bytes just sent again, before TCP's event about it */
	uint64_t retransmitted; /* bytes TCP retransmitted as not acknowledged */
	/* bytes TCP sent again after a local drop, which it does not count */
	uint64_t resent;
	uint64_t ambiguous;          /* bytes left out of the stages */
	uint64_t transit_ambiguous;  /* bytes left out of the transit */
	uint64_t undivided;          /* RX: bytes left out of the stages, see head_of_line.c */
	uint64_t incomplete;         /* incomplete bytes that were sent again */
	struct resent *resent_times; /* NULL: nothing was sent again */
};

/* Calls refused because the send buffer was full (EAGAIN). */
struct refusals {
	uint64_t n;
	uint64_t since; /* return of the first refused call since the last copied bytes */
};

/*
 * Urgent bytes read by recv(MSG_OOB): which byte it was is known when the reader of the stream has
 * passed it.
 */
#define URGENT_MAX 4
struct urgent {
	bool seen;  /* a segment that announces one was seen */
	uint32_t n; /* calls that have read one */
	struct urgent_call {
		uint64_t enter, exit, user;
	} read[URGENT_MAX];
	uint64_t discarded; /* bytes that no call read */
};

struct anchor {
	uint32_t seq; /* this sequence number ... */
	uint64_t off; /* ... is this byte */
	bool set, relative;
};

/* Calls that moved bytes of a flow, and threads that made them. */
struct flow_use {
	uint64_t calls;
	uint64_t first, last;        /* of these calls, cycles */
	uint64_t blocked;            /* cycles that its threads were blocked in calls, summed */
	uint64_t cycles;             /* cycles spent in its calls */
	uint32_t open;               /* calls begun and not settled yet */
	uint32_t in_kernel;          /* those of them still in the kernel */
	uint32_t thread[4], threads; /* threads that made calls; at most 4 are distinguished */
	uint64_t kernel_only;        /* bytes moved by calls without an application event */
};

/* Events of a flow that are missing, and what is missing for that. */
struct flow_missing {
	uint32_t gaps;           /* losses during its life */
	uint32_t layers;         /* layers that lack something, as bits 1 << enum mg_layer */
	struct mg_events events; /* events of which some are missing */
	uint64_t messages;       /* messages that could not be matched with certainty */
	/* bytes moved by calls whose system call was not seen; not TCP's */
	uint64_t bytes;
	/* share of the missing events that would describe its bytes; not TCP's */
	double events_share;
	double time_share; /* share of its life after the end of the kernel side */
};

/* Not TCP's: the flow at the other end. */
struct flow_paired {
	struct flow *partner;     /* the first one, unless it was forgotten */
	bool several;             /* there are others */
	struct ranges call, x, r; /* byte ranges that wait for the other end */
	uint64_t base;
};

/*
 * One of a socket's two directions. What nearly every event needs comes first, as thousands of
 * flows do not fit into the CPU's caches.
 */
struct flow {
	struct mg_sock *sock;
	void **state; /* place for the state that a listener keeps of it (socket/state_slots.h) */
	bool rx;
	struct {
		bool seen;
		uint32_t seq; /* its sequence number */
	} fin;
	struct anchor anchor;
	/* offset at which the recording begins; 0 if it saw the connection open */
	uint64_t start;
	uint64_t total;    /* end offset: sent, or read by the program, by sequence numbers */
	uint64_t done;     /* byte ranges are settled up to here */
	uint64_t complete; /* bytes with all timestamps */
	/* times, 0 = never */
	struct {
		uint64_t ip, driver; /* TX: bytes that had not passed before were handed to them */
		uint64_t arrived;    /* RX: the latest of the bytes that are in order */
		uint64_t processed;  /* RX: TCP processed a segment */
	} last;
	struct ranges layer[TX_LAYERS]; /* RX_LAYERS is not more */
	struct {
		uint64_t to, before, before_t;
		bool no_window;            /* TX: the peer offers no window now */
		struct acks *on_way;       /* NULL: nobody listens to them */
		struct timed_sends *timed; /* TX: sends with timestamps; NULL: none on its way */
	} ack; /* offset acknowledged; the one before it, and when that came */
	struct {
		uint64_t off, t;
	} unclaimed; /* RX: offset read up to since then, in no known call */
	struct flow_use use;
	struct {
		uint64_t first, last; /* event that bytes passed, cycles */
		/* event of its opening or state, drop, or retransmission */
		uint64_t first_told, last_told;
	} active;
	struct call_ends call_ends; /* TX: ends of calls on their way */
	/* TX: causes of waits in the send buffer; NULL = nothing was sent */
	struct why *why;
	struct zerocopy *zerocopy; /* TX; NULL = no such sends */
	struct {
		uint32_t queued_at; /* number of the device at which it was queued last */
		/* a copy made by the queue, which the driver is asked to transmit instead */
		struct {
			uint32_t seq, len;
		} copied;
	} device;                  /* TX */
	unsigned __int128 closure; /* sum of |total - sum of stages|: must be 0 */
	struct {                   /* RX */
		uint64_t unseen;   /* bytes at its start that no layer below TCP saw */
		/* end of the bytes that came before its socket existed, 0 = none did */
		uint64_t request_end;
	} handshake;
	struct copies copies; /* only its first members, and those above, are needed often */
	struct urgent urgent; /* RX */
	struct {
		uint64_t segments;
		uint64_t syn;    /* those of them that are SYNs */
		uint64_t synack; /* retransmissions of the SYN-ACK, not among these */
	} retried;
	struct {
		uint64_t bytes;
		bool known;       /* `bytes` is valid */
	} never_sent;             /* TX: bytes written that never left */
	struct refusals refusals; /* TX */
	uint64_t incomplete;
	struct flow_missing missing;
	struct {
		uint64_t n;         /* segments or datagrams the kernel dropped */
		uint64_t discarded; /* those of them without payload that TCP itself discarded */
		uint64_t bytes;     /* bytes sent that were dropped before they left; not TCP's */
		uint64_t refused;   /* times the driver refused a packet */
	} drops;
	struct flow_paired paired;
};

/* Addresses and ports of a connection, as one end has them. */
struct place {
	uint8_t laddr[16], raddr[16];
	uint16_t lport, rport;
};

struct program;
/* Far ends of an unconnected socket, in one direction. */
struct far_end {
	uint8_t addr[16]; /* address of the first one */
	uint16_t port;
	bool known, several;
};

struct mg_sock {
	uint64_t cookie;
	UT_hash_handle hh;
	uint32_t netns;
	uint8_t family, state, opener, kind;
	uint16_t lport, rport;
	bool has_addr;
	bool unclaimed; /* no call will report what became of its bytes */
	uint8_t ulp;    /* MG_ULP_*: TCP's bytes are not the program's */
	struct {
		uint32_t pid, tid;
		const struct program *program; /* its program at the time; NULL: not known then */
	} user;                                /* the last one */
	struct ends {
		uint32_t isn, irs; /* initial sequence numbers, if the opening was seen */
	} ends;
	struct mg_sock *peer;        /* the other end, if it is traced too */
	struct far_end *far;         /* two, TX and RX; NULL: not known, or it is connected */
	struct exchanges *exchanges; /* requests and replies; NULL: no bytes moved yet */
	struct queues *queues;       /* not TCP's: data in flight; NULL: none */
	struct {                     /* what keeps it from being forgotten */
		/* pieces of threads' calls, messages and readings that point to its flows */
		uint32_t by;
		uint64_t last;     /* latest use, cycles, when it was looked at */
		uint64_t since_ns; /* time of the events at which that was seen first */
		bool is_leaving;   /* it is being forgotten */
	} kept;
	struct flow tx, rx;
	struct { /* in the core's list `live` */
		struct mg_sock *next;
		struct mg_sock **at; /* pointer to this socket in the list */
		bool is;             /* it stays in the list until some time after this: */
		uint64_t closed_ns;
	} listed;
	struct {
		bool opened;
		bool late;           /* met when it was open, and its state is not recorded yet */
		bool accepted;       /* UNIX: by its owner */
		uint8_t counted;     /* TCP: end that opened it, by its counters; 0: not known */
		uint64_t connecting; /* when TCP began to connect; 0: it does not */
	} met;
	char name[16]; /* name of a device that stands for a socket, else "" */
	uint8_t laddr[16], raddr[16];
	UT_hash_handle hh_alone; /* in `alone`, by `ends` */
	struct place place;
	UT_hash_handle hh_place; /* in `places`, by `place` */
	struct {
		bool alone, placed; /* whether it is in these tables */
		bool open, closed;  /* how it is counted in socket/closed.h */
	} in;
};

/* Returns the flow's identity in facts. */
static inline struct fact_flow_id flow_fact(const struct flow *f)
{
	return (struct fact_flow_id){f->sock->cookie, f->rx, f->state};
}

/* Returns a socket's own address and port, and the peer's, as far as they are known. */
static inline struct fact_address sock_local(const struct mg_sock *s)
{
	return (struct fact_address){s->has_addr ? s->laddr : NULL, s->lport};
}

static inline struct fact_address sock_remote(const struct mg_sock *s)
{
	return (struct fact_address){s->has_addr ? s->raddr : NULL, s->rport};
}

/*
 * Returns the end of a connection that a socket is, where its opening was recorded or TCP's
 * counters tell.
 */
static inline enum flow_side sock_side(const struct mg_sock *s)
{
	uint8_t opener = s->opener ? s->opener : s->met.counted;

	return opener == 1 ? SIDE_CLIENT : opener == 2 ? SIDE_SERVER : SIDE_UNKNOWN;
}

#endif
