/* SPDX-License-Identifier: MIT */
/*
 * The correlator's core: events in time order in, results out. It reads no clock, does no I/O and
 * has no globals; memory is bounded by what is in flight and by the number of threads and sockets.
 * All times inside are cycles of the counter.
 *
 * Definitions of every figure: docs/method.md.
 */
#ifndef MAGNET_CORRELATE_CORE_H
#define MAGNET_CORRELATE_CORE_H

#include <stdbool.h>
#include <stdint.h>

#include "calls.h"
#include "clock/clockmap.h"
#include "socket/closed.h"
#include "clock/cpu_offsets.h"
#include "sums/dist.h"
#include "event.h"
#include "facts/facts.h"
#include "flow.h"
#include "hash.h"
#include "clock/queue.h"
#include "task/threads.h"

struct gap {
	char producer[32];
	int32_t cpu;
	uint32_t reason;         /* MG_LOST_* */
	uint32_t layers;         /* bits 1 << enum mg_layer: whose figures miss something */
	struct mg_events events; /* that are missing, or may be */
	uint64_t count, from_ns, to_ns;
};

/* The two traces of a recording. */
enum core_side { CORE_APP, CORE_KERNEL, CORE_SIDES };
struct core_span {
	bool tells_end;    /* application side: one without an end has been cut off */
	bool in_order;     /* it has told its end */
	bool expected;     /* the other one tells that there is this one */
	uint64_t from_ns;  /* 0 = not told: since the recording's begin */
	uint64_t until_ns; /* its end, or its last event */
	char why[33];      /* it ended before it was asked to; else "" */
	/* its traces that tell how much there is in them, and those that have told it */
	uint32_t traces, told;
	uint64_t read;         /* events of its files, `contents` included; */
	uint64_t not_here;     /* that the traces which have told it lack, */
	uint64_t too_many;     /* and have beyond */
	uint64_t unknown;      /* of those read: of a kind that is not in the table, */
	char unknown_name[33]; /* the first of them by name */
	/* after core_finish(): it is magnet's own, and covers not all of the recording */
	bool known, begins_late, ends_early;
};

enum switch_kind { SWITCH_TASK_TASK, SWITCH_TO_IDLE, SWITCH_FROM_IDLE, SWITCH_KINDS };
#define CPUS_MAX 1024

struct switch_stats {
	uint64_t n;
	struct dist total_ns;          /* of those whose duration is known */
	uint64_t decide_ns, reload_ns; /* its two parts, in all */
	uint64_t interrupted;          /* of no use for that */
};

struct sched_stats {
	struct dist wakeup;            /* waking to switch-in, cycles */
	struct dist queueing;          /* of it, until it is on a run queue, cycles */
	struct dist run_queue;         /* wakeup and preempted, until it runs, cycles */
	struct switch_stats *switches; /* CPU * SWITCH_KINDS + enum switch_kind */
	int cpus;
	uint64_t migrations;
};

/*
 * A socket that becomes readable wakes its reader in the same breath: the wakings that follow a
 * tcp_ready on its CPU, before anything else there, are its.
 */
struct readying {
	uint64_t sock; /* 0 = the last event on this CPU was something else */
	uint64_t t;
	uint32_t events; /* on this CPU since who runs got it, or began a system call */
};

/* Intervals in which events are missing, known as soon as the trace tells them. */
#define HOLES 16
struct hole {
	uint64_t from, to; /* cycles */
	int32_t cpu;       /* -1 = on any */
	uint32_t layers;   /* bits 1 << enum mg_layer */
};

/* Packets the kernel threw away. */
struct drop_key {
	uint64_t sock;
	char reason[33], location[33];
	uint8_t rx;
};
struct drop {
	struct drop_key key;
	uint64_t n;         /* buffers, */
	uint64_t segs;      /* the segments or datagrams they stand for, */
	uint64_t bytes;     /* and their payload */
	uint64_t discarded; /* of the segments, those without payload that TCP itself threw away */
	UT_hash_handle hh;
};

/* Which events' hooks are attached in one network namespace. */
struct netns_hooks {
	uint32_t netns;
	struct mg_events events;
};

struct hook_info {
	char layer[16], what[32];
	int32_t status;
	uint32_t netns;
	uint16_t event; /* the one it feeds, MG_EVENT_*; 0 if it is none of the system's */
};

/* What an event means in the stream it belongs to, for those who list events. */
struct annotation {
	const struct mg_sock *sock; /* NULL if it has none */
	bool rx;
	bool has_offset;
	uint64_t offset, length;   /* bytes */
	const struct flow *from;   /* a message's sender, if it is in this recording: */
	uint64_t from_offset;      /* its first byte there */
	uint64_t cycles;           /* 0 with nanoseconds only */
	const struct piece *piece; /* application calls: all ranges, if there are several */
	uint32_t pieces;
	const struct kernel_call *call; /* its system call, and where the whole call's time went */
};

typedef void (*listener_fn)(void *arg, const struct mg_event *e, const struct annotation *a);

/* Events that are not in the table, by name. */
struct other_stats {
	char *name;
	uint64_t n;
	UT_hash_handle hh;
};

/* What was looked up last, by the low bits of its number. */
#define RECENT_SOCKS   4096 /* more connections than that are seldom busy at once */
#define RECENT_THREADS 256
struct recent {
	struct mg_sock *sock[RECENT_SOCKS];
	struct thread *thread[RECENT_THREADS];
};

struct core {
	struct clockmap clock;
	struct cpu_offsets offsets;
	struct mg_sock *socks;      /* but for those in `closed` */
	struct closed_socks closed; /* packed, if core_pack_closed() was called */
	struct mg_sock *live;       /* of these, all but the ones closed long ago */
	struct mg_sock *alone;      /* of these, opened ones whose peer has not shown up, */
	struct mg_sock *places;     /* and those with addresses, the last of each */
	struct thread *threads;
	struct process *processes;
	struct program *programs;
	struct mark *marks;
	uint32_t marks_n, marks_cap;
	uint64_t marks_more;   /* not kept */
	struct unseen *unseen; /* complete after core_finish() */
	struct call_stats *calls;
	struct sched_stats sched;
	struct other_stats *others;
	struct gap *gaps;
	uint32_t gap_count;
	struct { /* as the last event had been processed: for sockets that are finished later */
		uint64_t last_ns;
		uint32_t gaps;
	} finish;
	struct drop *drops;
	struct { /* to connect, for which data arrived before they had a socket */
		struct request *waiting, *done; /* without their socket, and with it */
	} requests;
	uint64_t listen_drops; /* packets that listening sockets dropped */
	uint64_t synack_retries;
	struct synack *synacks; /* sent again for requests without a socket, by initial number */
	struct frames *frames;  /* on their way out, not TCP's; NULL: none */
	struct hook_info *hooks;
	uint32_t hook_count, hook_changes;
	uint64_t app_events, kernel_events, lost_kernel, lost_app;
	uint64_t tracer_events; /* what tracers say of themselves */
	uint64_t first_ns, last_ns;
	uint64_t kernel_until_ns; /* the last event of the kernel side but for losses */
	bool has_calibration, has_end;
	char undescribed[256];  /* a directory with streams and no metadata, "" = there is none */
	bool part_ended;        /* in order, and what comes after is not there */
	uint32_t part;          /* the newest, 0 = it has none, */
	uint32_t first_part;    /* the oldest, */
	uint32_t parts_missing; /* and how many between them are not here */
	uint64_t part_ended_ns; /* when the last one ended that did, 0 = none did */
	char kernel_tracer[24]; /* whose the kernel's events are, "" = magnet's own */
	char cut_off[256];      /* why the trace could not be read to its end, "" = it was */
	struct mg_calibration calibration;
	struct mg_trace_end end;
	struct mg_app_end app_end;
	struct core_span side[CORE_SIDES];
	uint64_t start_ns,
		stop_ns;   /* of the recording; 0 = not known, as where its end was not written */
	uint32_t app_part; /* the application side's, that is read; 0 = it has none */
	uint32_t first_app_part; /* its oldest */
	uint64_t app_gone;       /* calls and marks of its parts that are not here */
	uint64_t app_notes;      /* of tracer_events, what the application's trace says of itself */
	struct dist logged;      /* cycles a traced call spent in magnet */
	uint64_t unjoined;       /* application calls without their system call */
	uint64_t out_of_order_states; /* calls whose boundaries contradict the clock bound */
	uint64_t state_mismatch;      /* calls whose states do not sum to the total: must be 0 */
	struct readying readying[CPUS_MAX];
	struct {
		uint64_t until_ns;
		struct mg_events events;
		uint32_t layers;
	} not_here;               /* of the kernel side, the last such gap: as struct gap has it */
	struct hole holes[HOLES]; /* the latest */
	uint32_t hole_next;
	uint64_t holes_until; /* the end of the last, cycles */
	bool low_water; /* some socket tells its reader only when there is more (SO_RCVLOWAT) */
	struct mg_events hooked;    /* those whose hooks are attached, in any namespace; */
	struct mg_events hooked_ns; /* of these, those that belong to a namespace each */

	struct netns_hooks *netns_hooks;
	uint32_t netns_hooks_n;
	struct recent recent;
	struct event_queue pending; /* waiting for the clock */
	uint32_t pending_calls;     /* of these, the program's calls */
	uint64_t wait_ns; /* before that time, without clock, none is due; 0 = not known */
	enum clock_source { CLOCK_NONE, CLOCK_SYNC, CLOCK_GIVEN, CLOCK_GUESSED } clock_source;
	bool guess_bounded;      /* the readings guessed by calls have widths */
	uint64_t guess_again_ns; /* not before the events have come so far */

	listener_fn listener;
	void *listener_arg;
	struct facts facts;
	struct series_pool series;
	unsigned long refused;  /* mg_memory_failures() at the begin */
	struct dist_pool dists; /* of all flows */
};

void core_init(struct core *c);
/* A synchronisation point known from outside the trace, where it has none of its own. */
void core_give_clock(struct core *c, uint64_t ns, uint64_t cycles, uint32_t half_width);
/* When the recording began and ended, from session.json; 0 = not known. Before core_finish(). */
void core_know_times(struct core *c, uint64_t start_ns, uint64_t stop_ns);
/* One more trace of this side will tell at its end how much there is in it. */
void core_expect_contents(struct core *c, enum core_side which);
/* The recording had a trace of this side, as the other side's tells. */
void core_expect_side(struct core *c, enum core_side which);
/*
 * So many events were in the files of one trace of this side, which tells by `contents` how many it
 * was given; 0: it does not. Before core_finish(). Each for itself: what one lacks another may have
 * beyond what it tells, since its end is gone.
 */
void core_read_trace(struct core *c, enum core_side which, uint64_t events, uint64_t contents);
/* Of these, so many are of a kind that the table does not have. */
void core_unknown_events(struct core *c, enum core_side which, uint64_t events, const char *name);
/* Packets that a stream had are not in it any more; `cpu` is -1 where it has none. */
void core_missing_packets(struct core *c, enum core_side which, uint64_t count, uint64_t from_ns,
	uint64_t to_ns, int cpu);
/* Application events that another tracer overwrote as it recorded: nobody knows how many. */
void core_overwritten_app(struct core *c, uint64_t from_ns, uint64_t to_ns, int cpu);
/* Whether it is known when the recording ended, after this side, or with it. */
bool side_end_known(const struct core *c, enum core_side which);
/* When the recording began: as its session tells, else with the first event that is here. */
uint64_t core_begin_ns(const struct core *c);
/* Share of the recording's time that a side covers; 1 if it is not known to cover less. */
double side_share(const struct core *c, enum core_side which);
/* Called with every event once its time on the counter is known, in order. */
void core_listen(struct core *c, listener_fn fn, void *arg);
/*
 * Keep every unit of every layer, in not more than so many bytes; before the first event. What does
 * not fit is cut off, and the series says so.
 */
void core_keep_series(struct core *c, size_t bytes);
/* Events in order of time; what they point to is the core's. Returns 0 or -ENOMEM. */
int core_push(struct core *c, const struct mg_event *e);
/* The same in two steps: where to write the next one (NULL without memory), and that it was. */
struct mg_event *core_room(struct core *c);
void core_put(struct core *c);
/* Events LTTng had no room for. */
void core_lost_app(struct core *c, uint64_t count, uint64_t from_ns, uint64_t to_ns, int cpu);
/* Bound of the error of an interval whose ends may lie on two CPUs, cycles. */
double core_clock_error(const struct core *c);
/* Whether the trace tells which hooks are attached: not another tracer's, nor a part cut out. */
bool core_knows_hooks(const struct core *c);
/* Whether an event's hook is attached; true for all where the trace does not tell. */
bool core_observes(const struct core *c, enum mg_event_id id);
/* Whether calls' time in STATE_LOCK or STATE_RELEASE is told apart. */
bool core_knows_lock_state(const struct core *c, enum call_state state);
/* The events whose hooks are attached, in this network namespace. */
struct mg_events core_hooked(const struct core *c, uint32_t netns);

/* (outside.c) Known from elsewhere than the core's own events, such as another tracer's. */
struct sock_known {
	uint8_t kind, family; /* MG_KIND_*, AF_* */
	uint16_t lport, rport;
	mg_addr laddr, raddr;
	bool has_addr;
	char name[16]; /* of what is no socket: a device; else "" */
};
/* A thread whose own events are recorded; `pid` is 0 and `comm` NULL where they are not known. */
void core_know_thread(struct core *c, uint32_t tid, uint32_t pid, const char *comm);
void core_know_sock(struct core *c, uint64_t id, const struct sock_known *k);
/* The kernel's events are another tracer's. It has no cycle counter: all times are nanoseconds. */
void core_know_tracer(struct core *c, const char *name);

/* ---- closed sockets (closed.c) ---- */

/*
 * Keep them packed; before the first event. Then sockets are to be had by the functions below only,
 * and flows that listeners were told of are not to be looked at after the event.
 */
void core_pack_closed(struct core *c);
/*
 * Returns a socket; NULL if there is none. One that is packed, and its peer, are there until this
 * is called with another; changes are lost.
 */
const struct mg_sock *core_sock(struct core *c, uint64_t cookie);
/* The same; the socket and its peer are packed no more. */
struct mg_sock *core_keep_sock(struct core *c, uint64_t cookie);
/* Hands over all sockets; a packed one is there until `fn` returns. */
void core_each_sock(struct core *c, void (*fn)(void *arg, const struct mg_sock *s), void *arg);
size_t core_sock_count(const struct core *c);
/* Whether it is there until core_free(): it is not packed. */
static inline bool core_sock_stays(const struct mg_sock *s)
{
	return s->hh.tbl;
}

/* (why.c) When this byte was copied into its socket, while it waits there; 0 if it is not known. */
uint64_t core_copied_at(const struct core *c, const struct flow *f, uint64_t off);

/* True if memory was refused since core_init(): its figures are not to be shown. */
bool core_lacks_memory(const struct core *c);
/* No more will come: everything in flight is settled. Returns 0 or -ENOMEM. */
int core_finish(struct core *c);
void core_free(struct core *c);

/* ---- what the results say ---- */

/* Of the application side. */
bool gap_is_app(uint32_t reason);
/* Or only nobody asked for it to be recorded. */
bool gap_is_loss(const struct gap *g);
double extent_mean(const struct extent *x);
/* At which layer, NULL if its place does not tell. */
const char *drop_layer(const struct drop *d);
/* The layers whose events its units are made of, as bits 1 << enum mg_layer. */
uint32_t flow_unit_layers(const struct flow *f, int layer);
double unit_mean_size(const struct unit_stats *u);
double unit_cov_size(const struct unit_stats *u);
double unit_mean_gap(const struct unit_stats *u); /* cycles */
double unit_cov_gap(const struct unit_stats *u);

void core_finish_sock(struct core *c, struct mg_sock *s);

#endif
