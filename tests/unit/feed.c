/* SPDX-License-Identifier: MIT */
#include "socket/socket.h"
#include "feed.h"

#define CLOCK_FROM  1
#define CLOCK_UNTIL 1000000000ull

struct mg_event feed_event(uint16_t id, uint64_t t, uint32_t tid)
{
	struct mg_event e;

	memset(&e, 0, sizeof(e));
	e.id = id;
	e.time_ns = t;
	e.tid = e.pid = tid;
	return e;
}

void feed(struct core *c, const struct mg_event *e)
{
	assert_int_equal(core_push(c, e), 0);
}

static void begin(struct core *c, const char *hooks, uint32_t half_width, uint64_t counter_hz)
{
	core_init(c);
	figures_attach(c);
	core_give_clock(c, CLOCK_FROM, CLOCK_FROM, half_width);
	core_give_clock(c, CLOCK_UNTIL, counter_hz, half_width);
	while (*hooks) {
		size_t len = strcspn(hooks, ",");
		char name[32] = "";

		memcpy(name, hooks, len);
		ev_hook(c, 1, name, 0, 0);
		hooks += len + (hooks[len] == ',');
	}
}

void feed_begin_uncertain(struct core *c, const char *hooks, uint32_t half_width)
{
	begin(c, hooks, half_width, CLOCK_UNTIL);
}

void feed_begin_at(struct core *c, const char *hooks, uint64_t counter_hz)
{
	begin(c, hooks, 0, counter_hz);
}

void feed_begin(struct core *c, const char *hooks)
{
	feed_begin_uncertain(c, hooks, 0);
}

void feed_begin_live(struct core *c, bool forgets)
{
	core_init(c);
	core_give_clock(c, CLOCK_FROM, CLOCK_FROM, 0);
	core_give_clock(c, 100 * CLOCK_UNTIL, 100 * CLOCK_UNTIL, 0);
	core_pack_closed(c);
	if (forgets)
		core_forget_closed(c, 100);
}

static void assert_sums_up(const struct flow *f)
{
	uint64_t others = f->never_sent.bytes + f->urgent.discarded + f->drops.bytes;

	if (!f->sock->unclaimed && !f->sock->ulp)
		assert_int_equal(f->complete + f->incomplete + others, f->total - f->start);
}

/* Checks that the parts of the bytes' wait in the send buffer sum to it. */
static void assert_divided(const struct flow *f)
{
	unsigned __int128 divided = 0, waited = 0;

	if (!measures_in(f)->why)
		return;
	for (int i = 0; i < WHYS; i++)
		divided += measures_in(f)->why->wait[i];
	for (uint32_t i = 0; i < measures_in(f)->why->rows; i++)
		waited += measures_in(f)->why->row[i].wait;
	assert_true(divided == waited);
}

void assert_closes(const struct core *c)
{
	const struct mg_sock *s;

	for (s = c->sockets.socks; s; s = s->hh.next) {
		assert_true(s->tx.closure == 0);
		assert_true(s->rx.closure == 0);
		if (s->kind == MG_KIND_tcp)
			assert_divided(&s->tx);
	}
	assert_int_equal(c->checks.state_mismatch, 0);
}

void feed_end(struct core *c)
{
	const struct mg_sock *s;

	assert_int_equal(core_finish(c), 0);
	for (s = c->sockets.socks; s; s = s->hh.next) {
		assert_sums_up(&s->tx);
		assert_sums_up(&s->rx);
	}
	assert_true(queue_is_empty(&c->due.pending));
	assert_closes(c);
	core_free(c);
}

void ev_hook(struct core *c, uint64_t t, const char *hook, int status, uint32_t netns)
{
	struct mg_event e = feed_event(MG_EVENT_hook, t, 0);

	memcpy(e.hook.hook, hook, strlen(hook));
	e.hook.status = status;
	e.hook.netns = netns;
	feed(c, &e);
}

void ev_sync(struct core *c, uint64_t ns, uint64_t cycles, uint32_t half_width)
{
	struct mg_event e = feed_event(MG_EVENT_clock_sync, ns, 0);

	e.clock_sync.cycles = cycles;
	e.clock_sync.mono_ns = ns;
	e.clock_sync.half_width = half_width;
	feed(c, &e);
}

void ev_calibration(struct core *c, uint32_t read, uint32_t event, uint32_t spread)
{
	struct mg_event e = feed_event(MG_EVENT_calibration, 1, 0);

	e.calibration.read_cycles = read;
	e.calibration.event_cycles = event;
	e.calibration.event_spread = spread;
	e.calibration.invariant = 1;
	feed(c, &e);
}

void ev_lost(struct core *c, uint64_t t, uint64_t count, uint64_t from, uint64_t to)
{
	struct mg_event e = feed_event(MG_EVENT_lost, t, 0);

	e.lost.count = count;
	e.lost.from_ns = from;
	e.lost.to_ns = to;
	memcpy(e.lost.producer, "ring", 4);
	feed(c, &e);
}

static void state(struct core *c, uint64_t t, const struct mg_sock_state *p)
{
	struct mg_event e = feed_event(MG_EVENT_sock_state, t, 0);

	e.sock_state = *p;
	feed(c, &e);
}

void ev_opened_in(
	struct core *c, uint64_t t, uint64_t sock, uint32_t isn, uint32_t irs, uint32_t netns)
{
	state(c, t,
		&(struct mg_sock_state){.sock = sock,
			.write_seq = isn + 1,
			.snd_una = isn + 1,
			.rcv_nxt = irs + 1,
			.copied_seq = irs + 1,
			.netns = netns,
			.old = 2, /* SYN_SENT */
			.now = 1, /* ESTABLISHED */
			.family = 2,
			.opener = 1});
}

void ev_opened(struct core *c, uint64_t t, uint64_t sock, uint32_t isn, uint32_t irs)
{
	ev_opened_in(c, t, sock, isn, irs, 0);
}

void ev_closed(struct core *c, uint64_t t, uint64_t sock)
{
	state(c, t, &(struct mg_sock_state){.sock = sock, .old = 1, .now = 7 /* CLOSE */});
}

void ev_shut(struct core *c, uint64_t t, uint64_t sock, uint32_t write_seq)
{
	state(c, t,
		&(struct mg_sock_state){
			.sock = sock, .write_seq = write_seq, .old = 1, .now = 4 /* FIN_WAIT1 */});
}

void ev_enter_flags(struct core *c, uint64_t t, uint32_t tid, uint64_t sock, int call, uint32_t seq,
	uint32_t flags)
{
	struct mg_event e = feed_event(MG_EVENT_sys_enter, t, tid);

	e.sys_enter.sock = sock;
	e.sys_enter.call = (uint16_t)call;
	e.sys_enter.seq = seq;
	if (call == MG_SYS_setsockopt || call == MG_SYS_getsockopt)
		e.sys_enter.option = flags;
	else
		e.sys_enter.flags = flags;
	e.sys_enter.kind = MG_KIND_tcp;
	feed(c, &e);
}

void ev_enter(struct core *c, uint64_t t, uint32_t tid, uint64_t sock, int call, uint32_t seq)
{
	ev_enter_flags(c, t, tid, sock, call, seq, 0);
}

void ev_exit(struct core *c, uint64_t t, uint32_t tid, uint64_t sock, int call, uint32_t seq,
	int64_t ret)
{
	struct mg_event e = feed_event(MG_EVENT_sys_exit, t, tid);

	e.sys_exit.sock = sock;
	e.sys_exit.call = (uint16_t)call;
	e.sys_exit.seq = seq;
	e.sys_exit.ret = ret;
	feed(c, &e);
}

void ev_app(struct core *c, uint32_t tid, int fn, uint64_t enter, uint64_t leave, int64_t ret)
{
	struct mg_event e = feed_event((uint16_t)(MG_APP_BASE + fn), leave + 1, tid);

	e.call.enter = enter;
	e.call.exit = leave;
	e.call.ret = ret;
	e.call.tid = e.call.pid = tid;
	e.call.kind = MG_KIND_tcp;
	feed(c, &e);
}

void ev_send(struct core *c, uint64_t t, uint32_t tid, uint64_t sock, uint32_t seq, uint32_t left,
	uint32_t snd_una)
{
	struct mg_event e = feed_event(MG_EVENT_tcp_send, t, tid);

	e.tcp_send.sock = sock;
	e.tcp_send.seq = seq;
	e.tcp_send.left = left;
	e.tcp_send.snd_una = snd_una;
	e.tcp_send.snd_nxt = seq; /* nothing unsent before it */
	feed(c, &e);
}

void ev_packet(struct core *c, uint64_t t, uint32_t tid, uint16_t id, uint64_t sock, uint32_t seq,
	uint32_t len)
{
	struct mg_event e = feed_event(id, t, tid);

	e.packet.sock = sock;
	e.packet.seq = seq;
	e.packet.len = len;
	e.packet.headers = 54;
	e.packet.segs = 1;
	feed(c, &e);
}

void ev_done(struct core *c, uint64_t t, uint32_t tid, uint64_t sock, uint32_t seq, uint32_t len)
{
	struct mg_event e = feed_event(MG_EVENT_dev_done, t, tid);

	e.dev_done.sock = sock;
	e.dev_done.seq = seq;
	e.dev_done.len = len;
	feed(c, &e);
}

void ev_retransmit(struct core *c, uint64_t t, uint64_t sock, uint32_t seq, uint32_t len)
{
	struct mg_event e = feed_event(MG_EVENT_tcp_retransmit, t, 0);

	e.tcp_retransmit.sock = sock;
	e.tcp_retransmit.seq = seq;
	e.tcp_retransmit.len = len;
	e.tcp_retransmit.segs = 1;
	feed(c, &e);
}

void ev_ack(struct core *c, uint64_t t, uint64_t sock, uint32_t ack)
{
	struct mg_event e = feed_event(MG_EVENT_dev_recv, t, 0);

	e.packet.sock = sock;
	e.packet.seq = rx_of(c, sock)->anchor.seq;
	e.packet.ack = ack;
	e.packet.tcp_flags = 16; /* ACK */
	feed(c, &e);
}

void ev_tcp(struct core *c, uint64_t t, uint64_t sock, uint32_t seq, uint32_t len)
{
	struct mg_event e = feed_event(MG_EVENT_tcp_recv, t, 0);

	e.tcp_recv.sock = sock;
	e.tcp_recv.seq = seq;
	e.tcp_recv.len = len;
	feed(c, &e);
}

/* Returns what the program has read so far, as the socket's copied_seq. */
static uint32_t copied_seq(struct core *c, uint64_t sock, uint32_t otherwise)
{
	const struct mg_sock *s = sock_find(c, sock);
	const struct flow *f = s ? &s->rx : NULL;

	return f && f->anchor.set ? (uint32_t)(f->anchor.seq - (f->anchor.off - f->done))
				  : otherwise;
}

void ev_ready_read(struct core *c, uint64_t t, uint64_t sock, uint32_t rcv_nxt, uint32_t read)
{
	struct mg_event e = feed_event(MG_EVENT_tcp_ready, t, 0);

	e.tcp_ready.sock = sock;
	e.tcp_ready.rcv_nxt = rcv_nxt;
	e.tcp_ready.copied_seq = read;
	feed(c, &e);
}

void ev_ready(struct core *c, uint64_t t, uint64_t sock, uint32_t rcv_nxt)
{
	ev_ready_read(c, t, sock, rcv_nxt, copied_seq(c, sock, rcv_nxt));
}

void ev_copy(struct core *c, uint64_t t, uint32_t tid, uint64_t sock, uint32_t seq, uint32_t len)
{
	struct mg_event e = feed_event(MG_EVENT_sock_copy, t, tid);

	e.sock_copy.sock = sock;
	e.sock_copy.seq = seq;
	e.sock_copy.len = len;
	feed(c, &e);
}

static void switched(struct core *c, uint64_t t, int cpu, const struct mg_sched_switch *p)
{
	struct mg_event e = feed_event(MG_EVENT_sched_switch, t, p->prev_tid);

	e.cpu = (int16_t)cpu;
	e.sched_switch = *p;
	feed(c, &e);
}

void ev_switch(
	struct core *c, uint64_t t, int cpu, uint32_t prev, uint32_t prev_state, uint32_t next)
{
	switched(c, t, cpu,
		&(struct mg_sched_switch){
			.prev_tid = prev, .prev_state = prev_state, .next_tid = next});
}

void ev_preempt(struct core *c, uint64_t t, int cpu, uint32_t prev, uint32_t next)
{
	/*
	 * a preempted thread may have been about to sleep: its state then says so, but it is not
	 * blocked
	 */
	switched(c, t, cpu,
		&(struct mg_sched_switch){
			.prev_tid = prev, .prev_state = SLEEPING, .next_tid = next, .preempt = 1});
}

void ev_throttle(struct core *c, uint64_t t, int cpu, uint32_t prev, uint32_t next)
{
	switched(c, t, cpu,
		&(struct mg_sched_switch){
			.prev_tid = prev, .next_tid = next, .preempt = 1, .throttled = 1});
}

void ev_waking(struct core *c, uint64_t t, uint32_t wakee)
{
	struct mg_event e = feed_event(MG_EVENT_sched_waking, t, 0);

	e.sched_waking.wakee_tid = e.sched_waking.wakee_pid = wakee;
	feed(c, &e);
}

void ev_softirq(struct core *c, uint64_t t, uint32_t tid, bool begins)
{
	struct mg_event e =
		feed_event(begins ? MG_EVENT_softirq_entry : MG_EVENT_softirq_exit, t, tid);

	e.softirq.vec = 3;
	feed(c, &e);
}

void ev_irq(struct core *c, uint64_t t, uint32_t tid, bool begins)
{
	struct mg_event e = feed_event(begins ? MG_EVENT_irq_entry : MG_EVENT_irq_exit, t, tid);

	e.irq.source = MG_IRQ_TIMER;
	feed(c, &e);
}

void ev_cost(struct core *c, int cpu, uint32_t prev, uint32_t next, uint32_t decide_ns,
	uint32_t reload_ns, uint32_t irqs)
{
	struct mg_event e = feed_event(MG_EVENT_sched_cost, 1000, next);

	e.cpu = (int16_t)cpu;
	e.sched_cost.prev_tid = prev;
	e.sched_cost.next_tid = next;
	e.sched_cost.decide_ns = decide_ns;
	e.sched_cost.reload_ns = reload_ns;
	e.sched_cost.irqs = irqs;
	feed(c, &e);
}

void ev_fork(struct core *c, uint64_t t, uint32_t tid, uint32_t child, const char *comm)
{
	struct mg_event e = feed_event(MG_EVENT_task_fork, t, tid);

	e.task_fork.child_tid = e.task_fork.child_pid = child;
	memcpy(e.task_fork.comm, comm, strlen(comm));
	feed(c, &e);
}

void feed_accepted(struct core *c, uint64_t t, uint64_t sock, uint32_t isn, uint32_t irs)
{
	struct mg_event e = feed_event(MG_EVENT_sock_state, t, 0);

	e.sock_state = (struct mg_sock_state){.sock = sock,
		.write_seq = isn + 1,
		.snd_una = isn + 1,
		.rcv_nxt = irs + 1,
		.copied_seq = irs + 1,
		.old = MG_TCP_SYN_RECV,
		.now = MG_TCP_ESTABLISHED,
		.family = 2,
		.opener = 2}; /* the peer */
	feed(c, &e);
}
