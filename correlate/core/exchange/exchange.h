/* SPDX-License-Identifier: MIT */
/*
 * Requests and replies of a socket: the alternation of directions in its calls (method,
 * "Exchanges"). Nothing of a protocol is known. A socket keeps the present exchange and at most a
 * few that have ended and are not settled.
 *
 * Calls come in the order of their returns in the kernel. Each is told twice: when it returns, by
 * its system call, and when it is settled, by when the program made it.
 */
#ifndef MAGNET_CORRELATE_CORE_EXCHANGE_EXCHANGE_H
#define MAGNET_CORRELATE_CORE_EXCHANGE_EXCHANGE_H

#include "core.h"

/* A system call that moved bytes of a socket, or that shows where a stream ends. */
struct exchange_call {
	uint64_t enter, exit;   /* K0, K1 */
	uint64_t offset, bytes; /* the first is FACT_NONE where the flow has no offsets */
	uint32_t pid, tid;
	uint16_t function; /* FACT_SYSTEM_CALL | MG_SYS_* */
	bool rx;
	bool ends;       /* it read the end of the stream, or shut the sending side */
	bool is_short;   /* the program had asked for more to be written */
	bool after_loss; /* calls since the last one may be missing */
};

/* The calls that bound an exchange. */
enum exchange_edge_of { REQUEST_FIRST, REQUEST_LAST, REPLY_FIRST, REPLY_LAST, EXCHANGE_EDGES };
struct exchange_edge {
	uint64_t t;    /* a call that writes: when it began; one that reads: when it returned */
	uint64_t exit; /* K1, which identifies the call */
	uint32_t pid, tid;
	uint16_t function;
	bool is_settled; /* `t` is that of the program's call, if it has one */
};

/* One direction of an exchange. */
struct exchange_bytes {
	uint64_t offset, bytes, calls;
};

struct exchange {
	struct exchange *next; /* of those that have ended and are not settled, a later one */
	uint64_t ordinal;
	struct exchange_edge edge[EXCHANGE_EDGES];
	struct exchange_bytes request, reply;
	/*
	 * server: when the device had the request's first and last byte, and the driver the
	 * reply's first; client: the same of the reply's first byte, and of the request's last
	 */
	uint64_t arrived_first, arrived, departed;
	struct {
		uint64_t request_last, reply_first; /* at the server, 0 = not known */
		uint64_t by;                        /* the server's cookie, of messages */
	} there;
	uint64_t read_began; /* client: when the system call began that read the reply's first byte
			      */
	uint64_t last_byte;  /* of a half-closed request: as its edge was before its end; else 0 */
	uint64_t busy_until; /* until then the thread that began the reply had written another */
	/* parts of the time in the program, of that before the request was read, and of that from
	 * the reply's first write to its last; NULL or empty: not divided yet, or not wanted */
	struct program_parts *program, *before_read, *during_reply;
	bool half_closed, overlaps, lost;
};

/* Exchanges of a socket. */
struct exchanges {
	struct exchange now;
	struct exchange *ended; /* in order */
	uint32_t waiting;       /* number of them */
	bool is_server, is_assumed;
	bool is_older;       /* than the recording */
	bool unfinished;     /* not all that the program wanted to write was taken */
	uint64_t latest;     /* return of the last call */
	uint64_t open_until; /* the last event of the recording */
	struct { /* TCP: when either end closed its direction, and the socket was closed; 0: not */
		uint64_t own, peer, all;
		bool unread; /* bytes were there that the program had not read */
	} closed;
	uint64_t next[2]; /* offset of the next byte that is written, or read; TCP */
	struct {
		uint64_t reply_first, reply_last, request_end;
	} told; /* the last exchange that was emitted */
};

/* Whether anybody wants them. */
static inline bool exchanges_wanted(const struct core *c)
{
	return facts_wanted(&c->facts, FACT_exchange) || facts_wanted(&c->facts, FACT_in_program) ||
	       facts_wanted(&c->facts, FACT_before_read) ||
	       facts_wanted(&c->facts, FACT_during_reply);
}
void exchange_on_call(struct core *c, struct mg_sock *s, const struct exchange_call *k);
/* Notes that a call to write was refused because the send buffer was full. */
void exchange_on_refusal(struct mg_sock *s);
struct mg_sock_state;
/* Notes that the state of an open socket has changed: an end closes its direction, or the socket.
 */
void exchange_on_close(struct mg_sock *s, const struct mg_sock_state *p, uint64_t now);
/* Call it when bytes that were sent again are acknowledged. */
void exchange_on_acknowledged(struct core *c, struct mg_sock *s);
/* A system call that is settled. */
struct exchange_settled {
	uint64_t exit; /* K1 */
	/* when the program's call around it began, or returned if it reads; 0: there is none */
	uint64_t t;
	uint32_t tid;
	uint16_t function; /* of that call */
};
/* Replaces the times of a system call by those of the program's call around it. */
void exchange_settle(struct core *c, struct mg_sock *s, const struct exchange_settled *k);
/* Takes the times at the device from a range that is settled. */
void exchange_take_range(struct mg_sock *s, const struct fact_range *r);
static inline void exchange_on_range(const struct flow *f, const struct fact_range *r)
{
	if (f->sock->exchanges)
		exchange_take_range(f->sock, r);
}
/*
 * Bytes of a message that a call of one socket sent and one of another received. Both are known by
 * their K1, as a call of the program is told after its bytes.
 */
struct exchange_message {
	const struct mg_sock *from, *to;
	uint64_t sent_exit, received_exit;
	uint64_t begin, end; /* U0 of the sender, U1 of the receiver */
};
/* Gives a client that is asked or answered by messages the times at the server. */
void exchange_on_message(const struct exchange_message *m);
/* Returns when the last call on the socket returned in the kernel; 0: there was none. */
static inline uint64_t exchange_latest(const struct mg_sock *s)
{
	return s->exchanges ? s->exchanges->latest : 0;
}
/*
 * Ends the exchanges of a connection, at both ends: no call will come. `now` is the time of the
 * last event if the recording ends, else 0.
 */
void exchange_end(struct core *c, struct mg_sock *s, uint64_t now);
void exchanges_free(struct mg_sock *s);

#endif
