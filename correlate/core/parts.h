/* SPDX-License-Identifier: MIT */
/* What the core's files offer each other; nobody else includes this. */
#ifndef MAGNET_CORRELATE_PARTS_H
#define MAGNET_CORRELATE_PARTS_H

#include "core.h"
#include "event_table.h"

/* clock_guess.c: readings of the counter, by the calls that wait for the clock */
void clock_guess(struct core *c);

/* dispatch.c: an event whose times are those of one counter, to the part it concerns */
void core_dispatch(struct core *c, const struct mg_event *e, struct annotation *a);

/* core.c: settles what is in flight of a socket, and no more will come */
void core_finish_sock(struct core *c, struct mg_sock *s);

/* hook.c */
void hook_on_event(struct core *c, const struct mg_hook *p);
/* A trace whose begin was cut away does not tell what was attached: what comes does. */
void hook_seen(struct core *c, enum mg_event_id id);

/* socket.c */
/* All but those closed long ago, one after the other from NULL on. */
struct mg_sock *sock_next_live(struct core *c, struct mg_sock *s);
void sock_lives(struct core *c, struct mg_sock *s);
void sock_no_longer_live(struct mg_sock *s);
struct mg_sock *sock_look_up(struct core *c, uint64_t cookie);
struct mg_sock *sock_make(struct core *c, uint64_t cookie);
void socks_claim(struct core *c);
/* Both look at what was asked for last before they look it up; NULL if it is not known. */
static inline struct mg_sock *sock_find(struct core *c, uint64_t cookie)
{
	struct mg_sock *s = c->recent.sock[cookie % RECENT_SOCKS];

	return s && s->cookie == cookie ? s : sock_look_up(c, cookie);
}
/* One that is not known is made; NULL without a number, or without memory. */
static inline struct mg_sock *sock_get(struct core *c, uint64_t cookie)
{
	struct mg_sock *s = c->recent.sock[cookie % RECENT_SOCKS];

	return s && s->cookie == cookie ? s : sock_make(c, cookie);
}
void sock_on_state(struct core *c, const struct mg_event *e);
void sock_on_addr(struct core *c, const struct mg_event *e);
/* The thread has made a call on it, or an event shows that it moves its bytes. */
void sock_used_by(struct core *c, struct mg_sock *s, struct thread *t);
/* A program has put a protocol of the kernel on top of its connection. */
void sock_on_ulp(struct core *c, uint64_t cookie);

/* anchor.c */
enum {
	MG_TCP_ESTABLISHED = 1,
	MG_TCP_SYN_SENT,
	MG_TCP_SYN_RECV,
	MG_TCP_CLOSE = 7,
	MG_TCP_CLOSE_WAIT
};
/* Who opened a connection, as `opener` of sock_state. */
enum { OPENER_SELF = 1, OPENER_PEER };
void sock_on_open(struct core *c, const struct mg_event *e);
void sock_on_late_state(struct mg_sock *s, const struct mg_sock_state *p);
void anchor_set(struct anchor *a, uint32_t seq, uint64_t off, bool relative);
uint32_t anchor_initial(const struct anchor *a);
/* Whether these can be the two ends of one stream. */
bool anchors_agree(const struct flow *tx, const struct flow *rx);
/* Where the sender's own counters could not tell where its bytes lie. */
void anchor_by_peer(struct core *c, struct flow *tx, const struct flow *rx);
/* Sequence number to byte offset; false if it lies before the stream's begin, or nothing is known.
 */
bool flow_place(const struct flow *f, uint32_t seq, uint64_t *off);
/* The same; it counts from here if nothing is known yet, and the known place moves along. */
bool flow_offset(struct flow *f, uint32_t seq, uint64_t *off);
/* Leave out what lies before the recording; false if nothing remains. */
bool flow_clip(const struct flow *f, uint64_t *off, uint32_t *len);
/* The number of a segment's first byte: a SYN has one of its own, and may carry data. */
uint32_t first_byte(const struct mg_packet *p);
uint32_t before_fin(const struct flow *f, uint32_t seq);

void flow_touch(struct flow *f, uint64_t t);
/* Bytes up to `end` passed a layer of a socket whose calls are not known: enough is kept. */
void flow_pass(struct flow *f, struct ranges *layer, uint64_t end);
void flow_free(struct flow *f);

/* gap.c */
/* As soon as it is read, before what came before it is processed. */
void gap_foresee(struct core *c, const struct mg_lost *p);
/* Spacings of the socket's units do not reach across these missing events. */
void gap_touch(struct mg_sock *s, const struct hole *h);
/* It may be met within a gap that was told where it begins. */
void gap_on_new_socket(struct core *c, struct mg_sock *s);
/* A loss that a reader tells, by no event of a trace. */
bool gap_is_of_reader(const struct mg_event *e);
/* Whether a layer's events of [from, to) may be missing on one of these CPUs; -1 = any. */
bool gap_within(const struct core *c, enum mg_layer layer, uint64_t from, uint64_t to, int cpu_a,
	int cpu_b);
void gap_on_lost(struct core *c, const struct mg_lost *p);
void gap_on_chunk(struct core *c, const struct mg_chunk *p);
/* Nothing of a side is in the trace between these times. */
void gap_not_covered(struct core *c, enum core_side which, uint64_t from_ns, uint64_t to_ns);
/* So many parts of the application side are not here, between `from_ns` and the part that begins.
 */
void gap_app_parts(struct core *c, uint64_t from_ns, const struct mg_app_begin *p, uint32_t count);

/* side.c */
/* Whether the program's calls are recorded, too. */
static inline bool has_app_side(const struct core *c)
{
	return c->side[CORE_APP].tells_end || c->app_events;
}
void side_on_event(struct core *c, const struct mg_event *e);
/* Whether the side had told its end before `t`, cycles. */
bool side_is_over(struct core *c, enum core_side which, uint64_t t);
/* At the end, when everything else is settled. */
void sides_finish(struct core *c);

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
/* The thread was made, or was there already, as the event says. */
void process_on_fork(struct core *c, struct thread *t, const struct mg_event *e);
/* It runs another program now. */
void process_named(struct core *c, struct process *p, const char comm[16]);
/* The thread is known to be called so. */
void process_known(struct core *c, struct thread *t);
/* It is about to be another program, or the recording ends. */
void process_ends(struct core *c, struct process *p);
/* The same once application events of it cannot come any more. */
void process_on_exit(struct core *c, struct process *p, uint64_t now_ns);
void processes_settle(struct core *c, uint64_t before_ns);
void processes_end(struct core *c);
void processes_free(struct core *c);

/* thread.c */
struct thread *thread_make(struct core *c, uint32_t tid, uint32_t pid);
static inline struct thread *thread_get(struct core *c, uint32_t tid, uint32_t pid)
{
	struct thread *t = c->recent.thread[tid % RECENT_THREADS];

	if (!t || t->tid != tid)
		return thread_make(c, tid, pid);
	if (pid)
		t->pid = pid;
	return t;
}
void thread_on_event(struct core *c, struct thread *t, const struct mg_event *e);
void thread_on_switch(struct core *c, const struct mg_event *e);
void thread_on_waking(struct core *c, const struct mg_event *e);
void thread_on_wakeup(struct core *c, const struct mg_event *e);
void thread_set_state(struct thread *t, uint64_t now);
enum call_state thread_state(const struct thread *t);
/* An event of its own shows that it is, though it was not seen to get the CPU. */
void thread_is_running(struct thread *t, uint64_t now);
/* An application call has ended; those within it are no more of interest. */
void thread_note_inner(struct thread *t, uint64_t enter, uint64_t leave);
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
/* The kernel left it for a signal's handler, to enter it again. */
bool call_was_restarted(const struct kernel_call *k);
/* How it ends will not be known. */
void call_abandon(struct core *c, struct thread *t);
void call_no_longer_open(struct core *c, const struct kernel_call *k);
/* Lets go of what it holds. */
void piece_release(struct piece *p);
/* It did not move what these say. */
void call_drop_pieces(struct kernel_call *k, uint32_t from);
struct piece *call_add_piece(
	struct kernel_call *k, struct flow *f, uint64_t off, uint64_t len, uint64_t t);
void kernel_call_free(struct kernel_call *k);

/* call_join.c */
void call_on_app(struct core *c, struct thread *t, const struct mg_event *e, struct annotation *a);
/* Those that were left for a handler and entered again become one. */
void call_merge_restarts(struct core *c, struct thread *t);
/* Nothing is missing of what the thread did in it, or in the application call around it. */
bool call_is_complete(const struct core *c, const struct thread *t, const struct kernel_call *k,
	uint64_t enter, uint64_t leave);

/* call_settle.c */
struct call_stats *call_stats_of(struct core *c, uint16_t id, uint8_t kind);
void call_settle_bytes(struct core *c, struct kernel_call *k, uint64_t enter, uint64_t leave);
/* Settle a system call that no application event claimed, and free it. */
void call_settle(struct core *c, struct thread *t, struct kernel_call *k);
/* What the thread has called and no application event has claimed. */
void call_settle_thread(struct core *c, struct thread *t);
void call_settle_oldest(struct core *c, struct thread *t, uint32_t n);
void call_on_thread_end(struct core *c, struct thread *t);
/* The same, but that application events of its calls may still come. */
void call_on_thread_exit(struct core *c, struct thread *t);
/* The same for all that have waited for one too long; `now` in ns. */
void call_settle_old(struct core *c, uint64_t now);

/* tx.c */
void tx_on_send(struct core *c, struct thread *t, const struct mg_event *e, struct annotation *a);
/* `t` is the thread it happened on, NULL if none. */
void tx_on_packet(struct core *c, struct thread *t, const struct mg_event *e, struct annotation *a);
/* Whether what is sent passes a layer of its own socket, and not another's. */
bool tx_is_own(struct core *c, const struct mg_event *e);
void tx_on_done(struct core *c, const struct mg_event *e, struct annotation *a);
void tx_on_retransmit(struct core *c, const struct mg_event *e, struct annotation *a);
void tx_acked(const struct core *c, struct flow *f, uint32_t ack, uint64_t now);
/* The same, told by a frame that arrived, whose header may have been damaged on its way. */
void tx_acked_by_frame(const struct core *c, struct flow *f, uint32_t ack, uint64_t now);
/* Forgets when bytes were sent: they will not be sent again. */
void tx_closed(struct flow *f);
/* The last tcp_send's piece ends with the call. */
void tx_end_call(struct kernel_call *k, uint32_t exit_seq);
/*
 * A call's pieces enter the stream; `user` and `leave` are U0 and U1, or 0 without an application
 * event.
 */
void tx_settle(struct core *c, struct kernel_call *k, uint64_t user, uint64_t leave);
void tx_make_atoms(struct core *c, struct flow *f, bool at_end);
void tx_find_unsent(struct core *c, struct flow *f); /* once all events are in */
/* An atom whose times are known; `layers` are those it must have, as bits. */
void tx_atom(struct core *c, struct flow *f, uint32_t layers, uint64_t a, uint64_t b,
	const uint64_t t[], uint32_t present);

/* why.c: why bytes waited in the send buffer */
/* A call is about to copy bytes, TCP to process a segment of the peer's; and TCP's state then. */
void why_on_write(struct flow *tx, struct thread *t, const struct mg_tcp_send *p, uint64_t now);
void why_on_segment(struct mg_sock *s, struct thread *t, const struct mg_tcp_recv *p, uint64_t now);
/* The call that wrote has returned, and TCP gives the next byte this number. */
void why_on_written(struct flow *tx, uint32_t seq);
/* Events of state: of the event before them, but for a change of the congestion state. */
void why_on_state(struct flow *tx, const struct mg_tcp_state *p);
void why_on_limits(struct flow *tx, const struct mg_tcp_limits *p);
void why_on_congestion(struct flow *tx, const struct mg_tcp_cong *p, uint64_t now);
/* The same after one end has closed, as a segment is sent; and a segment of the peer's arrives. */
void why_on_room(struct core *c, const struct mg_tcp_room *p);
void why_on_arrival(struct mg_sock *s, struct thread *t, uint64_t now);
/* Events that tell what holds its bytes are missing. */
void why_on_gap(struct why *w);
/* TCP hands a segment to IP, its first byte at `off`; `t` is the thread it happened on. */
void why_on_out(struct core *c, const struct thread *t, struct mg_sock *s,
	const struct mg_packet *p, uint64_t off, uint64_t now);
/* Note that bytes waited from the one time to the other, and their label, if it is known. */
void why_waited(
	struct flow *tx, bool known, uint64_t label, uint64_t from, uint64_t to, uint64_t bytes);
/* Without anything in flight it keeps no room for it. */
void why_trim(struct why *w);
void why_free(struct why *w);
/* All its bytes are numbered `by` higher. */
void why_shift(struct why *w, uint64_t by);

/* bound.c: the memory of all flows' distributions together */
void bound_init(struct core *c);
void bound_flow(struct core *c, struct flow *f);
#define FLOW_DISTS (TX_LAYERS + STAGES_MAX + 6)
/* Fills in all of a flow's that are bounded, and returns how many they are. */
uint32_t flow_dists(struct flow *f, struct dist *all[FLOW_DISTS]);
/* It has used more than it may: bins become wider. */
void bound_coarsen(struct core *c);
/* Hardly anything more will come to this flow. */
void bound_trim(struct flow *f);

/* call_ends.c */
void call_ends_add(struct call_ends *e, uint64_t off);
/* Whether one is left that ends there or before; it is taken. */
bool call_ends_take(struct call_ends *e, uint64_t upto);

/* rx.c */
void rx_on_packet(struct core *c, struct thread *t, const struct mg_event *e, struct annotation *a);
void rx_on_tcp(struct core *c, struct thread *t, const struct mg_event *e, struct annotation *a);
void rx_on_ready(struct core *c, const struct mg_event *e, struct annotation *a);
void rx_on_copy(struct core *c, struct thread *t, const struct mg_event *e, struct annotation *a);
/* `user` is U1, or 0. */
void rx_settle(struct core *c, struct kernel_call *k, uint64_t user);
void rx_finish(struct core *c, struct flow *f);
/* An atom whose times are known, read by a call's piece; whether it was complete. */
bool rx_atom(struct core *c, const struct piece *p, const struct kernel_call *k, uint64_t user,
	uint32_t layers, uint64_t a, uint64_t b, const uint64_t t[], uint32_t present);

/* One range of a call, without counting it as read. */
void rx_settle_piece(
	struct core *c, const struct kernel_call *k, const struct piece *p, uint64_t user);

/* request.c: data for a request to connect, before it has a socket */
/* Returns the socket that the request of this number became, NULL if that is not known yet. */
struct mg_sock *request_sock(struct core *c, uint64_t id);
/*
 * Call with a packet for a request. Returns its socket; if that does not show yet, keeps the event
 * until it does, and returns NULL.
 */
struct mg_sock *request_on_packet(struct core *c, const struct mg_event *e);
/* The same of a drop; returns whether it is kept. */
bool request_on_drop(struct core *c, const struct mg_event *e);
/* Call when a socket is established: what is kept for it is processed now. */
void requests_on_state(struct core *c, struct mg_sock *s, const struct mg_event *e);
void requests_free(struct core *c);

/* synack.c: answers to requests to connect that were sent again */
void synack_on_retransmit(struct core *c, const struct mg_tcp_retransmit *p);
/* Call when a socket is established that its peer opened: they are its own from now on. */
void synack_on_established(struct core *c, struct mg_sock *s, uint32_t write_seq);
void synacks_free(struct core *c);

/* rx_unseen.c */
void rx_give_up_holes(struct core *c, struct flow *f, uint64_t upto);
void rx_drop_done(struct flow *f);
void rx_consumed(struct core *c, struct flow *f, uint32_t copied_seq, uint64_t now);

/* head_of_line.c */
/* The time in RX_OVERTOOK of bytes for which nothing tells it. */
#define OVERTOOK_UNKNOWN UINT64_MAX
/* Call when bytes [from, to) have become readable, before they are noted as such. */
void rx_note_overtaking(struct core *c, struct flow *f, uint64_t from, uint64_t to);

/* low_water.c */
void rx_in_order_untold(struct core *c, struct flow *f, uint64_t end, uint64_t now);

/* unmapped.c */
void unmapped_settle(struct mg_sock *s, const struct kernel_call *k, uint64_t enter, uint64_t leave,
	uint64_t bytes);

/* urgent.c */
/* recv(MSG_OOB) has given the program a byte. */
void urgent_read(struct flow *f, const struct kernel_call *k, uint64_t user);
/* The reader has stepped over these bytes; false if it must have been for another reason. */
bool urgent_hole(struct core *c, struct flow *f, uint64_t a, uint64_t b);

/* state.c */
void state_on_event(struct core *c, const struct mg_event *e, struct annotation *a);

/* zerocopy.c */
void zerocopy_on_sent(struct core *c, const struct mg_event *e);
void zerocopy_on_done(struct core *c, const struct mg_event *e);
void zerocopy_free(struct zerocopy *z);
/* The socket closes, or the recording ends. */
void state_on_arrival(struct mg_sock *s, const struct mg_packet *p, uint64_t now);
void state_end(struct mg_sock *s, uint64_t now);

/* datagram.c: sockets whose bytes have no numbers */
bool is_datagram(const struct mg_packet *p);
void sock_on_new(struct core *c, const struct mg_event *e);
void sock_on_peer(struct core *c, const struct mg_event *e, struct annotation *a);
void sock_on_moved(
	struct core *c, struct thread *t, const struct mg_event *e, struct annotation *a);
void datagram_on_packet(
	struct core *c, struct thread *t, const struct mg_event *e, struct annotation *a);
void datagram_on_done(
	struct core *c, struct mg_sock *s, const struct mg_event *e, struct annotation *a);
void datagram_on_ready(
	struct core *c, struct thread *t, const struct mg_event *e, struct annotation *a);
void datagram_on_copy(struct core *c, struct thread *t, struct mg_sock *s, const struct mg_event *e,
	struct annotation *a);
/* The system call that is over, where its messages did not tell. */
void datagram_end_call(struct core *c, struct thread *t, const struct mg_event *e);
/* A call that moved `bytes`; `enter` and `leave` are U0 and U1, or 0. */
void datagram_settle(struct core *c, struct mg_sock *s, const struct kernel_call *k, uint64_t enter,
	uint64_t leave, uint64_t bytes);
void datagram_finish(const struct core *c, struct mg_sock *s);
/* The layers this recording can have seen what it sent in, as bits. */
uint32_t datagram_required(struct core *c, const struct flow *f);
/* The program's thread is in a system call on this socket. */
bool datagram_in_call(const struct thread *t, const struct mg_sock *s);
/* Bytes the program gave or gets: ICMP's header is its own. */
uint32_t datagram_length(const struct mg_packet *p);

/* datagram_tx.c */
void datagram_out(struct core *c, struct thread *t, struct mg_sock *s, const struct mg_event *e,
	enum tx_layer layer, struct annotation *a);
void datagram_done(
	struct core *c, struct mg_sock *s, const struct mg_event *e, struct annotation *a);
void datagram_sent(struct thread *t, struct mg_sock *s, int64_t ret);
void datagram_settle_tx(struct core *c, const struct kernel_call *k, uint64_t call);
void datagram_drop_out(
	struct core *c, struct thread *t, struct mg_sock *s, const struct mg_drop *p);

/* datagram_rx.c */
void datagram_in(struct core *c, struct mg_sock *s, const struct mg_event *e, enum rx_layer layer,
	struct annotation *a);
void datagram_ready(
	struct core *c, struct mg_sock *s, const struct mg_event *e, struct annotation *a);
/* One that several sockets may get. */
void datagram_unclaimed(struct core *c, const struct mg_event *e);
struct arrival;
/* The call has got bytes of it. */
void datagram_take(struct thread *t, struct mg_sock *s, struct arrival *x, uint32_t len,
	uint64_t now, struct annotation *a);
void datagram_received(struct core *c, struct thread *t, struct mg_sock *s,
	const struct mg_event *e, const struct mg_sock_moved *p, struct annotation *a);
void datagram_settle_rx(struct core *c, const struct kernel_call *k, uint64_t user);
void datagram_drop_in(struct mg_sock *s, const struct mg_event *e);

/* unix.c */
bool is_unix(const struct mg_sock *s);
void unix_ready(struct core *c, struct thread *t, struct mg_sock *s, const struct mg_event *e,
	struct annotation *a);
void unix_sent(struct thread *t, struct mg_sock *s, int64_t ret, uint64_t now);
void unix_copy(struct core *c, struct thread *t, struct mg_sock *s, const struct mg_event *e,
	struct annotation *a);
void unix_received(struct core *c, struct thread *t, struct mg_sock *s, const struct mg_event *e,
	const struct mg_sock_moved *p, struct annotation *a);

/* drops.c */
void drop_on_event(
	struct core *c, struct thread *t, const struct mg_event *e, struct annotation *a);
void drops_free(struct core *c);

/* peer.c: both ends of a connection in one trace */
void peer_link(struct core *c, struct mg_sock *s);
/* By addresses and ports, for connections whose numbers do not tell. */
void peer_link_by_place(struct core *c, struct mg_sock *s);
/* It is closed. */
void peer_forget(struct core *c, struct mg_sock *s);
void peer_sent(struct flow *tx, uint64_t a, uint64_t b, uint64_t call, uint64_t xmit);
void peer_received(struct flow *rx, uint64_t a, uint64_t b, uint64_t dev, uint64_t user);

/* units.c */
void unit_add(struct unit_stats *u, uint64_t t, uint64_t size);
/* The same of `len` bytes with numbers, of which so many were not seen before. */
void unit_pass(struct unit_stats *u, uint64_t t, uint64_t len, uint64_t fresh);
/* The unit added last is larger. */
void unit_more(struct unit_stats *u, uint64_t bytes);
/* Of the unit added last: what it takes with headers, and the packets it stands for. */
void unit_wire(struct unit_stats *u, uint64_t frame, uint64_t packets);
/* Units may be missing in between: spacings that touch it are none. */
void unit_gap(struct unit_stats *u, uint64_t from, uint64_t to);
void unit_free(struct unit_stats *u);

/* descriptor.c: what was moved by calls whose system calls were lost. */
void descriptor_is(struct process *p, int32_t fd, struct mg_sock *s);
void descriptor_lost(struct core *c, struct process *p, const struct mg_call *call,
	enum mg_direction dir, uint64_t bytes);
void descriptor_closed(struct process *p, int32_t fd);
void descriptors_end(struct process *p);

#endif
