/* SPDX-License-Identifier: MIT */
/*
 * Application calls and the system calls within them, joined by thread and nesting
 * (U0 <= K0 <= K1 <= U1), never by descriptor (method, "System-call overhead").
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core.h"
#include "event_table.h"

#define UNCLAIMED_MAX 8
#define MSG_PEEK_FLAG 0x2

void kernel_call_free(struct kernel_call *k)
{
	free(k->piece);
	memset(k, 0, sizeof(*k));
}

struct piece *call_add_piece(
	struct kernel_call *k, struct flow *f, uint64_t off, uint64_t len, uint64_t t)
{
	struct piece *p;

	if (k->pieces == k->pieces_cap) {
		uint32_t cap = k->pieces_cap ? k->pieces_cap * 2 : 4;

		p = realloc(k->piece, cap * sizeof(*p));
		if (!p)
			return NULL;
		k->piece = p;
		k->pieces_cap = cap;
	}
	p = &k->piece[k->pieces++];
	*p = (struct piece){.flow = f, .off = off, .len = len, .t = t};
	return p;
}

static void no_longer_open(struct core *c, const struct kernel_call *k)
{
	struct mg_sock *s = sock_find(c, k->cookie);
	enum mg_direction dir = mg_syscall_direction(k->call);

	if (s && dir == MG_DIR_TX && s->tx.open_calls)
		s->tx.open_calls--;
	else if (s && dir == MG_DIR_RX && s->rx.open_calls)
		s->rx.open_calls--;
}

void call_on_enter(struct core *c, struct thread *t, const struct mg_event *e)
{
	const struct mg_sys_enter *p = &e->sys_enter;
	struct mg_sock *s = sock_get(c, p->sock);
	struct kernel_call *k = &t->now;

	if (t->in_call) { /* its end was lost */
		no_longer_open(c, k);
		kernel_call_free(k);
	}
	t->traced = true;
	memset(k, 0, sizeof(*k));
	k->enter = e->cycles;
	k->cookie = p->sock;
	k->call = p->call;
	k->kind = p->kind;
	k->flags = p->flags;
	k->asked = p->asked;
	k->enter_seq = p->seq;
	k->events = 1;
	t->in_call = true;
	t->off_cpu = false;
	t->in_softirq = false;
	t->fn = STATE_SOCKET;
	t->since = e->cycles;
	if (s) {
		s->tid = e->tid;
		s->pid = e->pid;
		s->kind = p->kind;
		if (mg_syscall_direction(p->call) == MG_DIR_TX)
			s->tx.open_calls++;
		else if (mg_syscall_direction(p->call) == MG_DIR_RX)
			s->rx.open_calls++;
	}
}

/* Bytes a call moved that no event of their own told of, by the stream position before and after.
 */
static void piece_by_position(struct core *c, struct kernel_call *k, uint32_t exit_seq)
{
	struct mg_sock *s = sock_find(c, k->cookie);
	uint32_t moved = exit_seq - k->enter_seq;
	enum mg_direction dir = mg_syscall_direction(k->call);
	struct flow *f;
	uint64_t off;

	if (!s || k->kind != MG_KIND_tcp || k->pieces || k->ret <= 0 || moved != k->ret)
		return;
	f = dir == MG_DIR_TX ? &s->tx : &s->rx;
	if (flow_offset(f, k->enter_seq, &off))
		call_add_piece(k, f, off, moved, dir == MG_DIR_TX ? k->enter : k->exit);
}

#define ERESTARTSYS           512
#define ERESTART_RESTARTBLOCK 516

/* The kernel left it for a signal's handler, to enter it again. */
static bool was_restarted(const struct kernel_call *k)
{
	return k->ret <= -ERESTARTSYS && k->ret >= -ERESTART_RESTARTBLOCK;
}

/* The handler is done; the call it came in between of is not restarted, but has ended (EINTR). */
static void end_interrupted(struct thread *t, const struct mg_sys_exit *p)
{
	for (uint32_t i = t->ended_n; i-- > 0;) {
		struct kernel_call *k = &t->ended[i];

		if (k->call == p->call && k->cookie == p->sock && was_restarted(k)) {
			k->ret = p->ret;
			return;
		}
	}
}

void call_on_exit(struct core *c, struct thread *t, const struct mg_event *e)
{
	struct kernel_call *k = &t->now;
	enum mg_direction dir;

	if (!t->in_call) {
		if (e->sys_exit.ret == -EINTR)
			end_interrupted(t, &e->sys_exit);
		return; /* its begin was lost, or was before the recording */
	}
	thread_set_state(t, e->cycles);
	t->in_call = false;
	k->exit = e->cycles;
	k->ret = e->sys_exit.ret;
	k->messages_bytes = e->sys_exit.bytes;
	k->events++;
	dir = mg_syscall_direction(k->call);
	if (dir == MG_DIR_TX)
		tx_end_call(k, e->sys_exit.seq);
	if (dir == MG_DIR_RX && k->flags & MSG_PEEK_FLAG)
		k->pieces = 0; /* looking consumes nothing */
	else
		piece_by_position(c, k, e->sys_exit.seq);
	if (t->ended_n == UNCLAIMED_MAX) { /* the oldest has no application event */
		struct kernel_call oldest = t->ended[0];

		memmove(t->ended, t->ended + 1, --t->ended_n * sizeof(*t->ended));
		call_settle(c, t, &oldest);
	}
	if (!t->ended)
		t->ended = calloc(UNCLAIMED_MAX, sizeof(*t->ended));
	if (t->ended)
		t->ended[t->ended_n++] = *k;
	else
		kernel_call_free(k);
	memset(k, 0, sizeof(*k));
}

static struct call_stats *stats_of(struct core *c, uint16_t id, uint8_t kind)
{
	struct call_key key = {.id = id, .kind = kind};
	struct call_stats *s = NULL;

	HASH_FIND(hh, c->calls, &key, sizeof(key), s);
	if (s)
		return s;
	s = calloc(1, sizeof(*s));
	if (s) {
		s->key = key;
		HASH_ADD(hh, c->calls, key, sizeof(s->key), s);
	}
	return s;
}

static void settle_bytes(struct core *c, struct kernel_call *k, uint64_t enter, uint64_t leave)
{
	no_longer_open(c, k);
	if (mg_syscall_direction(k->call) == MG_DIR_TX)
		tx_settle(c, k, enter);
	else
		rx_settle(c, k, leave);
}

static uint64_t moved_bytes(const struct kernel_call *k)
{
	uint64_t sum = 0;

	if (k->ret <= 0 || mg_syscall_direction(k->call) == MG_DIR_OTHER)
		return 0;
	if (k->call != MG_SYS_sendmmsg && k->call != MG_SYS_recvmmsg)
		return (uint64_t)k->ret;
	if (k->messages_bytes != UINT32_MAX) /* these return messages */
		return k->messages_bytes;
	for (uint32_t i = 0; i < k->pieces; i++)
		sum += k->piece[i].len;
	return sum;
}

/* A system call no application event belongs to: it is counted as what it is. */
void call_settle(struct core *c, struct thread *t, struct kernel_call *k)
{
	struct call_stats *s = stats_of(c, CALL_KERNEL_ONLY | k->call, k->kind);

	struct process *p = process_of(c, t);

	if (p && !was_restarted(k)) {
		p->kernel_only++;
		p->moved +=
			k->kind != MG_KIND_netlink && mg_syscall_direction(k->call) != MG_DIR_OTHER;
		p->io_uring += k->call == MG_SYS_io_uring_enter;
	}
	if (s && !was_restarted(k)) {
		s->n++;
		s->failed += k->ret < 0;
		s->bytes += moved_bytes(k);
		s->blocked_n += k->blocked_times != 0;
		dist_add(&s->total, k->exit - k->enter, 1);
	}
	for (uint32_t i = 0; i < k->pieces; i++)
		k->piece[i].flow->kernel_only += k->piece[i].len;
	settle_bytes(c, k, 0, 0);
	kernel_call_free(k);
}

void call_on_thread_end(struct core *c, struct thread *t)
{
	if (t->in_call) { /* it died in there */
		no_longer_open(c, &t->now);
		kernel_call_free(&t->now);
		t->in_call = false;
	}
	call_settle_thread(c, t);
}

void call_settle_thread(struct core *c, struct thread *t)
{
	for (uint32_t i = 0; i < t->ended_n; i++)
		call_settle(c, t, &t->ended[i]);
	t->ended_n = 0;
}

/*
 * An application event follows its system call at once: what has waited so long has none. Unless
 * the thread could not go on: stopped, traced, or on a CPU that others had.
 */
#define UNCLAIMED_NS 300000000

static bool has_no_event(
	struct core *c, const struct thread *t, const struct kernel_call *k, uint64_t now)
{
	uint64_t from = k->exit > t->held_until ? k->exit : t->held_until;

	return !(t->off_cpu && t->held) && clockmap_ns(&c->clock, from) + UNCLAIMED_NS < now;
}

void call_settle_old(struct core *c, uint64_t now)
{
	struct thread *t, *tmp;

	HASH_ITER (hh, c->threads, t, tmp) {
		uint32_t old = 0;

		while (old < t->ended_n && has_no_event(c, t, &t->ended[old], now))
			call_settle(c, t, &t->ended[old++]);
		t->ended_n -= old;
		if (old)
			memmove(t->ended, t->ended + old, t->ended_n * sizeof(*t->ended));
	}
}

/*
 * The system call an application call made: the last within it, since what handlers of signals did
 * in between has been claimed by their own events. Its index, or -1.
 */
static int claim(const struct core *c, const struct thread *t, uint64_t enter, uint64_t leave)
{
	uint64_t slack = (uint64_t)clockmap_error(&c->clock) + 1;

	for (int i = (int)t->ended_n - 1; i >= 0; i--)
		if (t->ended[i].enter + slack >= enter && t->ended[i].exit <= leave + slack)
			return i;
	return -1;
}

/*
 * A signal's handler with SA_RESTART makes the kernel enter the call again: what came before is
 * part of it. Returns the call's index, which moves as its earlier parts are merged into it.
 */
static int merge_restarted(struct core *c, struct thread *t, int i, uint64_t enter)
{
	while (i > 0) {
		struct kernel_call *k = &t->ended[i], *before = k - 1;

		if (before->call != k->call || before->cookie != k->cookie ||
			!was_restarted(before) || before->enter < enter)
			break;
		thread_user_time(t, before->exit, k->enter, STATE_ENTRY, k->state);
		for (int s = 0; s < STATES; s++)
			k->state[s] += before->state[s];
		k->enter = before->enter;
		k->events += before->events;
		k->blocked_times += before->blocked_times;
		no_longer_open(c, before);
		kernel_call_free(before);
		memmove(before, k, (t->ended_n-- - (uint32_t)i) * sizeof(*k));
		i--;
	}
	return i;
}

/* Where the call's time went; the states sum to leave - enter. */
static void divide(const struct thread *t, const struct kernel_call *k, uint64_t enter,
	uint64_t leave, uint64_t state[STATES])
{
	/* within the clock's bound a boundary may seem to lie outside: then it lies on the edge */
	uint64_t k0 = k->enter < enter ? enter : k->enter > leave ? leave : k->enter;
	uint64_t k1 = k->exit > leave ? leave : k->exit < k0 ? k0 : k->exit;
	uint64_t inside = k->exit - k->enter, is = k1 - k0;

	memcpy(state, k->state, STATES * sizeof(*state));
	for (int s = 0; s < STATES && inside > is; s++) {
		uint64_t cut = state[s] < inside - is ? state[s] : inside - is;

		state[s] -= cut;
		inside -= cut;
	}
	thread_user_time(t, enter, k0, STATE_ENTRY, state);
	thread_user_time(t, k1, leave, STATE_RETURN, state);
}

/*
 * D^ = D - sum n c: probes cost on-CPU time only. The cost is calibrated on the system call's own
 * two events; other hooks cost between half and one and a half of that (tests/bench), which is part
 * of the uncertainty. u^2 = 2 u_ts^2 + (n u_c)^2, printed as 2u (GUM, JCGM 100).
 */
static void add_overhead(struct core *c, struct call_stats *s, const struct kernel_call *k,
	const uint64_t state[STATES])
{
	double per_event = c->calibration.event_cycles, u_ts = clockmap_error(&c->clock) / 2;
	double n = k->events, other = n > 2 ? n - 2 : 0, u;
	uint64_t overhead = 0, probes;

	for (int i = 0; i < STATES; i++)
		if (STATE_IS_OVERHEAD(i))
			overhead += state[i];
	probes = (uint64_t)(n * per_event) + c->calibration.read_cycles;
	if (probes > overhead)
		probes = overhead;
	s->probe_cycles += probes;
	u = sqrt(2 * u_ts * u_ts + pow(n * c->calibration.event_spread, 2) +
		 pow(other * per_event / 2, 2));
	s->uncertainty += (2 * u - s->uncertainty) / (double)s->joined;
	dist_add(k->blocked_times ? &s->overhead_blocked : &s->overhead, overhead - probes, 1);
}

static void note_thread(struct flow *f, uint32_t tid)
{
	for (uint32_t i = 0; i < f->threads; i++)
		if (f->thread[i] == tid)
			return;
	if (f->threads < sizeof(f->thread) / sizeof(f->thread[0]))
		f->thread[f->threads++] = tid;
}

static void join(struct core *c, struct thread *t, struct kernel_call *k, const struct mg_event *e,
	struct call_stats *s)
{
	const struct mg_call *p = &e->call;
	uint64_t state[STATES], sum = 0;
	struct mg_sock *sock;

	divide(t, k, p->enter, p->exit, state);
	s->joined++;
	for (int i = 0; i < STATES; i++) {
		s->state[i] += state[i];
		sum += state[i];
	}
	if (sum != p->exit - p->enter)
		c->state_mismatch++;
	s->blocked_n += k->blocked_times != 0;
	/* without the scheduler, waiting cannot be told from working */
	if (core_observes(c, MG_EVENT_sched_switch))
		add_overhead(c, s, k, state);
	sock = sock_find(c, k->cookie);
	if (sock && mg_syscall_direction(k->call) != MG_DIR_OTHER) {
		struct flow *f = mg_syscall_direction(k->call) == MG_DIR_TX ? &sock->tx : &sock->rx;

		f->blocked += state[STATE_BLOCKED];
		note_thread(f, e->tid);
		f->call_cycles += sum;
	}
	settle_bytes(c, k, p->enter, p->exit);
}

void call_on_app(struct core *c, struct thread *t, const struct mg_event *e, struct annotation *a)
{
	const struct mg_call *p = &e->call;
	uint16_t fn = (uint16_t)(e->id - MG_APP_BASE);
	enum mg_direction dir = mg_function_direction(fn);
	struct process *process;
	struct call_stats *s;
	int i;

	t->traced = true;
	if (dir == MG_DIR_ENTRY)
		return;
	process = process_of(c, t);
	if (process)
		process->app++;
	s = stats_of(c, fn, p->kind);
	i = dir == MG_DIR_WAIT ? -1 : claim(c, t, p->enter, p->exit);
	if (p->logged)
		dist_add(&c->logged, p->logged, 1);
	if (!s)
		return;
	s->n++;
	s->failed += p->ret < 0;
	if (fn == MG_FN_sendmmsg || fn == MG_FN_recvmmsg)
		s->bytes += p->bytes;
	else if (p->ret > 0 && (dir == MG_DIR_TX || dir == MG_DIR_RX))
		s->bytes += (uint64_t)p->ret;
	dist_add(&s->total, p->exit - p->enter, 1);
	if (i < 0) {
		c->unjoined += dir != MG_DIR_WAIT; /* the kernel side does not follow those */
		return;
	}
	i = merge_restarted(c, t, i, p->enter);
	a->sock = sock_find(c, t->ended[i].cookie);
	a->rx = dir == MG_DIR_RX;
	if (t->ended[i].pieces) {
		a->has_offset = true;
		a->offset = t->ended[i].piece[0].off;
		a->rx = t->ended[i].piece[0].flow->rx;
		for (uint32_t j = 0; j < t->ended[i].pieces; j++)
			a->length += t->ended[i].piece[j].len;
	}
	mark_on_bytes(c, t, &t->ended[i]);
	join(c, t, &t->ended[i], e, s);
	/* its pieces are kept until the next call, for whoever is told of this one */
	kernel_call_free(&t->told);
	t->told = t->ended[i];
	a->piece = t->told.piece;
	a->pieces = t->told.pieces;
	t->ended_n--;
	memmove(t->ended + i, t->ended + i + 1, (t->ended_n - (uint32_t)i) * sizeof(*t->ended));
}
