/* SPDX-License-Identifier: MIT */
/*
 * The correlator's core: events in order of time go in, results come out. It reads no clock, does
 * no I/O and has no globals; memory is bounded by what is in flight and by the number of threads
 * and sockets. All times inside are cycles of the counter.
 *
 * Definitions of every figure: docs/method.md.
 */
#ifndef MAGNET_CORRELATE_CORE_CONTRACT_H
#define MAGNET_CORRELATE_CORE_CONTRACT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "event.h"
#include "event_set.h"
#include "facts/facts.h"

struct core;
struct mg_sock;
struct flow;
struct piece;
struct kernel_call;
struct packing;
struct unpacking;

#define CPUS_MAX 1024

/*
 * Meaning of an event in its stream, for listeners. The pointers are for the core's rooms: others
 * use the functions below.
 */
struct annotation {
	const struct mg_sock *sock; /* NULL if the event has none */
	bool rx;
	bool has_offset;
	uint64_t offset, length;   /* bytes */
	const struct flow *from;   /* a message's sender, if it is in this recording */
	uint64_t from_offset;      /* offset of the message's first byte there */
	uint64_t cycles;           /* 0 with nanoseconds only */
	const struct piece *piece; /* application calls: all byte ranges, if there are several */
	uint32_t pieces;
	const struct kernel_call *call; /* its system call, and how the whole call's time divides */
};

typedef void (*listener_fn)(void *arg, const struct mg_event *e, const struct annotation *a);

/* Return the event's flow and the flow of a message's sender; `sock` is 0 if there is none. */
struct fact_flow_id annotated_flow(const struct annotation *a);
struct fact_flow_id annotated_sender(const struct annotation *a);
/* Returns the kind of the event's socket, MG_KIND_*; call it only if there is one. */
uint8_t annotated_kind(const struct annotation *a);
/* Bytes that a call moved. */
struct moved_bytes {
	struct fact_flow_id flow;
	uint64_t offset, length;
};
/* Returns byte range number `i` of `pieces`. */
struct moved_bytes annotated_bytes(const struct annotation *a, uint32_t i);
/* Returns the cycles of a whole call in each of STATES; NULL where its system call is unknown. */
const uint64_t *annotated_states(const struct annotation *a);

/*
 * A listener that keeps a state of each flow, as struct fact_flow_id has room for. It makes the
 * state when it needs one; the core says what becomes of the flow. `what` is the listener.
 */
struct core_client {
	void (*finish)(void *what); /* all is settled */
	void (*free)(void *what);
	/* The listener has set core_due(): now is the time to call core_each_state(). */
	void (*between)(void *what, struct core *c);
	/* Packets of these layers (bits 1 << layer) that passed between the two may not be
	 * recorded. */
	void (*gap)(
		void *what, struct fact_flow_id of, uint32_t layers, uint64_t from, uint64_t to);
	/* The flow's connection has closed, or the recording has ended. */
	void (*ended)(void *state, uint64_t now);
	/* Hardly any fact will concern the flow: spare memory may be freed. */
	void (*trim)(void *what, void *state);
	void (*free_state)(void *state);
	/* Packing of closed sockets: whether a state can be packed, and its bytes. */
	bool (*fits)(const void *state);
	size_t (*size)(const void *state);
	void (*pack)(const void *state, struct packing *to);
	void *(*unpack)(void *what, struct unpacking *from);  /* NULL if memory is short */
	void (*packed)(void *what, size_t more, size_t less); /* bytes that packed sockets take */
};

/* Returns a core; NULL without memory. core_delete() frees it, and what listeners attached. */
struct core *core_new(void);
void core_delete(struct core *c);
/* Returns where listeners of facts register, before the first event. */
struct facts *core_facts(struct core *c);
/* Adds a synchronisation point from outside, for a trace that has none of its own. */
void core_give_clock(struct core *c, uint64_t ns, uint64_t cycles, uint32_t half_width);
/*
 * Sets the begin and end of the recording from session.json; 0 = not known. Call it before
 * core_finish().
 */
void core_know_times(struct core *c, uint64_t start_ns, uint64_t stop_ns);
/* Sets the time since the epoch at which CLOCK_MONOTONIC was 0, as a trace's metadata has it. */
void core_know_wall_clock(struct core *c, int64_t offset_ns);
/* Says that the counter has no constant rate: all times are nanoseconds. */
void core_know_no_rate(struct core *c);
/* Says why the trace could not be read to its end, and which directory has no metadata. */
void core_know_cut_off(struct core *c, const char *why);
void core_know_undescribed(struct core *c, const char *dir);
/* Announces one more trace of this side that will end with its number of events. */
void core_expect_contents(struct core *c, enum core_side which);
/* Announces a trace of this side, which the other side's trace mentions. */
void core_expect_side(struct core *c, enum core_side which);
/* Says that a trace of this side is not there, while another recording's may be. */
void core_miss_side(struct core *c, enum core_side which);
/*
 * Reports how many events the files of one trace of this side had, and how many its `contents`
 * event gives; 0: it has no such event. Call it before core_finish(), once per trace: a surplus in
 * one, whose end is missing, must not make up for events missing in another.
 */
void core_read_trace(struct core *c, enum core_side which, uint64_t events, uint64_t contents);
/* Reports how many of these are of a kind that is not in the table. */
void core_unknown_events(struct core *c, enum core_side which, uint64_t events, const char *name);
/* Reports packets missing from a stream; `cpu` is -1 where it has none. */
void core_missing_packets(struct core *c, enum core_side which, uint64_t count, uint64_t from_ns,
	uint64_t to_ns, int cpu);
/*
 * Reports application events that another tracer overwrote while recording; their number is
 * unknown.
 */
void core_overwritten_app(struct core *c, uint64_t from_ns, uint64_t to_ns, int cpu);
/* Returns the begin of the recording from its session, else the time of the first event read. */
uint64_t core_begin_ns(const struct core *c);
/* Calls `fn` with every event, in order, once its time on the counter is known. */
void core_listen(struct core *c, listener_fn fn, void *arg);
/* Returns who was given to core_listen(); NULL: nobody. */
listener_fn core_listener(const struct core *c);
/*
 * Feeds the next event in order of time; the core takes over what it points to. Returns 0 or
 * -ENOMEM.
 */
int core_push(struct core *c, const struct mg_event *e);
/*
 * Feed an event in two steps: get the place to write it to (NULL if memory is short), then submit
 * it.
 */
struct mg_event *core_room(struct core *c);
void core_put(struct core *c);
/*
 * Processes the events that still wait for the clock, with what is known of it by now: call it
 * where a live source pauses, and somebody wants to see its events more than their joining.
 */
void core_flush(struct core *c);
/* Reports events for which LTTng had no room. */
void core_lost_app(struct core *c, uint64_t count, uint64_t from_ns, uint64_t to_ns, int cpu);
/* Attaches the listener that keeps a state of each flow; one only, before the first event. */
void core_attach(struct core *c, void *what, const struct core_client *does);
/*
 * Has its listeners of most facts run in a thread of their own until core_finish(), where that can
 * be. Call it before the first event, when all have registered: they may use nothing but the fact
 * and states of flows then, except for facts that facts/apart.c gives them directly.
 */
void core_listen_apart(struct core *c);
struct errand;
/* Returns whether there is such a thread. */
bool core_is_apart(const struct core *c);
/*
 * Leaves work for that thread, which does it while it has nothing else to do; it must stay in
 * memory until core_done(). Returns false without such a thread, and while other work has been left
 * that the thread has not begun.
 */
bool core_leave(struct core *c, struct errand *e);
/*
 * Takes work back that the thread has not begun, and waits for the end of what it has. Returns
 * whether the work is done.
 */
bool core_done(struct core *c, struct errand *e);
/* Returns that listener; NULL if there is none. */
void *core_attached(const struct core *c);
/* Returns what the listener sets to have `between` called after the present event. */
bool *core_due(struct core *c);
/*
 * Calls `fn` for the state of every flow that has one, of packed sockets for those of at least
 * `packed` bytes only (SIZE_MAX: none). Call it between events.
 */
void core_each_state(struct core *c, size_t packed, void (*fn)(void *what, void *state));
/* Whether the trace tells which hooks are attached: not another tracer's, nor a part cut out. */
bool core_knows_hooks(const struct core *c);
/* Returns whether an event's hook is attached; true for all where the trace lists no hooks. */
bool core_observes(const struct core *c, enum mg_event_id id);
/* The same of a hook that was attached at any time until now. */
bool core_has_observed(const struct core *c, enum mg_event_id id);
/* Returns whether the kernel side was paused at the last event read. */
bool core_is_paused(const struct core *c);
/* Returns whether calls' time in STATE_LOCK or STATE_RELEASE is recorded. */
bool core_knows_lock_state(const struct core *c, enum call_state state);
/*
 * Returns whether the states of TCP's connections are recorded: by magnet's own tracer with any
 * layer but those of the scheduler, though no hook of the list tells.
 */
bool core_knows_states(const struct core *c);
/*
 * Returns whether the kernel stops whole run queues for a CPU quota, as before Linux 6.18: threads
 * that are woken meanwhile wait, too, and that is not recorded.
 */
bool core_throttles_run_queues(const struct core *c);
/* Returns the events whose hooks are attached in this network namespace. */
struct mg_events core_hooked(const struct core *c, uint32_t netns);

/*
 * (outside.c) Description of a socket from another source than the core's own events, such as
 * another tracer.
 */
struct sock_known {
	uint8_t kind, family; /* MG_KIND_*, AF_* */
	uint16_t lport, rport;
	mg_addr laddr, raddr;
	bool has_addr;
	char name[16]; /* name of a device that stands for a socket; else "" */
};
/* Announces a thread whose own events are recorded; `pid` is 0 and `comm` NULL where not known. */
void core_know_thread(struct core *c, uint32_t tid, uint32_t pid, const char *comm);
void core_know_sock(struct core *c, uint64_t id, const struct sock_known *k);
/*
 * Declares that the kernel's events come from another tracer, which has no cycle counter: all times
 * are nanoseconds.
 */
void core_know_tracer(struct core *c, const char *name);

/* ---- closed sockets (closed.c) ---- */

/*
 * Packs closed sockets from now on. Call it before the first event. Sockets are then available by
 * the functions below only, and listeners must not keep flows beyond the event. Who listens to
 * ranges, but by flow, registers before: nothing is packed then.
 */
void core_pack_closed(struct core *c);
/*
 * Keeps only so many packed sockets, those that were closed last, for a recording that is read for
 * as long as it is made. Call it after core_pack_closed(). Others have no fact `flow` at the end.
 * Threads and processes that have ended are forgotten, too, unless facts need the waits before; and
 * of sockets whose end is not recorded those that were idle the longest.
 */
void core_forget_closed(struct core *c, size_t keep);
size_t core_sock_count(const struct core *c);
/*
 * Fills in the fact of a flow as far as it is settled now, with 0 for all that is not known; the
 * fact that listeners get has FACT_NONE there. Returns false if there is no such flow. If its
 * socket is packed, what it points to is valid until the next call for another one.
 */
bool core_flow(struct core *c, uint64_t sock, bool rx, struct fact_flow *to);
/* Does the same, but the flow stays valid until core_delete(). */
bool core_keep_flow(struct core *c, uint64_t sock, bool rx, struct fact_flow *to);
/* Returns whether a listener's states of a socket's flows stay where they are: it is not packed. */
bool core_states_stay(struct core *c, uint64_t sock);
/* Calls `fn` with both flows of each socket; those of a packed one are valid until `fn` returns. */
void core_each_flow(struct core *c,
	void (*fn)(void *arg, const struct fact_flow *tx, const struct fact_flow *rx), void *arg);
/*
 * Returns true if an allocation has failed since core_new(): the figures must not be shown then.
 */
bool core_lacks_memory(const struct core *c);
/* Settles everything in flight after the last event. Returns 0 or -ENOMEM. */
int core_finish(struct core *c);

/* ---- access to results ---- */

/* Returns the name of the program that a thread runs; "" if it is not known. */
const char *core_program(const struct core *c, uint32_t tid);
/*
 * Returns the name of a system call by its number in a table, MG_ENTRY_*; NULL if it entered the
 * kernel by none, or memory is short.
 */
const char *core_call_name(struct core *c, uint8_t entry, int32_t nr);
/* A system call, as it ended. */
struct ended_call {
	uint16_t call; /* MG_SYS_* */
	int64_t ret;
	uint64_t enter, exit; /* cycles */
	uint64_t bytes;       /* payload it moved; of sendmmsg and recvmmsg 0 if not known */
};
/* Fills in the call of a thread that ended last. Returns false if it did not end at `exit`. */
bool core_ended_call(const struct core *c, uint32_t tid, uint64_t exit, struct ended_call *to);
/* Returns the payload that a call of the program moved; MSG_PEEK only looks at it. */
uint64_t core_app_call_bytes(const struct mg_event *e);

/* Fill in what is known of the recording and of a side now; texts are valid until core_delete(). */
void core_recording(const struct core *c, struct fact_recording *to);
void core_side(const struct core *c, enum core_side which, struct fact_side *to);
/*
 * Fill in the next of a list; `at` is 0 at first. Return false after the last one. Texts are valid
 * until more events come.
 */
bool core_next_loss(const struct core *c, uintptr_t *at, struct fact_loss *to);
bool core_next_hook(const struct core *c, uintptr_t *at, struct fact_hook *to);
bool core_next_mark(const struct core *c, uintptr_t *at, struct fact_mark *to);
bool core_next_bypass(const struct core *c, uintptr_t *at, struct fact_bypass *to);
bool core_next_chosen(const struct core *c, uintptr_t *at, struct fact_chosen *to);
bool core_next_dump(const struct core *c, uintptr_t *at, struct fact_dump *to);
/* Return the cost of the recorder's own events as it was measured, and the kernel events so far. */
const struct mg_calibration *core_calibration(const struct core *c);
uint64_t core_kernel_events(const struct core *c);
/* Convert between ns of CLOCK_MONOTONIC and cycles; 0 cycles per second: the rate is not known. */
uint64_t core_cycles(struct core *c, uint64_t ns);
uint64_t core_ns(struct core *c, uint64_t cycles);
double core_hz(const struct core *c);
bool core_has_clock(const struct core *c);
/* Returns the bound of the error in joining the kernel's times with the program's, cycles. */
double core_clock_join_error(const struct core *c);

/*
 * Returns the layers whose events make up the packets at a layer of a received or a sent flow, as
 * bits 1 << enum mg_layer.
 */
uint32_t flow_unit_layers(bool rx, int layer);

#endif
