/* SPDX-License-Identifier: MIT */
/*
 * Joins application calls with the system calls within them, by thread and nesting (U0 <= K0 <= K1
 * <= U1), never by descriptor (method, "System-call overhead").
 */
#include "call/call_join.h"

#include <math.h>
#include <string.h>

#include "core.h"
#include "event_table.h"
#include "call/call.h"
#include "call/call_exchange.h"
#include "call/call_fact.h"
#include "call/call_settle.h"
#include "call/descriptor.h"
#include "call/mark.h"
#include "clock/clockmap.h"
#include "coverage/gap.h"
#include "coverage/side.h"
#include "message/pieces.h"
#include "socket/socket.h"
#include "task/process.h"
#include "task/thread.h"
#include "task/threads.h"

/*
 * Returns the index of the system call that an application call made, or -1: the last one within
 * it, since calls of signal handlers in between were claimed by their own events.
 */
static int claim(const struct core *c, const struct thread *t, uint64_t enter, uint64_t leave)
{
	uint64_t slack = clock_slack(clockmap_error(&c->clock));

	for (int i = (int)t->done.n - 1; i >= 0; i--)
		if (t->done.call[i].enter + slack >= enter && t->done.call[i].exit <= leave + slack)
			return i;
	return -1;
}

/*
 * Returns whether `k` is the restart of `before`: after a handler with SA_RESTART the kernel enters
 * the call again, and the first part and the handler's time belong to it.
 */
static bool is_restart(const struct kernel_call *before, const struct kernel_call *k)
{
	return before->call == k->call && before->cookie == k->cookie && call_was_restarted(before);
}

/* Merges the preceding call into this one. */
static void merge_restart(struct core *c, struct thread *t, int i)
{
	struct kernel_call *k = &t->done.call[i], *before = k - 1;

	thread_user_time(t, before->exit, k->enter, STATE_SIGNAL, k->state);
	for (int s = 0; s < STATES; s++)
		k->state[s] += before->state[s];
	k->enter = before->enter;
	k->cpu = before->cpu;
	k->events += before->events;
	k->blocked_times += before->blocked_times;
	/* for the handler, which may have moved to another CPU */
	k->left_times += before->left_times + 1;
	k->waker_events += before->waker_events;
	k->locked_out += before->locked_out;
	k->incomplete |= before->incomplete;
	call_no_longer_open(c, before);
	kernel_call_free(before);
	memmove(before, k, (t->done.n-- - (uint32_t)i) * sizeof(*k));
}

void call_merge_restarts(struct core *c, struct thread *t)
{
	for (int i = (int)t->done.n - 1; i > 0; i--)
		if (is_restart(&t->done.call[i - 1], &t->done.call[i]))
			merge_restart(c, t, i);
}

/* Merges the earlier parts into the call; returns its new index. */
static int merge_restarted(struct core *c, struct thread *t, int i, uint64_t enter)
{
	while (i > 0 && is_restart(&t->done.call[i - 1], &t->done.call[i]) &&
		t->done.call[i - 1].enter >= enter)
		merge_restart(c, t, i--);
	return i;
}

/* Divides the call's time into states, which sum to leave - enter. */
static void divide(const struct thread *t, const struct kernel_call *k, uint64_t enter,
	uint64_t leave, uint64_t state[STATES])
{
	/*
	 * within the clock's bound a timestamp may seem to lie outside: then it is moved to the
	 * edge
	 */
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

bool call_is_complete(const struct core *c, const struct thread *t, const struct kernel_call *k,
	uint64_t enter, uint64_t leave)
{
	/* a thread that stays on its CPU cannot miss events on another */
	bool moved = k->left_times != 0;

	if (k->incomplete || (t->missed.to > enter && t->missed.from < leave))
		return false;
	return !gap_within(
		c, MG_LAYER_SCHED, enter, leave, moved ? -1 : k->cpu, moved ? -1 : t->cpu);
}

static void note_thread(struct flow *f, uint32_t tid)
{
	for (uint32_t i = 0; i < f->use.threads; i++)
		if (f->use.thread[i] == tid)
			return;
	if (f->use.threads < sizeof(f->use.thread) / sizeof(f->use.thread[0]))
		f->use.thread[f->use.threads++] = tid;
}

static void join(struct core *c, struct thread *t, struct kernel_call *k, const struct mg_event *e)
{
	const struct mg_call *p = &e->call;
	uint64_t state[STATES], sum = 0;
	struct mg_sock *sock;

	if (t->away.now && t->away.since < p->exit) /* its return to the CPU was not seen */
		thread_is_running(c, t, p->exit);
	divide(t, k, p->enter, p->exit, state);
	for (int i = 0; i < STATES; i++)
		sum += state[i];
	if (sum != p->exit - p->enter)
		c->checks.state_mismatch++;
	sock = sock_find(c, k->cookie);
	if (sock && mg_syscall_direction(k->call) != MG_DIR_OTHER) {
		struct flow *f = mg_syscall_direction(k->call) == MG_DIR_TX ? &sock->tx : &sock->rx;

		f->use.blocked += state[STATE_BLOCKED];
		note_thread(f, e->tid);
		f->use.cycles += sum;
	}
	call_settle_bytes(c, k, p->enter, p->exit);
	call_settle_exchange(c, t, k, (uint16_t)(e->id - MG_APP_BASE), p->enter, p->exit);
	memcpy(k->state, state, sizeof(state)); /* for listeners */
}

/*
 * Counts a call without its system call, which is lost, or came before the kernel side began or
 * after it ended.
 */
static enum fact_no_call count_unjoined(struct core *c, const struct mg_call *p)
{
	c->checks.unjoined++;
	if (side_misses(c, CORE_KERNEL, p->enter, p->exit) ||
		gap_within(c, MG_LAYER_SYSCALL, p->enter, p->exit, -1, -1))
		return NO_CALL_LOST;
	return NO_CALL_NONE;
}

uint64_t core_app_call_bytes(const struct mg_event *e)
{
	uint16_t fn = (uint16_t)(e->id - MG_APP_BASE);
	enum mg_direction dir = mg_function_direction(fn);
	const struct mg_call *p = &e->call;

	if ((dir != MG_DIR_TX && dir != MG_DIR_RX) ||
		(dir == MG_DIR_RX && p->flags & MOVES_NOTHING))
		return 0;
	if (fn == MG_FN_sendmmsg || fn == MG_FN_recvmmsg) /* these return a number of messages */
		return p->bytes;
	return p->ret > 0 ? (uint64_t)p->ret : 0;
}

void call_on_app(struct core *c, struct thread *t, const struct mg_event *e, struct annotation *a)
{
	const struct mg_call *p = &e->call;
	uint16_t fn = (uint16_t)(e->id - MG_APP_BASE);
	enum mg_direction dir = mg_function_direction(fn);
	struct process *process;
	struct mg_sock *sock;
	uint64_t bytes = core_app_call_bytes(e);
	int i;

	t->traced = true;
	if (dir == MG_DIR_ENTRY)
		return;
	process = process_of(c, t);
	if (process)
		process->app++;
	i = dir == MG_DIR_WAIT ? -1 : claim(c, t, p->enter, p->exit);
	if (process && fn == MG_FN_close)
		descriptor_closed(process, p->fd);
	if (i < 0) {
		thread_note_inner(t, p->enter, p->exit);
		if (process)
			descriptor_lost(c, process, p, dir, bytes);
		/* the kernel side does not follow waits such as epoll_wait() */
		call_tell_app(c, t, e, NULL, bytes,
			dir == MG_DIR_WAIT ? NO_CALL_SEEN : count_unjoined(c, p));
		return;
	}
	i = merge_restarted(c, t, i, p->enter);
	a->sock = sock = sock_find(c, t->done.call[i].cookie);
	if (process && bytes && sock && sock->kind != MG_KIND_tcp)
		descriptor_is(process, p->fd, sock);
	a->rx = dir == MG_DIR_RX;
	if (t->done.call[i].pieces) {
		a->has_offset = true;
		a->offset = t->done.call[i].piece[0].off;
		a->rx = t->done.call[i].piece[0].flow->rx;
		for (uint32_t j = 0; j < t->done.call[i].pieces; j++)
			a->length += t->done.call[i].piece[j].len;
	}
	mark_on_bytes(c, t, &t->done.call[i]);
	join(c, t, &t->done.call[i], e);
	call_tell_app(c, t, e, &t->done.call[i], bytes, NO_CALL_SEEN);
	thread_note_inner(t, p->enter, p->exit);
	/* its pieces are kept until the next call, for listeners */
	kernel_call_free_for(&t->claimed, &t->now);
	t->claimed = t->done.call[i];
	a->piece = t->claimed.piece;
	a->pieces = t->claimed.pieces;
	a->call = &t->claimed;
	t->done.n--;
	memmove(t->done.call + i, t->done.call + i + 1,
		(t->done.n - (uint32_t)i) * sizeof(*t->done.call));
}
