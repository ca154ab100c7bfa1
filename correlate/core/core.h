/* SPDX-License-Identifier: MIT */
/* State of the core, for its own rooms; contract.h is for everybody. */
#ifndef MAGNET_CORRELATE_CORE_H
#define MAGNET_CORRELATE_CORE_H

#include <stdbool.h>
#include <stdint.h>

#include "calls.h"
#include "contract.h"
#include "event.h"
#include "event_table.h"
#include "flow.h"
#include "hash.h"
#include "clock/clockmap.h"
#include "clock/cpu_offsets.h"
#include "clock/queue.h"
#include "facts/apart.h"
#include "facts/facts.h"
#include "socket/closed.h"
#include "socket/state_slots.h"
#include "task/threads.h"

struct gap {
	char producer[32];
	int32_t cpu;
	uint32_t reason;         /* MG_LOST_* */
	uint32_t layers;         /* layers whose figures lack something, bits 1 << enum mg_layer */
	struct mg_events events; /* events that are missing, or may be */
	uint64_t count, from_ns, to_ns;
};

struct core_span {
	bool tells_end;    /* application side: a trace without an end has been cut off */
	bool in_order;     /* its end has been read */
	bool expected;     /* the other side says that this one was recorded */
	bool absent;       /* a recording that had this one has only the other */
	uint64_t from_ns;  /* 0 = not recorded: since the recording's start */
	uint64_t until_ns; /* its end, or its last event */
	uint64_t call_ns;  /* application side: its last call or mark, 0 = none */
	uint64_t whole_ns; /* kernel side: from then on all hooks were attached, 0 = not recorded */
	char why[33];      /* why it ended before it was asked to; else "" */
	/* traces that end with their number of events, and those whose end was read */
	uint32_t traces, ended;
	uint64_t read;         /* events in its files, `contents` included */
	uint64_t not_here;     /* events missing from the traces whose end was read */
	uint64_t too_many;     /* events beyond the number written there */
	uint64_t unknown;      /* events read of a kind that is not in the table */
	char unknown_name[33]; /* name of the first of them */
	/*
	 * Kernel side of a recording whose begin and end nobody wrote down (a tracer started by
	 * hand): the program called before the side began, or after it had ended.
	 */
	bool preceded, outlasted;
	/*
	 * set by core_finish(): the side is magnet's own, and does not cover all of the recording
	 */
	bool known, begins_late, ends_early;
};

/*
 * The socket that last became readable on a CPU: wakeups that follow tcp_ready there, before any
 * other event, are caused by it.
 */
struct readying {
	uint64_t sock; /* 0 = another event was the last one on this CPU */
	uint64_t t;
	/* events on this CPU since the running thread got it, or began a system call */
	uint32_t events;
};

/* Intervals in which events are missing, known as soon as the trace reports them. */
#define HOLES 16
struct hole {
	uint64_t from, to; /* cycles */
	int32_t cpu;       /* -1 = any CPU */
	uint32_t layers;   /* bits 1 << enum mg_layer */
};

/* Events whose hooks are attached in one network namespace. */
struct netns_hooks {
	uint32_t netns;
	struct mg_events events;
};

struct hook_info {
	char layer[16], what[32];
	int32_t status;
	uint32_t netns;
	uint16_t event; /* MG_EVENT_* that the hook feeds; 0 if it is not an event of the system */
};

/* Count of an event that is not in the table. */
struct other_stats {
	char *name;
	uint64_t n;
	UT_hash_handle hh;
};

/* Cache of the latest look-ups, by the low bits of the number. */
#define RECENT_SOCKS   16384 /* more connections than that are seldom busy at once */
#define RECENT_THREADS 256
struct recent {
	struct mg_sock *sock[RECENT_SOCKS];
	struct thread *thread[RECENT_THREADS];
};

/* Returns the socket if it was looked up lately; else NULL. */
static inline struct mg_sock *recent_sock(const struct recent *r, uint64_t cookie)
{
	struct mg_sock *s = r->sock[cookie % RECENT_SOCKS];

	return s && s->cookie == cookie ? s : NULL;
}

/* Sockets by how they are found. */
struct core_sockets {
	struct mg_sock *socks; /* all sockets but those in `closed` */
	struct state_slots states;
	struct closed_socks closed; /* packed sockets, if core_pack_closed() was called */
	struct mg_sock *live;       /* list of all sockets but those closed long ago */
	struct mg_sock *alone;      /* opened sockets whose peer has not been seen */
	struct mg_sock *places;     /* sockets by addresses, the latest of each */
	struct reconnected *again;  /* by cookie (trace/reconnect.h) */
	uint64_t accepting[1024];   /* ports whose connections were accepted, one bit each */
};

/* Notes that a connection to a local port was accepted; port 0: it is not known. */
static inline void port_accepts(struct core_sockets *s, uint16_t port)
{
	if (port)
		s->accepting[port / 64] |= 1ull << (port % 64);
}

static inline bool port_accepted(const struct core_sockets *s, uint16_t port)
{
	return s->accepting[port / 64] >> (port % 64) & 1;
}

/* Threads by number, and those of them that hold ended calls (task/holders.h). */
struct holders {
	struct thread **thread;
	uint64_t *bits;   /* one a thread */
	uint32_t n, room; /* threads */
};

struct core_tasks {
	struct thread *threads;
	struct holders holders;
	struct process *processes;
	struct program *programs;
	struct call_names *call_names; /* names of system calls in which threads blocked */
	bool throttles_run_queues;
	struct last_switch *switched; /* by CPU */
	struct past past;
};

struct core_marks {
	struct mark *marks;
	uint32_t marks_n, marks_cap;
	uint64_t marks_more; /* marks beyond those kept */
};

/* Events that are missing, and when. */
struct core_losses {
	struct gap *gaps;
	uint32_t gap_count;
	struct {
		uint64_t until_ns;
		struct mg_events events;
		uint32_t layers;
		/* the latest gap of the kernel side whose events were written and are missing */
	} not_here;
	struct hole holes[HOLES]; /* the latest ones */
	uint32_t hole_next;
	uint64_t holes_until; /* end of the last one, cycles */
};

/* Requests for connections, and what became of them. */
struct core_requests {
	/* those for which data arrived before they had a socket: without it yet, and with it */
	struct request *waiting, *done;
	uint64_t listen_drops; /* packets that listening sockets dropped */
	uint64_t synack_retries;
	/* SYN-ACKs retransmitted for requests without a socket, by initial sequence number */
	struct synack *synacks;
};

/* Hooks that the trace lists, and the events they feed. */
struct core_probes {
	struct hook_info *hooks;
	uint32_t hook_count, hook_changes;
	struct mg_events hooked;    /* events whose hooks are attached, in any namespace */
	struct mg_events met;       /* those whose hooks were attached at some time */
	struct mg_events hooked_ns; /* of these, those that belong to a namespace each */
	struct netns_hooks *netns_hooks;
	uint32_t netns_hooks_n;
	uint32_t layers_met;                 /* layers of which a hook has been attached, as bits */
	uint32_t layers_on;                  /* layers of which one is attached */
	uint64_t off_since_ns[MG_LAYER_END]; /* since when a layer is switched off, or 0 */
	bool listed;                         /* the hooks that are attached from the beginning */
};

struct core_counts {
	uint64_t app_events, kernel_events, lost_kernel, lost_app;
	uint64_t tracer_events; /* events about the tracers themselves */
	uint64_t app_notes;     /* of these, what the application's trace says of itself */
	uint64_t app_gone;      /* calls and marks of the application's parts that are not here */
};

/* Contradictions, which a report states. */
struct core_checks {
	uint64_t unjoined;            /* application calls without their system call */
	uint64_t out_of_order_states; /* calls whose boundaries contradict the clock bound */
	uint64_t state_mismatch;      /* calls whose states do not sum to the total: must be 0 */
};

struct core_times {
	uint64_t first_ns, last_ns;
	uint64_t kernel_until_ns; /* time of the last event of the kernel side except losses */
	/* of the recording; 0 = not known, as where its end was not written */
	uint64_t start_ns, stop_ns;
	uint64_t wall_clock_ns; /* time since the epoch at which CLOCK_MONOTONIC was 0; 0 = not
				   known */
};

/* Statements of the traces about themselves. */
struct core_trace {
	bool has_calibration, has_end;
	bool is_paused;         /* by magnet ctl, at the last event */
	char undescribed[256];  /* a directory with streams but no metadata, "" = there is none */
	char kernel_tracer[24]; /* tracer of the kernel's events, "" = magnet's own */
	char cut_off[256];      /* why the trace could not be read to its end, "" = it could */
	struct mg_calibration calibration;
	struct mg_trace_end end;
	struct mg_app_end app_end;
};

struct core_dump {
	uint64_t time_ns;
	struct mg_dump what;
};

/* Parts of a recording that was rotated, or dumped by a flight recorder. */
struct core_rotated {
	bool part_ended;         /* ended in order, but what comes after is missing */
	uint32_t part;           /* number of the newest part, 0 = no parts */
	uint32_t first_part;     /* number of the oldest part */
	uint32_t parts_missing;  /* parts missing between them */
	uint64_t part_ended_ns;  /* end of the last part that ended, 0 = none did */
	uint32_t app_part;       /* the application side's, that is read; 0 = it has none */
	uint32_t first_app_part; /* its oldest */
	struct core_dump *dumps;
	uint32_t dump_count;
};

/* Events that wait for the clock. */
struct core_due {
	struct event_queue pending;
	uint32_t pending_calls; /* number of calls of the program among them */
	uint64_t wait_ns; /* without a clock, no event is due before this time; 0 = not known */
	enum clock_source clock_source;
	bool guess_bounded;      /* the readings estimated from calls have an error bound */
	uint64_t guess_again_ns; /* time of the events at which the next estimate is due */
};

/* Looks for threads, processes and sockets that may be forgotten. */
struct core_forgetting {
	uint64_t each_ns;  /* time between two looks; 0: all stay */
	uint64_t again_ns; /* time of the events at which the next one is due */
};

struct core {
	struct clockmap clock;
	struct cpu_offsets offsets;
	struct core_sockets sockets;
	struct core_tasks tasks;
	struct core_forgetting forgetting;
	struct core_marks marked;
	struct unseen *unseen; /* complete after core_finish() */
	struct other_stats *others;
	struct core_losses losses;
	struct { /* state after the last event, for sockets that are finished later */
		uint64_t last_ns;
		uint32_t gaps;
	} finish;
	struct core_requests requests;
	struct frames *frames; /* datagrams on their way out; NULL: none */
	struct core_probes probes;
	struct core_counts counts;
	struct core_checks checks;
	struct core_times times;
	struct core_trace trace;
	struct core_rotated rotated;
	struct core_span side[CORE_SIDES];
	struct readying readying[CPUS_MAX];
	bool low_water; /* some socket notifies its reader only above a threshold (SO_RCVLOWAT) */
	struct recent recent;
	struct core_due due;
	struct {
		listener_fn listener;
		void *listener_arg;
	} listening;
	struct facts facts;
	struct facts_apart *apart;  /* listeners in a thread of their own; NULL: none */
	struct stack_place *places; /* names of the places that stacks go through */
	struct {
		void *what;
		struct core_client does;
		bool due; /* `between` is called after the present event */
	} attached;
	unsigned long refused; /* mg_memory_failures() at the start */
};

void core_init(struct core *c);
/* Call it before the state that a listener keeps of a flow is used, see core_listen_apart(). */
static inline void core_await_listeners(const struct core *c)
{
	if (c->apart)
		facts_apart_await(c->apart);
}
/* Returns whether the end of the recording is known, after this side or together with it. */
bool side_end_known(const struct core *c, enum core_side which);
/* Returns the share of the recording's time that a side covers; 1 if it is not known to be less. */
double side_share(const struct core *c, enum core_side which);
/* Returns the error bound of an interval whose ends may lie on two CPUs, cycles. */
static inline double core_clock_error(const struct core *c)
{
	return clockmap_error(&c->clock) + cpu_offsets_error(&c->offsets);
}
/*
 * Returns a socket; NULL if there is none. A packed socket and its peer are valid until the next
 * call for another one; changes to them are lost.
 */
const struct mg_sock *core_sock(struct core *c, uint64_t cookie);
/* Returns a socket and unpacks it and its peer for good. */
struct mg_sock *core_keep_sock(struct core *c, uint64_t cookie);
/* Calls `fn` for all sockets; a packed one is valid until `fn` returns. */
void core_each_sock(struct core *c, void (*fn)(void *arg, const struct mg_sock *s), void *arg);
/* Returns whether the socket is valid until core_free(), which a packed one is not. */
static inline bool core_sock_stays(const struct mg_sock *s)
{
	return s->hh.tbl;
}

/*
 * (why.c) Returns when this byte was copied into its socket, while it waits there; 0 if not known.
 */
uint64_t core_copied_at(const struct core *c, const struct flow *f, uint64_t off);

/* Returns whether the gap concerns the application side. */
bool gap_is_app(uint32_t reason);
/* Returns whether the gap is a loss, and not a pause that the user asked for. */
bool gap_is_loss(const struct gap *g);
/* Has listeners called directly again. */
void core_end_apart(struct core *c);
void core_free(struct core *c);

#endif
