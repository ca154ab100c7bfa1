/* SPDX-License-Identifier: MIT */
/* Follows system calls from entry to exit. */
#include "call/call.h"

#include <stdlib.h>
#include <string.h>

#include "alloc.h"
#include "core.h"
#include "event_table.h"
#include "call/call_exchange.h"
#include "call/call_join.h"
#include "call/call_settle.h"
#include "coverage/gap.h"
#include "coverage/side.h"
#include "message/datagram.h"
#include "message/pieces.h"
#include "socket/anchor.h"
#include "socket/socket.h"
#include "stream/tx_call.h"
#include "task/holders.h"
#include "task/piece.h"
#include "task/process.h"
#include "task/thread.h"
#include "task/threads.h"

/*
 * Limits of system calls kept for their application events, which may be late if there is an
 * application side.
 */
#define UNCLAIMED_FEW 8
#define UNCLAIMED_MAX 64
#define MSG_MORE_FLAG 0x8000

/* level * 65536 + name of socket options */
#define OPTION_ULP              (6 << 16 | 31)
#define OPTION_RCVLOWAT         (1 << 16 | 18)
#define OPTION_ZEROCOPY_RECEIVE (6 << 16 | 35)

/* Returns a call's direction; getsockopt() may receive, too. */
static enum mg_direction direction(const struct kernel_call *k)
{
	return k->call == MG_SYS_getsockopt && k->option == OPTION_ZEROCOPY_RECEIVE
		       ? MG_DIR_RX
		       : mg_syscall_direction(k->call);
}

static struct flow *flow_of_call(struct core *c, const struct kernel_call *k)
{
	struct mg_sock *s = sock_find(c, k->cookie);
	enum mg_direction dir = direction(k);

	return s && dir == MG_DIR_TX ? &s->tx : s && dir == MG_DIR_RX ? &s->rx : NULL;
}

void call_no_longer_open(struct core *c, const struct kernel_call *k)
{
	struct flow *f = flow_of_call(c, k);

	if (f && f->use.open)
		f->use.open--;
}

static void enters_kernel(struct core *c, const struct kernel_call *k)
{
	struct flow *f = flow_of_call(c, k);

	if (f) {
		f->use.open++;
		f->use.in_kernel++;
	}
}

static void leaves_kernel(struct core *c, const struct kernel_call *k)
{
	struct flow *f = flow_of_call(c, k);

	if (f && f->use.in_kernel)
		f->use.in_kernel--;
}

void call_abandon(struct core *c, struct thread *t)
{
	leaves_kernel(c, &t->now);
	call_no_longer_open(c, &t->now);
	kernel_call_free(&t->now);
	t->in_call = false;
}

void call_on_enter(struct core *c, struct thread *t, const struct mg_event *e)
{
	const struct mg_sys_enter *p = &e->sys_enter;
	struct mg_sock *s = sock_get(c, p->sock);
	struct kernel_call *k = &t->now;

	if (t->in_call) /* its end was lost */
		call_abandon(c, t);
	t->traced = true;
	if (t->away.now) /* that it got the CPU was not seen */
		thread_is_running(c, t, e->cycles);
	kernel_call_clear(k);
	k->enter = e->cycles;
	k->cpu = e->cpu;
	k->cookie = p->sock;
	k->call = p->call;
	k->kind = p->kind;
	k->flags = p->flags;
	k->option = p->option;
	k->asked = p->asked;
	k->enter_seq = p->seq;
	k->events = 1;
	k->mss = p->mss;
	if (p->mss)
		k->nagle = NAGLE_KNOWN | p->nagle | (p->flags & MSG_MORE_FLAG ? NAGLE_MORE : 0);
	t->segment_of = 0;
	t->in_call = true;
	t->away.now = false;
	t->in_irq = t->in_softirq = t->wake.valid = t->away.held = false;
	t->wake.early = 0;
	t->fn = STATE_SOCKET;
	t->at_lock = false;
	t->since = e->cycles;
	if (s) {
		sock_used_by(c, s, t);
		s->kind = p->kind;
		enters_kernel(c, k);
	}
}

/* Finds the bytes that a call moved from the stream's position before and after. */
static bool position(const struct kernel_call *k, const struct mg_sock *s, enum mg_direction dir,
	uint32_t *from, uint32_t *to)
{
	uint32_t moved, bytes = (uint32_t)k->ret;

	*from = k->enter_seq;
	*to = dir == MG_DIR_RX ? before_fin(&s->rx, k->exit_seq) : k->exit_seq;
	moved = *to - *from;
	/* it returns no length: no other thread may have read meanwhile */
	if (k->call == MG_SYS_getsockopt)
		return k->ret == 0 && moved && moved <= INT32_MAX && s->rx.use.open == 1;
	if (k->ret <= 0)
		return false;
	if (moved == bytes)
		return true;
	/* a SYN preceded them (RFC 7413), or an urgent byte was skipped */
	*from = *to - bytes;
	return dir == MG_DIR_TX ? !s->tx.use.calls && (moved == bytes + 1 || !k->enter_seq)
				: s->rx.urgent.seen && moved == bytes + 1;
}

/* Adds the bytes that a call moved without an event of their own. */
static void piece_by_position(struct core *c, struct kernel_call *k, enum mg_direction dir)
{
	struct mg_sock *s = sock_find(c, k->cookie);
	struct flow *f;
	uint32_t from, to;
	uint64_t off;

	if (!s || k->kind != MG_KIND_tcp || k->pieces || !position(k, s, dir, &from, &to))
		return;
	f = dir == MG_DIR_TX ? &s->tx : &s->rx;
	if (flow_offset(f, from, &off))
		call_add_piece(k, f, off, to - from, dir == MG_DIR_TX ? k->enter : k->exit);
}

/* Drops the sends of a call without direction (io_uring), whose length is not reported. */
static void forget_sends(struct kernel_call *k)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; i < k->pieces; i++)
		if (k->piece[i].flow->rx)
			k->piece[kept++] = k->piece[i];
		else
			piece_release(&k->piece[i]);
	k->pieces = kept;
}

static void end_pieces(struct core *c, struct kernel_call *k)
{
	enum mg_direction dir = direction(k);

	if (dir == MG_DIR_TX)
		call_drop_pieces(k, tx_end_call(k, k->exit_seq));
	else if (k->copied)
		forget_sends(k);
	/* mapped data are reported at its exit, together with what had to be copied */
	if (dir == MG_DIR_RX && (k->flags & MOVES_NOTHING || k->call == MG_SYS_getsockopt))
		call_drop_pieces(k, 0);
	if (dir == MG_DIR_TX || (dir == MG_DIR_RX && !(k->flags & MOVES_NOTHING)) ||
		k->call == MG_SYS_getsockopt)
		piece_by_position(c, k, dir);
}

/*
 * Removes copy times after a loss: the event with the actual time may be missing, and none is
 * invented.
 */
static void forget_copies(struct kernel_call *k, enum mg_direction dir)
{
	for (uint32_t i = 0; dir == MG_DIR_TX && i < k->pieces; i++)
		k->piece[i].t = 0;
	if (dir == MG_DIR_RX && k->pieces == 1 && k->piece[0].t == k->exit)
		call_drop_pieces(k, 0);
}

#define ERESTARTSYS           512
#define ERESTART_RESTARTBLOCK 516

/* Returns whether the kernel left the call for a signal handler, to enter it again. */
bool call_was_restarted(const struct kernel_call *k)
{
	return k->ret <= -ERESTARTSYS && k->ret >= -ERESTART_RESTARTBLOCK;
}

/* Ends a call that a handler had interrupted and that is not restarted (EINTR). */
static void end_interrupted(struct thread *t, const struct mg_sys_exit *p, uint64_t now)
{
	for (uint32_t i = t->done.n; i-- > 0;) {
		struct kernel_call *k = &t->done.call[i];

		if (k->call == p->call && k->cookie == p->sock && call_was_restarted(k)) {
			/* the handler's time is part of it */
			thread_user_time(t, k->exit, now, STATE_SIGNAL, k->state);
			k->exit = now;
			k->ret = p->ret;
			return;
		}
	}
}

/*
 * Returns whether the exit may be another call's: its own exit, and the other's entry, may be lost.
 */
static bool is_anothers_end(
	const struct core *c, const struct kernel_call *k, const struct mg_event *e)
{
	bool moved = k->left_times != 0;

	return k->call != e->sys_exit.call || k->cookie != e->sys_exit.sock ||
	       gap_within(c, MG_LAYER_SYSCALL, k->enter, e->cycles, moved ? -1 : k->cpu,
		       moved ? -1 : e->cpu);
}

/* Advances the stream by TCP's own counters, which are right even where events are lost. */
static void note_position(struct core *c, const struct mg_sys_exit *p)
{
	struct mg_sock *s = sock_find(c, p->sock);
	enum mg_direction dir = mg_syscall_direction(p->call);
	uint64_t off;

	if (!s || s->kind != MG_KIND_tcp)
		return;
	if (dir == MG_DIR_TX && s->tx.anchor.set && flow_offset(&s->tx, p->seq, &off) &&
		off > s->tx.total)
		s->tx.total = off;
	/* a FIN that was read has a number, too */
	if (dir == MG_DIR_RX && s->rx.anchor.set && flow_offset(&s->rx, p->seq - 1, &off) &&
		off > s->rx.total)
		s->rx.total = off;
}

/* Learns a call's socket that was opened, or first met, within the call. */
static void learn_socket(struct core *c, struct kernel_call *k, const struct mg_sys_exit *p)
{
	if (k->cookie || !p->sock || k->kind != MG_KIND_tcp || k->call != p->call)
		return;
	k->cookie = p->sock;
	enters_kernel(c, k);
}

void call_moves_to(struct core *c, struct thread *t, uint64_t cookie)
{
	leaves_kernel(c, &t->now);
	call_no_longer_open(c, &t->now);
	t->now.cookie = cookie;
	if (sock_get(c, cookie))
		enters_kernel(c, &t->now);
}

/*
 * Returns whether the process has made so many calls without an application event that none is
 * expected: its program is statically linked, say, or was started without libmagnet.so.
 */
static bool has_no_app_events(struct core *c, struct thread *t)
{
	const struct process *p = process_of(c, t);

	return p && !p->app && p->kernel_only >= UNCLAIMED_MAX;
}

/*
 * Makes room for one more call; the oldest get no application event. Returns false if memory is
 * short.
 */
static bool keep_unclaimed(struct core *c, struct thread *t, const struct kernel_call *k)
{
	uint32_t most = has_app_side(c) && !has_no_app_events(c, t) ? UNCLAIMED_MAX : UNCLAIMED_FEW;
	uint32_t few;
	struct kernel_call *more;

	if (t->done.n >= most)
		call_merge_restarts(c, t);
	if (t->done.n >= most) { /* half of them at once, as moving the others takes time */
		few = most == UNCLAIMED_FEW ? t->done.n - most + 1 : most / 2;
		call_settle_oldest(c, t, few);
	}
	if (t->done.n < t->done.cap)
		return true;
	more = mg_realloc(t->done.call, (t->done.n + UNCLAIMED_FEW) * sizeof(*k));
	if (!more)
		return false;
	t->done.call = more;
	t->done.cap = t->done.n + UNCLAIMED_FEW;
	holders_set(c, t, true);
	return true;
}

void call_on_exit(struct core *c, struct thread *t, const struct mg_event *e)
{
	struct kernel_call *k = &t->now;

	if (c->counts.lost_kernel && e->sys_exit.ret > 0)
		note_position(c, &e->sys_exit);
	if (!t->in_call) {
		if (e->sys_exit.ret == -EINTR)
			end_interrupted(t, &e->sys_exit, e->cycles);
		return; /* its begin was lost, or preceded the recording */
	}
	learn_socket(c, k, &e->sys_exit);
	if (is_anothers_end(c, k, e)) {
		call_abandon(c, t);
		return;
	}
	if (t->away.now) /* that it got the CPU was not seen */
		thread_is_running(c, t, e->cycles);
	thread_set_state(t, e->cycles);
	k->incomplete |= t->at_lock; /* its getting the lock, or releasing it, was not seen */
	t->in_call = false;
	t->segment_of = 0;
	leaves_kernel(c, k);
	k->exit = e->cycles;
	k->ret = e->sys_exit.ret;
	k->messages_bytes = e->sys_exit.bytes;
	k->events++;
	k->exit_seq = e->sys_exit.seq;
	if (k->kind == MG_KIND_tcp) {
		end_pieces(c, k);
	} else {
		if (k->copied)
			forget_sends(k);
		datagram_end_call(c, t, e);
	}
	if (gap_within(c, MG_LAYER_SOCKET, k->enter, k->exit, -1, -1))
		forget_copies(k, direction(k));
	call_tell_exchange(c, t, k);
	if (k->call == MG_SYS_setsockopt && k->option == OPTION_ULP && k->ret == 0)
		sock_on_ulp(c, k->cookie);
	c->low_water |= k->call == MG_SYS_setsockopt && k->option == OPTION_RCVLOWAT && k->ret == 0;
	if (keep_unclaimed(c, t, k))
		t->done.call[t->done.n++] = *k;
	else
		kernel_call_free(k);
	memset(k, 0, sizeof(*k));
}
