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

#include <uthash.h>

#include "calls.h"
#include "clockmap.h"
#include "cpu_offsets.h"
#include "dist.h"
#include "event.h"
#include "ranges.h"

/* ---- sockets and the two byte streams of each ---- */

/* Where bytes are seen on their way out, and in. U0 and U1 are the program's own call. */
enum tx_layer { TX_CALL, TX_COPY, TX_IP_OUT, TX_IP_POST, TX_QUEUE, TX_XMIT, TX_DONE, TX_LAYERS };
enum rx_layer { RX_DEV, RX_IP, RX_TCP, RX_READY, RX_COPY, RX_CALL, RX_LAYERS };

/* Bars of the waterfalls; within a flow they sum to its total exactly. */
/* clang-format off */
#define MG_TX_STAGES(X) \
	X(CALL,   "call",        "call to copy") \
	X(SNDBUF, "send_buffer", "send buffer") \
	X(IP,     "ip",          "IP") \
	X(QDISC,  "qdisc",       "queue (qdisc)") \
	X(DRIVER, "driver",      "driver")
#define MG_RX_STAGES(X) \
	X(DEV_IP, "device_to_ip",  "device to IP") \
	X(IP_TCP, "ip_to_tcp",     "IP to TCP") \
	X(ORDER,  "in_order",      "in order (head of line)") \
	X(ABSENT, "reader_absent", "socket queue: reader absent") \
	X(WAKE,   "wake",          "socket queue: until woken") \
	X(RUNQ,   "run_queue",     "run queue") \
	X(POLL,   "poll_return",   "woken in poll, until the call") \
	X(COPY,   "copy",          "copy to the program") \
	X(RETURN, "return",        "return to the program")
/* clang-format on */
#define MG_STAGE_ID_TX(ID, name, label) TX_STAGE_##ID,
#define MG_STAGE_ID_RX(ID, name, label) RX_STAGE_##ID,
enum tx_stage { MG_TX_STAGES(MG_STAGE_ID_TX) TX_STAGES };
enum rx_stage { MG_RX_STAGES(MG_STAGE_ID_RX) RX_STAGES };
#define STAGES_MAX 9

/* Units (calls, super-segments, frames) as they passed one layer: sizes and spacings. */
struct unit_stats {
	uint64_t n;
	uint64_t frames; /* segments, datagrams or fragments they stand for; 0 where not seen */
	uint64_t bytes;  /* payload */
	double size_sum2;
	uint64_t first_t, last_t; /* cycles */
	double gap_sum2;          /* of spacings, cycles squared */
	struct dist gaps;         /* spacings, cycles */
	uint64_t again;           /* payload bytes that had passed before */
	uint64_t wire_bytes;      /* frames with headers, where the layer sees them */
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
	uint64_t start;    /* where the recording begins; 0 if it saw the connection open */
	uint64_t total;    /* where it ends: sent, or read by the program, by sequence numbers */
	uint64_t done;     /* atoms are made up to here */
	uint64_t complete; /* bytes with every boundary */
	uint64_t incomplete;
	bool ended;       /* its FIN was seen, */
	uint32_t end_seq; /* which has this sequence number */
	uint64_t acked, acked_before, acked_before_t;
	uint64_t calls; /* that moved bytes */
	uint64_t first_call, last_call;
	uint64_t first_t, last_t;    /* any event, cycles */
	uint64_t blocked;            /* cycles its threads were blocked in calls, added up */
	uint32_t thread[4], threads; /* who made calls; not more than 4 are told apart */
	uint64_t call_cycles;        /* cycles it spent in them */
	uint32_t open_calls;         /* begun, and not yet settled */
	uint64_t retransmits;
	uint64_t dropped;              /* segments or datagrams the kernel threw away */
	uint64_t kernel_only;          /* bytes moved by calls without an application event */
	struct dist stage[STAGES_MAX]; /* cycles, weighted by bytes */
	struct dist residence;         /* first to last boundary, cycles, by bytes */
	unsigned __int128 closure;     /* sum of |total - sum of stages|: must be 0 */
	struct dist shift_device;      /* TX: U0 to X, by bytes */
	struct dist shift_peer;        /* RX: peer's U0 to U1, by bytes */
	struct dist transit;           /* RX: peer's X to R */
	struct ranges pair_call, pair_x, pair_r; /* atoms waiting for the other end */
	uint64_t pair_base;
	uint32_t gaps;    /* losses while it lived, */
	uint32_t touched; /* and the layers that miss something, as bits 1 << enum mg_layer */
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

struct mg_sock {
	uint64_t cookie;
	uint32_t netns;
	uint8_t family, state, opener, kind;
	uint16_t lport, rport;
	uint8_t laddr[16], raddr[16];
	bool has_addr;
	uint32_t pid, tid; /* last user of it */
	struct ends {
		uint32_t isn, irs; /* initial sequence numbers, if the opening was seen */
	} ends;
	bool opened;
	struct flow tx, rx;
	struct tcp_record *tcp; /* NULL: nothing */
	struct mg_sock *peer;   /* the other end, if it is traced too */
	UT_hash_handle hh;
	UT_hash_handle hh_alone; /* in `alone`, by `ends` */
};

/* ---- threads and their calls ---- */

/* What a thread does at each instant of a call; precedence: off-CPU, interrupt, softirq, layer. */
/* clang-format off */
#define MG_STATES(X) \
	X(ENTRY, "entry") X(SOCKET, "socket") X(TCP, "tcp") X(IP, "ip") X(DEVICE, "device") \
	X(RETURN, "return") X(IRQ, "irq") X(SOFTIRQ, "softirq") X(BLOCKED, "blocked") X(WAKEUP, "wakeup") \
	X(PREEMPTED, "preempted")
/* clang-format on */
#define MG_STATE_ID(ID, name) STATE_##ID,
enum call_state { MG_STATES(MG_STATE_ID) STATES };
#define STATE_IS_OVERHEAD(s) ((s) <= STATE_RETURN)

/* Bytes a call moved: TX [off, off+len) copied at t; RX likewise. */
struct piece {
	struct flow *flow;
	uint64_t off, len, t;
	uint64_t waking,
		switch_in; /* RX: when bytes of this socket last woke the reader, 0 = never */
};

struct kernel_call {
	uint64_t enter, exit; /* cycles */
	uint64_t cookie;
	int64_t ret;
	uint16_t call;
	uint8_t kind;
	uint32_t flags, enter_seq;
	uint64_t asked;
	uint32_t events; /* recorded in the thread's own context while it ran */
	uint64_t state[STATES];
	struct piece *piece;
	uint32_t pieces, pieces_cap;
	uint32_t left;           /* TX: bytes not copied at the last tcp_send */
	uint32_t messages_bytes; /* of sendmmsg and recvmmsg, UINT32_MAX if not known */
	uint64_t blocked_times;
	bool copied; /* a tcp_send opened a piece */
};

#define USER_MARKS 64
struct user_mark {
	uint64_t t;
	uint8_t state; /* STATE_ENTRY means running */
};

/* Bytes of one direction of a connection. */
struct span {
	const struct flow *flow; /* NULL: none */
	uint64_t off, len;
};

/* A point the program marked, and the bytes its thread sent next and had received last. */
struct mark {
	char name[25];
	uint64_t id;
	int64_t value;
	uint32_t tid, pid;
	uint64_t t; /* cycles */
	struct span sent, received;
	uint32_t next; /* the thread's one before, that waits for the same call; its index + 1 */
};
#define MARKS_MAX 100000

/* What a process called, since it began or last executed a program. */
struct process {
	uint32_t pid;
	char comm[16];
	uint64_t app;         /* calls libmagnet.so logged */
	uint64_t kernel_only; /* system calls without such an event, */
	uint64_t moved;       /* of these, that move bytes, and not from or to the kernel itself */
	uint64_t io_uring;    /* io_uring_enter(): what it submits is seen by nobody */
	UT_hash_handle hh;
};

/* Programs of which libmagnet.so saw nothing, or not what they did by io_uring; by name. */
struct unseen {
	char comm[16];
	uint32_t processes;
	uint64_t calls, io_uring;
	UT_hash_handle hh;
};

struct thread {
	uint32_t marks_waiting;  /* the last mark that waits for a call that sends; its index + 1 */
	struct span received;    /* by the last call that received */
	struct process *process; /* of `pid` as it was last asked for */
	uint32_t tid, pid;
	char comm[16];
	bool traced; /* its own events are recorded, not only that another took its CPU */
	bool off_cpu, in_irq, in_softirq;
	bool woken;                /* made runnable since it left the CPU */
	bool queued;               /* and on a run queue, where that is recorded */
	enum call_state fn, off;   /* innermost layer; why it is off the CPU */
	uint64_t since;            /* start of the present state */
	uint64_t waking, woken_in; /* last waking, and when it got the CPU after it */
	uint64_t waking_sock;      /* whose bytes woke it, 0 = something else did */
	bool held;                 /* off the CPU against its will: preempted or stopped */
	uint64_t left_cpu;
	uint64_t held_until; /* the last time that was for long, between system calls */
	int16_t last_cpu;    /* it left or got */
	int16_t cpu;         /* where its last event was recorded, -1 = not known */
	bool in_call;
	struct kernel_call now;
	struct kernel_call *ended; /* system calls no application event has claimed yet */
	uint32_t ended_n;
	struct kernel_call told;            /* the last one that was claimed */
	struct user_mark marks[USER_MARKS]; /* state changes outside system calls */
	uint32_t mark_n;
	UT_hash_handle hh;
};

struct call_key {
	uint16_t id; /* MG_FN_*, or 0x100 | MG_SYS_* for calls without an application event */
	uint8_t kind, pad;
};
#define CALL_KERNEL_ONLY 0x100

struct call_stats {
	struct call_key key;
	uint64_t n, failed, bytes, joined;
	uint64_t blocked_n;              /* of the joined; only where the scheduler is recorded */
	struct dist total;               /* cycles */
	struct dist overhead;            /* of calls that did not block, probes compensated */
	struct dist overhead_blocked;    /* of calls that did */
	unsigned __int128 state[STATES]; /* cycles, over the joined calls */
	unsigned __int128 probe_cycles;  /* compensated in all */
	double uncertainty;              /* 2u of one call's overhead, cycles: mean */
	UT_hash_handle hh;
};

/* ---- the whole ---- */

struct gap {
	char producer[32];
	int32_t cpu;
	uint32_t reason; /* MG_LOST_* */
	uint32_t layers; /* bits 1 << enum mg_layer: whose figures miss something */
	uint64_t count, from_ns, to_ns;
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
};

/* Packets the kernel threw away. */
struct drop_key {
	uint64_t sock;
	char reason[33], location[33];
	uint8_t rx;
};
struct drop {
	struct drop_key key;
	uint64_t n;     /* buffers, */
	uint64_t segs;  /* the segments or datagrams they stand for, */
	uint64_t bytes; /* and their payload */
	UT_hash_handle hh;
};

struct hook_info {
	char layer[16], what[32];
	int32_t status;
	uint32_t netns;
	uint64_t bit; /* of the event it feeds, 0 if it is none of the ring's */
};

/* What an event means in the stream it belongs to, for those who list events. */
struct annotation {
	const struct mg_sock *sock; /* NULL if it has none */
	bool rx;
	bool has_offset;
	uint64_t offset, length;   /* bytes */
	uint64_t cycles;           /* 0 with nanoseconds only */
	const struct piece *piece; /* application calls: all ranges, if there are several */
	uint32_t pieces;
};

typedef void (*listener_fn)(void *arg, const struct mg_event *e, const struct annotation *a);

/* Events that are not in the table, by name. */
struct other_stats {
	char *name;
	uint64_t n;
	UT_hash_handle hh;
};

struct core {
	struct clockmap clock;
	struct cpu_offsets offsets;
	struct mg_sock *socks;
	struct mg_sock *alone; /* of these, opened ones whose peer has not shown up */
	struct thread *threads;
	struct process *processes;
	struct mark *marks;
	uint32_t marks_n, marks_cap;
	uint64_t marks_more;   /* not kept */
	struct unseen *unseen; /* complete after core_finish() */
	struct call_stats *calls;
	struct sched_stats sched;
	struct other_stats *others;
	struct gap *gaps;
	uint32_t gap_count;
	struct drop *drops;
	struct hook_info *hooks;
	uint32_t hook_count;
	uint64_t app_events, kernel_events, lost_kernel, lost_app;
	uint64_t first_ns, last_ns;
	uint64_t kernel_until_ns; /* the last event of the kernel side but for losses */
	bool has_calibration, has_end;
	bool part_ended; /* in order, and what comes after is not there */
	uint32_t part;   /* the newest, 0 = it has none */
	struct mg_calibration calibration;
	struct mg_trace_end end;
	struct dist logged;           /* cycles a traced call spent in magnet */
	uint64_t unjoined;            /* application calls without their system call */
	uint64_t out_of_order_states; /* calls whose boundaries contradict the clock bound */
	uint64_t state_mismatch;      /* calls whose states do not sum to the total: must be 0 */
	struct readying readying[CPUS_MAX];
	uint64_t hooked;    /* bits of ring events that are attached, in any namespace */
	uint64_t hooked_ns; /* of these, those that belong to a namespace each */

	struct mg_event *pending; /* waiting for the clock, a ring */
	uint32_t pending_head, pending_n, pending_cap;
	enum clock_source { CLOCK_NONE, CLOCK_SYNC, CLOCK_GIVEN, CLOCK_GUESSED } clock_source;

	listener_fn listener;
	void *listener_arg;
};

void core_init(struct core *c);
/* A synchronisation point known from outside the trace, where it has none of its own. */
void core_give_clock(struct core *c, uint64_t ns, uint64_t cycles, uint32_t half_width);
/* Called with every event once its time on the counter is known, in order. */
void core_listen(struct core *c, listener_fn fn, void *arg);
/* Events in order of time; what they point to is the core's. Returns 0 or -ENOMEM. */
int core_push(struct core *c, const struct mg_event *e);
/* Events LTTng had no room for. */
void core_lost_app(struct core *c, uint64_t count, uint64_t from_ns, uint64_t to_ns, int cpu);
/* Bound of the error of an interval whose ends may lie on two CPUs, cycles. */
double core_clock_error(const struct core *c);
/* Whether an event's hook is attached; true for all where the trace does not tell. */
bool core_observes(const struct core *c, enum mg_event_id id);
/* Bits of the ring's events whose hooks are attached, in this network namespace. */
uint64_t core_hooked(const struct core *c, uint32_t netns);
/* No more will come: everything in flight is settled. */
int core_finish(struct core *c);
void core_free(struct core *c);

/* ---- parts (each in the file of its name) ---- */

/* dispatch.c: an event whose times are those of one counter, to the part it concerns */
void core_dispatch(struct core *c, const struct mg_event *e, struct annotation *a);

/* hook.c */
void hook_on_event(struct core *c, const struct mg_hook *p);

/* socket.c */
struct mg_sock *sock_get(struct core *c, uint64_t cookie);
struct mg_sock *sock_find(const struct core *c, uint64_t cookie);
void sock_on_state(struct core *c, const struct mg_event *e);
void sock_on_addr(struct core *c, const struct mg_event *e);
void sock_on_open(struct core *c, const struct mg_event *e);
/* Sequence number to byte offset; false if it lies before the stream's begin. */
bool flow_offset(struct flow *f, uint32_t seq, uint64_t *off);
void flow_touch(struct flow *f, uint64_t t);
void flow_free(struct flow *f);

/* gap.c */
void gap_on_lost(struct core *c, const struct mg_lost *p);
void gap_on_chunk(struct core *c, const struct mg_chunk *p);
bool gap_is_app(uint32_t reason);
/* Or only nobody asked for it to be recorded. */
bool gap_is_loss(const struct gap *g);

/* mark.c */
void mark_on_event(
	struct core *c, struct thread *t, const struct mg_event *e, struct annotation *a);
/* The thread's call has moved these bytes. */
void mark_on_bytes(struct core *c, struct thread *t, const struct kernel_call *k);

/* other.c */
void other_on_event(struct core *c, const struct mg_event *e);
void other_free(struct core *c);

/* process.c */
/* The thread's process; NULL without memory. */
struct process *process_of(struct core *c, struct thread *t);
/* It is about to be another program, or the recording ends. */
void process_ends(struct core *c, struct process *p);
void processes_end(struct core *c);
void processes_free(struct core *c);

/* thread.c */
struct thread *thread_get(struct core *c, uint32_t tid, uint32_t pid);
void thread_on_event(struct core *c, struct thread *t, const struct mg_event *e);
void thread_on_switch(struct core *c, const struct mg_event *e);
void thread_on_waking(struct core *c, const struct mg_event *e);
void thread_on_wakeup(struct core *c, const struct mg_event *e);
void thread_set_state(struct thread *t, uint64_t now);
enum call_state thread_state(const struct thread *t);
/* Cycles of [from, to) the thread spent in each state while outside system calls. */
void thread_user_time(const struct thread *t, uint64_t from, uint64_t to, enum call_state running,
	uint64_t state[STATES]);

/* sched.c */
void sched_on_switch(struct sched_stats *s, const struct mg_event *e);
void sched_on_cost(struct sched_stats *s, const struct mg_event *e);
void sched_free(struct sched_stats *s);

/* call.c */
void call_on_enter(struct core *c, struct thread *t, const struct mg_event *e);
void call_on_exit(struct core *c, struct thread *t, const struct mg_event *e);
void call_on_app(struct core *c, struct thread *t, const struct mg_event *e, struct annotation *a);
/* Settle a system call that no application event claimed, and free it. */
void call_settle(struct core *c, struct thread *t, struct kernel_call *k);
/* A thread's last calls. */
/* For call_join.c: */
struct call_stats *call_stats_of(struct core *c, uint16_t id, uint8_t kind);
/* The kernel left it for a signal's handler, to enter it again. */
bool call_was_restarted(const struct kernel_call *k);
void call_no_longer_open(struct core *c, const struct kernel_call *k);
void call_settle_bytes(struct core *c, struct kernel_call *k, uint64_t enter, uint64_t leave);
/* What the thread has called and no application event has claimed. */
void call_settle_thread(struct core *c, struct thread *t);
void call_on_thread_end(struct core *c, struct thread *t);
/* The same for all that have waited for one too long; `now` in ns. */
void call_settle_old(struct core *c, uint64_t now);
struct piece *call_add_piece(
	struct kernel_call *k, struct flow *f, uint64_t off, uint64_t len, uint64_t t);
void kernel_call_free(struct kernel_call *k);

/* tx.c */
void tx_on_send(struct core *c, struct thread *t, const struct mg_event *e, struct annotation *a);
void tx_on_packet(struct core *c, const struct mg_event *e, struct annotation *a);
void tx_on_done(struct core *c, const struct mg_event *e, struct annotation *a);
void tx_on_retransmit(struct core *c, const struct mg_event *e, struct annotation *a);
void tx_acked(struct flow *f, uint32_t ack, uint64_t now);
/* The last tcp_send's piece ends with the call. */
void tx_end_call(struct kernel_call *k, uint32_t exit_seq);
/* A call's pieces enter the stream; `user` is U0, or 0 without an application event. */
void tx_settle(struct core *c, struct kernel_call *k, uint64_t user);
void tx_make_atoms(struct core *c, struct flow *f, bool at_end);

/* rx.c */
void rx_on_packet(struct core *c, const struct mg_event *e, struct annotation *a);
void rx_on_tcp(struct core *c, const struct mg_event *e, struct annotation *a);
void rx_on_ready(struct core *c, const struct mg_event *e, struct annotation *a);
void rx_on_copy(struct core *c, struct thread *t, const struct mg_event *e, struct annotation *a);
/* `user` is U1, or 0. */
void rx_settle(struct core *c, struct kernel_call *k, uint64_t user);

/* state.c */
void state_on_event(struct core *c, const struct mg_event *e, struct annotation *a);
/* The socket closes, or the recording ends. */
void state_end(struct mg_sock *s, uint64_t now);
double extent_mean(const struct extent *x);
/* datagram.c: sockets whose bytes have no numbers */
bool is_datagram(const struct mg_packet *p);
void sock_on_new(struct core *c, const struct mg_event *e);
void sock_on_moved(struct core *c, const struct mg_event *e, struct annotation *a);
void datagram_on_packet(struct core *c, const struct mg_event *e, struct annotation *a);
void datagram_on_done(struct mg_sock *s, const struct mg_event *e, struct annotation *a);
/* A call that moved `bytes`; `enter` and `leave` are U0 and U1, or 0. */
void datagram_settle(struct mg_sock *s, const struct kernel_call *k, uint64_t enter, uint64_t leave,
	uint64_t bytes);
void datagram_finish(struct mg_sock *s);

/* drops.c */
void drop_on_event(struct core *c, const struct mg_event *e, struct annotation *a);
/* At which layer, NULL if its place does not tell. */
const char *drop_layer(const struct drop *d);
void drops_free(struct core *c);

/* peer.c: both ends of a connection in one trace */
void peer_link(struct core *c, struct mg_sock *s);
void peer_sent(struct flow *tx, uint64_t a, uint64_t b, uint64_t call, uint64_t xmit);
void peer_received(struct flow *rx, uint64_t a, uint64_t b, uint64_t dev, uint64_t user);

/* units.c */
void unit_add(struct unit_stats *u, uint64_t t, uint64_t size);
double unit_mean_size(const struct unit_stats *u);
double unit_cov_size(const struct unit_stats *u);
double unit_mean_gap(const struct unit_stats *u); /* cycles */
double unit_cov_gap(const struct unit_stats *u);
void unit_free(struct unit_stats *u);

#endif
