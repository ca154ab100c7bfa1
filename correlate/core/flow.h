/* SPDX-License-Identifier: MIT */
/*
 * Sockets and their flows: the two directions of each, with what was seen of their bytes at every
 * layer. All times are cycles of the counter.
 */
#ifndef MAGNET_CORRELATE_FLOW_H
#define MAGNET_CORRELATE_FLOW_H

#include <stdbool.h>
#include <stdint.h>

#include "event_set.h"
#include "facts/facts.h"
#include "hash.h"
#include "sums/dist.h"
#include "stream/ranges.h"
#include "stream/resent.h"
#include "sums/series.h"
#include "sums/waterfall.h"
#include "stream/why.h"
#include "stream/zerocopy.h"

/*
 * A received flow's list after those of its layers: bytes that came before bytes that precede them,
 * and when the last of these came (head_of_line.c).
 */
#define RX_OVERTOOK RX_LAYERS
_Static_assert((int)RX_OVERTOOK < (int)TX_LAYERS, "a flow has room for the list");

/* Units (calls, super-segments, frames) as they passed one layer: sizes and spacings. */
struct unit_stats {
	uint64_t n;
	uint64_t frames; /* segments, datagrams or fragments they stand for; 0 where not seen */
	uint64_t bytes;  /* payload */
	double size_sum2;
	uint64_t first_t, last_t;  /* cycles */
	double gap_sum2;           /* of spacings, cycles squared */
	struct dist gaps;          /* spacings, cycles; without those that touch a loss, */
	uint64_t gap_from, gap_to; /* of which this is the last, cycles */
	uint64_t again;            /* payload bytes that had passed before */
	uint64_t again_n,
		again_frames;  /* units that brought nothing else, and what they stand for */
	bool repeats;          /* the last one did not */
	uint64_t wire_bytes;   /* frames with headers, where the layer sees them */
	struct series *series; /* one by one, NULL unless asked for */
};

/* Byte offsets, in order. */
struct call_ends {
	uint64_t *off;
	uint32_t head, len, cap;
};

/*
 * Bytes that passed more than once before they were through: of which copy a time is, is not known
 * (Karn & Partridge 1987).
 */
struct copies {
	struct ranges again;        /* bytes that came again, and when for the first time */
	uint64_t pending;           /* sent again just now; TCP has not said yet that it did */
	uint64_t retransmitted;     /* bytes TCP sent again as not acknowledged, */
	uint64_t resent;            /* and those it does not count, since a drop here was told it */
	uint64_t ambiguous;         /* bytes left out of the bars, */
	uint64_t transit_ambiguous; /* and of the transit */
	uint64_t undivided;         /* RX: bytes left out of the bars, see head_of_line.c */
	uint64_t incomplete;        /* bytes without every boundary that were sent again */
	struct resent *resent_times; /* NULL: nothing was sent again */
};

/* Calls refused since the send buffer was full (EAGAIN). */
struct refusals {
	uint64_t n;
	uint64_t since;  /* the return of the first one that no bytes have followed yet */
	struct dist gap; /* from there until bytes are copied again, cycles */
};

/* recv(MSG_OOB): which byte it was is known when the reader of the stream has passed it. */
#define URGENT_MAX 4
struct urgent {
	bool seen;  /* a segment that announces one */
	uint32_t n; /* calls that have read one */
	struct urgent_call {
		uint64_t enter, exit, user;
	} read[URGENT_MAX];
	uint64_t discarded; /* bytes no call read */
};

struct anchor {
	uint32_t seq; /* this sequence number ... */
	uint64_t off; /* ... is this byte */
	bool set, relative;
};

/* One of a socket's two directions. */
struct flow {
	struct mg_sock *sock;
	bool rx;
	struct anchor anchor;
	struct ranges layer[TX_LAYERS]; /* RX_LAYERS is not more */
	struct unit_stats units[TX_LAYERS];
	struct series *series; /* of the layers, NULL unless asked for */
	uint64_t start;        /* where the recording begins; 0 if it saw the connection open */
	uint64_t total;    /* where it ends: sent, or read by the program, by sequence numbers */
	uint64_t done;     /* atoms are made up to here */
	uint64_t complete; /* bytes with every boundary */
	uint64_t incomplete;
	bool ended;           /* its FIN was seen, */
	uint32_t end_seq;     /* which has this sequence number */
	uint64_t opening;     /* RX: bytes at its begin that no layer below TCP saw: see rx.c */
	uint64_t request_end; /* RX: the end of what came before its socket was there, 0 = nothing
				 did */
	uint64_t acked, acked_before, acked_before_t;
	uint64_t unseen, unseen_t; /* RX: read up to here since then, in no call that is known */
	uint64_t calls;            /* that moved bytes */
	uint64_t first_call, last_call;
	uint64_t first_t, last_t;    /* any event, cycles */
	uint64_t blocked;            /* cycles its threads were blocked in calls, added up */
	uint32_t thread[4], threads; /* who made calls; not more than 4 are told apart */
	uint64_t call_cycles;        /* cycles it spent in them */
	uint32_t open_calls;         /* begun, and not yet settled; */
	uint32_t in_kernel;          /* of these, still in there */
	uint64_t retransmits;
	uint64_t syn_retries;    /* of these, SYNs */
	uint64_t synack_retries; /* of the answer to its peer's SYN, not among these */
	uint64_t refused;        /* times the driver did not take what it was asked to */
	uint64_t unsent;         /* TX: bytes written that never left; */
	bool unsent_known;       /* known only then */
	struct copies copies;
	uint32_t queued_at; /* TX: number of the device it was queued at last */
	struct {
		uint32_t seq, len;
	} copied;                  /* TX: by its queue; the driver is asked to transmit the copy */
	struct refusals refusals;  /* TX */
	struct zerocopy *zerocopy; /* TX; NULL = no such sends */
	struct urgent urgent;      /* RX */
	uint64_t dropped;          /* segments or datagrams the kernel threw away, */
	uint64_t discarded;        /* of these, without payload and by TCP itself */
	uint64_t dropped_bytes;    /* of what it sent, before it left; not TCP's */
	uint64_t unmatched;        /* messages of which it is not certain which they were */
	uint64_t kernel_only;      /* bytes moved by calls without an application event */
	uint64_t lost_bytes;       /* by calls whose system call was not seen; not TCP's */
	double not_told;           /* share of what would tell of its bytes; not TCP's */
	double not_covered;        /* share of its life when the kernel side had ended already */
	struct dist stage[STAGES_MAX]; /* cycles, weighted by bytes */
	struct dist residence;         /* first to last boundary, cycles, by bytes */
	struct waterfall waterfall;    /* the same by their total, by bytes */
	struct dist last_byte;         /* first to last boundary of each call's last byte */
	struct call_ends call_ends;    /* TX: of calls on their way */
	struct why *why;               /* TX: of the send buffer; NULL = nothing was sent */
	unsigned __int128 closure;     /* sum of |total - sum of stages|: must be 0 */
	union {
		struct dist shift_device; /* TX: U0 to X, by bytes */
		struct dist shift_peer;   /* RX: peer's U0 to U1, by bytes */
	};
	struct dist transit;     /* RX: peer's X to R */
	struct unit_stats *from; /* RX, not TCP's: the calls whose bytes it got; NULL: none */
	uint64_t last_from;
	struct flow *partner;                    /* not TCP's: the other end's, if it is one */
	bool has_partners;                       /* there are several */
	struct ranges pair_call, pair_x, pair_r; /* atoms waiting for the other end */
	uint64_t pair_base;
	uint32_t gaps;    /* losses while it lived, */
	uint32_t touched; /* and the layers that miss something, as bits 1 << enum mg_layer */
	struct mg_events missed; /* events of which some are missing */
};

/* Values seen, each the same weight. */
struct extent {
	uint64_t n, min, max;
	double sum;
};

/* A count that only grows, of which the recording saw a part. */
struct growing {
	uint64_t first, last;
	bool known;
};

struct zero_window {
	uint64_t n;      /* times it closed */
	uint64_t cycles; /* it was closed */
	uint64_t since;
	bool is_closed;
};

/* What was recorded of a socket's protocol state. */
struct tcp_record {
	struct extent srtt_us, rto_us, cwnd, snd_wnd, rcv_wnd, pacing_rate, notsent;
	struct growing delivered, lost, busy_us, rwnd_limited_us, sndbuf_limited_us;
	struct zero_window own, peer;
	uint64_t cong_changes, recoveries, timeouts, resets_sent, resets_received;
	uint32_t ssthresh;    /* the last one */
	uint8_t reset_reason; /* of the last one that has one, MG_RESET_* */
	char algorithm[17];   /* in use at last, "" = not told */
};

/* Addresses and ports of a connection, as one end has them. */
struct place {
	uint8_t laddr[16], raddr[16];
	uint16_t lport, rport;
};

struct program;
/* The far ends of a socket that is not connected, in one direction. */
struct far_end {
	uint8_t addr[16]; /* the first one's */
	uint16_t port;
	bool known, several;
};

struct mg_sock {
	uint64_t cookie;
	uint32_t netns;
	uint8_t family, state, opener, kind;
	uint16_t lport, rport;
	uint8_t laddr[16], raddr[16];
	bool has_addr;
	char name[16];                 /* of what is no socket but a device, else "" */
	bool unclaimed;                /* no call ever tells what became of its bytes */
	uint32_t pid, tid;             /* last user of it, */
	const struct program *program; /* and what it was running; NULL: not known then */
	struct ends {
		uint32_t isn, irs; /* initial sequence numbers, if the opening was seen */
	} ends;
	bool opened;
	bool late;   /* met when it was open, and its state is still to be told */
	uint8_t ulp; /* MG_ULP_*: TCP's bytes are not the program's */
	struct flow tx, rx;
	struct tcp_record *tcp;    /* NULL: nothing */
	struct far_end *far;       /* two, TX and RX; NULL: not known, or it is connected */
	struct queues *queues;     /* not TCP's: what is in flight; NULL: nothing */
	struct mg_sock *peer;      /* the other end, if it is traced too */
	struct mg_sock *next_live; /* in `live`, */
	struct mg_sock **live_at;  /* where this points to it */
	bool is_live;              /* there it is until some time after this: */
	uint64_t closed_ns;
	uint32_t pieces; /* of threads' calls, which point to its flows */
	UT_hash_handle hh;
	UT_hash_handle hh_alone; /* in `alone`, by `ends` */
	struct place place;
	UT_hash_handle hh_place; /* in `places`, by `place` */
	bool is_alone, is_placed;
};

/* As facts name it. */
static inline struct fact_flow_id flow_fact(const struct flow *f)
{
	return (struct fact_flow_id){f->sock->cookie, f->rx};
}

/* Which end of a connection a socket is, where its opening was recorded. */
enum flow_side { SIDE_UNKNOWN, SIDE_CLIENT, SIDE_SERVER };
static inline enum flow_side sock_side(const struct mg_sock *s)
{
	return s->opener == 1 ? SIDE_CLIENT : s->opener == 2 ? SIDE_SERVER : SIDE_UNKNOWN;
}

#endif
