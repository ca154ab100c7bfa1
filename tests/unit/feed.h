/* SPDX-License-Identifier: MIT */
/*
 * Literal events for the core. Unless a test sets another clock, the counter ticks once per
 * nanosecond and is known exactly, so that times in a test are in cycles.
 */
#ifndef MAGNET_TESTS_FEED_H
#define MAGNET_TESTS_FEED_H

#include "core.h"
#include "figures/figures.h"
#include "task/threads.h"
#include "unit.h"

#define TX_HOOKS    "tcp_send,ip_out ipv4,ip_post ipv4,dev_queue,dev_xmit,dev_done,tcp_retransmit"
#define RX_HOOKS    "dev_recv,ip_in ipv4,tcp_recv,tcp_ready,sock_copy"
#define SCHED_HOOKS "sched_switch,sched_waking,softirq_entry,softirq_exit,irq_entry,irq_exit"
#define ALL_HOOKS   "sys_enter,sys_exit," TX_HOOKS "," RX_HOOKS "," SCHED_HOOKS

#define SLEEPING 1 /* a prev_state that is not runnable */
#define RUNNABLE 0

/* Initialises an empty core with a known clock and the given hooks, names separated by commas. */
void feed_begin(struct core *c, const char *hooks);
/* The same with an uncertain clock: times are off by up to `half_width` cycles. */
void feed_begin_uncertain(struct core *c, const char *hooks, uint32_t half_width);
/* The same with another counter rate; times of kernel events are still in nanoseconds. */
void feed_begin_at(struct core *c, const char *hooks, uint64_t counter_hz);
/*
 * Initialises an empty core of a recording that is read for as long as it is made, whose listeners
 * do not need the past, as those of magnet top; if it `forgets`, it keeps little of what has ended.
 */
void feed_begin_live(struct core *c, bool forgets);
/* Finishes the core, checks that nothing is left over, and frees it. */
void feed_end(struct core *c);
/* Checks the invariants: stages sum to their totals and states to their calls, to the cycle. */
void assert_closes(const struct core *c);

struct mg_event feed_event(uint16_t id, uint64_t t, uint32_t tid);
/* Feeds that a connection accepted from a peer is established; numbers are those of both SYNs. */
void feed_accepted(struct core *c, uint64_t t, uint64_t sock, uint32_t isn, uint32_t irs);
void feed(struct core *c, const struct mg_event *e);

void ev_hook(struct core *c, uint64_t t, const char *hook, int status, uint32_t netns);
void ev_sync(struct core *c, uint64_t ns, uint64_t cycles, uint32_t half_width);
void ev_calibration(struct core *c, uint32_t read, uint32_t event, uint32_t spread);
void ev_lost(struct core *c, uint64_t t, uint64_t count, uint64_t from, uint64_t to);

void ev_opened(struct core *c, uint64_t t, uint64_t sock, uint32_t isn, uint32_t irs);
void ev_opened_in(
	struct core *c, uint64_t t, uint64_t sock, uint32_t isn, uint32_t irs, uint32_t netns);
void ev_closed(struct core *c, uint64_t t, uint64_t sock);
/* The socket's own end is shut; all bytes before `write_seq` have been written. */
void ev_shut(struct core *c, uint64_t t, uint64_t sock, uint32_t write_seq);

/* System calls; `seq` is write_seq or copied_seq, depending on the call's direction. */
void ev_enter(struct core *c, uint64_t t, uint32_t tid, uint64_t sock, int call, uint32_t seq);
void ev_enter_flags(struct core *c, uint64_t t, uint32_t tid, uint64_t sock, int call, uint32_t seq,
	uint32_t flags);
void ev_exit(struct core *c, uint64_t t, uint32_t tid, uint64_t sock, int call, uint32_t seq,
	int64_t ret);
/* The program's own call; its event is written right after it. */
void ev_app(struct core *c, uint32_t tid, int fn, uint64_t enter, uint64_t leave, int64_t ret);

void ev_send(struct core *c, uint64_t t, uint32_t tid, uint64_t sock, uint32_t seq, uint32_t left,
	uint32_t snd_una);
void ev_packet(struct core *c, uint64_t t, uint32_t tid, uint16_t id, uint64_t sock, uint32_t seq,
	uint32_t len);
void ev_done(struct core *c, uint64_t t, uint32_t tid, uint64_t sock, uint32_t seq, uint32_t len);
void ev_retransmit(struct core *c, uint64_t t, uint64_t sock, uint32_t seq, uint32_t len);
/* A segment without payload arrives that acknowledges everything before `ack`. */
void ev_ack(struct core *c, uint64_t t, uint64_t sock, uint32_t ack);

void ev_tcp(struct core *c, uint64_t t, uint64_t sock, uint32_t seq, uint32_t len);
void ev_ready(struct core *c, uint64_t t, uint64_t sock, uint32_t rcv_nxt);
/* The same up to `read`, where the core cannot know what has been read before. */
void ev_ready_read(struct core *c, uint64_t t, uint64_t sock, uint32_t rcv_nxt, uint32_t read);
void ev_copy(struct core *c, uint64_t t, uint32_t tid, uint64_t sock, uint32_t seq, uint32_t len);

void ev_switch(struct core *c, uint64_t t, int cpu, uint32_t prev, uint32_t state, uint32_t next);
void ev_preempt(struct core *c, uint64_t t, int cpu, uint32_t prev, uint32_t next);
void ev_throttle(struct core *c, uint64_t t, int cpu, uint32_t prev, uint32_t next);
void ev_waking(struct core *c, uint64_t t, uint32_t wakee);
void ev_softirq(struct core *c, uint64_t t, uint32_t tid, bool begins);
void ev_irq(struct core *c, uint64_t t, uint32_t tid, bool begins);
void ev_cost(struct core *c, int cpu, uint32_t prev, uint32_t next, uint32_t decide_ns,
	uint32_t reload_ns, uint32_t irqs);
void ev_fork(struct core *c, uint64_t t, uint32_t tid, uint32_t child, const char *comm);

/*
 * A whole send() at `at`, all in the caller's context, with one step between events: U0 K0 C N P Q
 * X Y K1 U1 are at + 0 ... at + 9 steps.
 */
void feed_send(struct core *c, uint32_t tid, uint64_t sock, uint32_t seq, uint32_t len, uint64_t at,
	uint64_t step);
/* The same without U0 and U1: the program is not preloaded. */
void feed_send_kernel(struct core *c, uint32_t tid, uint64_t sock, uint32_t seq, uint32_t len,
	uint64_t at, uint64_t step);
/* One received segment, with one step between events: R L T A are at + 0 ... at + 3 steps. */
void feed_segment(
	struct core *c, uint64_t sock, uint32_t seq, uint32_t len, uint64_t at, uint64_t step);
/* A recv() of bytes that are already there: U0 K0 D K1 U1 are at + 0 ... at + 4 steps. */
void feed_recv(struct core *c, uint32_t tid, uint64_t sock, uint32_t seq, uint32_t len, uint64_t at,
	uint64_t step);

struct flow *tx_of(const struct core *c, uint64_t sock);
struct flow *rx_of(const struct core *c, uint64_t sock);
const struct call_stats *calls_of(const struct core *c, int id); /* kind tcp; never NULL */
struct thread *thread_of(struct core *c, uint32_t tid);
/* Checks that the states of all joined calls of a kind are exactly these. */
void assert_states(const struct call_stats *s, const uint64_t expected[STATES]);
/* Returns the fact of a flow as it is now, valid until the eighth call after this one. */
const struct fact_flow *fact_of(struct core *c, const struct flow *f);
/* Returns what is measured of a flow, all of it empty where nothing is. */
const struct flow_measures *measures_in(const struct flow *f);
/* Returns what is measured of a flow, to be changed; there must be something. */
struct flow_measures *measured(const struct flow *f);
/* Returns the memory that all measures share. */
struct measures_memory *memory_of(const struct core *c);
/* Returns a stage's cycles times bytes, summed over all byte ranges. */
uint64_t stage_sum(const struct flow *f, int stage);

#endif
