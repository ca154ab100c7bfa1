/* SPDX-License-Identifier: MIT */
/*
 * Facts and their listeners. The core emits each fact once, as soon as no later event can change
 * it; facts therefore come in the order in which they are settled, not in that of their times. A
 * listener gets a pointer to a struct that is valid during the call.
 */
#ifndef MAGNET_CORRELATE_FACTS_FACTS_H
#define MAGNET_CORRELATE_FACTS_FACTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "event_set.h"
#include "facts/stages.h"
#include "facts/table.h"
#include "facts/why_reasons.h"

/* value of a SPAN or COUNT that is not known or does not apply */
#define FACT_NONE        UINT64_MAX
#define FACT_MAYBE       2
#define FACT_NO_WORD     UINT8_MAX /* value of a WORD that is not known */
#define FACT_SYSTEM_CALL 0x100
#define FACT_NO_FUNCTION UINT16_MAX

/*
 * A TCP socket's number is its cookie, plus this for each recorded connection that it had before:
 * it may be connected again. Names have these as "4097.2/tx".
 */
#define FLOW_CONNECTION      (1ull << 44)
#define FLOW_CONNECTIONS_END (1ull << 61) /* from here on numbers name other sockets */

struct fact_flow_id {
	uint64_t sock; /* the socket's number, 0: none */
	bool rx;
	void **state; /* room for what one listener keeps of this flow (core_attach()); NULL: none
		       */
};

/* IPv6; an IPv4 address a.b.c.d is ::ffff:a.b.c.d. */
struct fact_address {
	const uint8_t *addr; /* 16 bytes; NULL if not known */
	uint16_t port;
};

enum fact_seen { SEEN_BOTH, SEEN_APP, SEEN_KERNEL };
/* Why an application call has no system call. */
enum fact_no_call { NO_CALL_SEEN, NO_CALL_LOST, NO_CALL_NONE };
enum fact_outcome { OUTCOME_FOLLOWED, OUTCOME_SENT_AGAIN, OUTCOME_UNDIVIDED, OUTCOME_INCOMPLETE };
enum fact_role { ROLE_SERVER, ROLE_CLIENT };
enum fact_answer { ANSWERED, UNANSWERED, UNASKED };
/* Time of an exchange: in the client, on the request's way, in the server, and on the way back. */
#define MG_EXCHANGE_PARTS(X)  \
	X(REQUEST, "request") \
	X(WAY, "request_way") X(PROGRAM, "program") X(BACK, "reply_way") X(REPLY, "reply")
#define MG_EXCHANGE_PART(ID, name) PART_##ID,
enum exchange_part { MG_EXCHANGE_PARTS(MG_EXCHANGE_PART) EXCHANGE_PARTS };
#undef MG_EXCHANGE_PART
/* A server's program does this while it has a request. */
#define MG_PROGRAM_PARTS(X)       \
	X(ON_CPU, "on_cpu")       \
	X(RUN_QUEUE, "run_queue") \
	X(THROTTLED, "throttled") \
	X(BLOCKED, "blocked")     \
	X(UNDIVIDED, "undivided") X(HANDED_OVER, "handed_over") X(UNKNOWN, "unknown")
#define MG_PROGRAM_PART(ID, name) PROGRAM_##ID,
enum fact_program_part { MG_PROGRAM_PARTS(MG_PROGRAM_PART) PROGRAM_PARTS };
#undef MG_PROGRAM_PART
enum fact_not_divided {
	NOT_DIVIDED_NOT_RECORDED,
	NOT_DIVIDED_LOST,
	NOT_DIVIDED_FORGOTTEN,
	NOT_DIVIDED_UNSEEN
};
#define MG_STACK_WHYS(X) \
	X(BLOCK, "block") X(CALL, "call") X(DROP, "drop") X(RETRANSMIT, "retransmit")
#define MG_STACK_WHY(ID, name) STACK_##ID,
enum fact_stack_why { MG_STACK_WHYS(MG_STACK_WHY) STACK_WHYS };
#undef MG_STACK_WHY
/* Stages of a send by the kernel's timestamps, X(ID, name, label). */
#define MG_TIMED_STAGES(X)                           \
	X(SEND_BUFFER, "send_buffer", "send buffer") \
	X(QUEUE, "queue", "queue (qdisc)")           \
	X(NETWORK, "network", "network, until the ACK")
#define MG_TIMED_STAGE(ID, name, label) TIMED_##ID,
enum timed_stage { MG_TIMED_STAGES(MG_TIMED_STAGE) TIMED_STAGES };
#undef MG_TIMED_STAGE
const char *timed_stage_label(enum timed_stage stage);
enum fact_timed {
	TIMED_ACKNOWLEDGED,
	TIMED_ACKNOWLEDGED_LATER,
	TIMED_MERGED,
	TIMED_LEFT,
	TIMED_UNFINISHED,
	TIMED_LOST,
	TIMED_OUTCOMES
};
enum fact_wait_why { WAIT_BLOCKED, WAIT_PREEMPTED, WAIT_THROTTLED };
enum fact_blocked { BLOCKED_IN_CALL, BLOCKED_IN_FAULT, BLOCKED_IN_KERNEL, BLOCKED_STOPPED };
/* The end of a connection that a socket is, as far as events or TCP's counters tell. */
enum flow_side { SIDE_UNKNOWN, SIDE_CLIENT, SIDE_SERVER };
enum fact_connect_outcome { CONNECT_DONE, CONNECT_FAILED, CONNECT_OPEN };
/* The two traces of a recording. */
enum core_side { CORE_APP, CORE_KERNEL, CORE_SIDES };
/* How the counter's relation to time is known. */
enum clock_source { CLOCK_NONE, CLOCK_SYNC, CLOCK_GIVEN, CLOCK_GUESSED };
/* Returns whether a loss is one, and not a pause or a part that was not kept: by its reason. */
bool loss_is_one(uint32_t reason);
/* Returns one number for a layer of either direction. */
#define FACT_LAYER(rx, layer) ((uint8_t)((rx) ? TX_LAYERS + (int)(layer) : (int)(layer)))

typedef uint64_t fact_TIME, fact_SPAN, fact_COUNT, fact_NS;
typedef int64_t fact_SIGNED;
typedef int32_t fact_CPU;
typedef uint8_t fact_FLAG, fact_MAYBE;
typedef struct fact_flow_id fact_FLOW;
typedef uint16_t fact_FUNCTION;
typedef const char *fact_TEXT;
typedef struct fact_address fact_ADDRESS;
typedef double fact_NUMBER;
typedef struct mg_events fact_EVENTS;
typedef uint32_t fact_LAYERS;

#define MG_FACT_C(fact, type, name, doc)         fact_##type name;
#define MG_FACT_E(fact, names, name, doc)        uint8_t name;
#define MG_FACT_A(fact, names, count, name, doc) uint64_t name[count];
#define MG_FACT_STRUCT(name, doc)                                     \
	struct fact_##name {                                          \
		MG_FACT_##name(name, MG_FACT_C, MG_FACT_E, MG_FACT_A) \
	};
MG_FACTS(MG_FACT_STRUCT)
#undef MG_FACT_STRUCT
#undef MG_FACT_C
#undef MG_FACT_E
#undef MG_FACT_A

/*
 * The fact `call` as the core emits it. What else is known at that time comes behind the fact, for
 * a listener that sums up later (facts/apart.h). All members have the size of a word: smaller ones
 * that have just been written are not copied fast.
 */
struct call_told {
	struct fact_call fact;
	struct call_known {
		double clock_error;       /* of joining both sides, cycles */
		uint64_t kernel_events;   /* so far */
		uint64_t kernel_is_whole; /* whether there are any, and all hooks were attached */
		uint64_t has_scheduler;   /* whether its events are recorded */
		/* of the calibration */
		uint64_t read_cycles, event_cycles, event_spread, event_scatter, system_cycles;
	} known;
};

#define MG_FACT_ID(name, doc) FACT_##name,
enum fact { MG_FACTS(MG_FACT_ID) FACTS };
#undef MG_FACT_ID

/* Receives a fact: `fact` points to the struct fact_* that the listener registered for. */
typedef void (*fact_fn)(void *arg, const void *fact);

#define FACT_LISTENERS 4
struct facts {
	struct fact_listeners {
		uint32_t n;
		uint32_t once; /* those of them that must not get a fact twice */
		struct {
			fact_fn fn;
			void *arg;
		} listener[FACT_LISTENERS];
	} of[FACTS];
};

/*
 * Registers `fn` for every later fact of this kind. Returns false if there are too many listeners.
 */
bool facts_listen(struct facts *f, enum fact kind, fact_fn fn, void *arg);

/*
 * Registers a listener that keeps all it knows in the flow's own state: a fact about a flow that is
 * looked at repeatedly may be emitted again, with the state as it was before (core_pack_closed()).
 */
bool facts_listen_by_flow(struct facts *f, enum fact kind, fact_fn fn, void *arg);

/* Returns how many listeners there are. */
uint32_t facts_listeners(const struct facts *f);

static inline bool facts_wanted(const struct facts *f, enum fact kind)
{
	return f->of[kind].n != 0;
}

static inline void facts_emit(const struct facts *f, enum fact kind, const void *fact)
{
	for (uint32_t i = 0; i < f->of[kind].n; i++)
		f->of[kind].listener[i].fn(f->of[kind].listener[i].arg, fact);
}

/* Defines emit_call(facts, fact) and so on: facts_emit() with the type checked. */
#define MG_FACT_EMIT(name, doc)                                                               \
	static inline void emit_##name(const struct facts *f, const struct fact_##name *fact) \
	{                                                                                     \
		facts_emit(f, FACT_##name, fact);                                             \
	}
MG_FACTS(MG_FACT_EMIT)
#undef MG_FACT_EMIT

/* ---- the table as data ---- */

enum fact_type {
	FACT_TYPE_TIME,
	FACT_TYPE_SPAN,
	FACT_TYPE_COUNT,
	FACT_TYPE_SIGNED,
	FACT_TYPE_CPU,
	FACT_TYPE_FLAG,
	FACT_TYPE_MAYBE,
	FACT_TYPE_FLOW,
	FACT_TYPE_FUNCTION,
	FACT_TYPE_TEXT,
	FACT_TYPE_ADDRESS,
	FACT_TYPE_NS,
	FACT_TYPE_NUMBER,
	FACT_TYPE_EVENTS,
	FACT_TYPE_LAYERS,
	FACT_TYPE_WORD,  /* one of `words` */
	FACT_TYPE_SPANS, /* one SPAN for each of `words` */
};

struct fact_column {
	const char *name, *doc;
	const char *const *words; /* `count` of them */
	uint16_t offset;          /* bytes, in the struct */
	uint8_t count;
	uint8_t type; /* enum fact_type */
};

struct fact_desc {
	const char *name, *doc;
	const struct fact_column *column;
	int columns;
};

extern const struct fact_desc fact_table[FACTS];
/* Returns NULL if no fact has this name. */
const struct fact_desc *fact_by_name(const char *name);

#endif
