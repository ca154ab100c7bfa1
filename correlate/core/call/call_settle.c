/* SPDX-License-Identifier: MIT */
/*
 * Settles system calls that have ended: the bytes they moved, and those without an application
 * event.
 */
#include "call/call_settle.h"

#include <stdlib.h>
#include <string.h>

#include "alloc.h"
#include "core.h"
#include "event_table.h"
#include "call/call.h"
#include "call/call_exchange.h"
#include "call/call_fact.h"
#include "call/call_join.h"
#include "clock/clockmap.h"
#include "coverage/side.h"
#include "message/datagram.h"
#include "message/pieces.h"
#include "message/unmapped.h"
#include "socket/socket.h"
#include "stream/rx_call.h"
#include "stream/tx_call.h"
#include "task/holders.h"
#include "task/process.h"
#include "task/threads.h"

uint64_t call_moved_bytes(const struct kernel_call *k)
{
	uint64_t sum = 0;

	enum mg_direction dir = mg_syscall_direction(k->call);

	if (k->ret <= 0 || dir == MG_DIR_OTHER || (dir == MG_DIR_RX && k->flags & MOVES_NOTHING))
		return 0;
	if (k->call != MG_SYS_sendmmsg && k->call != MG_SYS_recvmmsg)
		return (uint64_t)k->ret;
	if (k->messages_bytes != UINT32_MAX) /* these return a number of messages */
		return k->messages_bytes;
	for (uint32_t i = 0; i < k->pieces; i++)
		sum += k->piece[i].len;
	return sum;
}

void call_settle_bytes(struct core *c, struct kernel_call *k, uint64_t enter, uint64_t leave)
{
	struct mg_sock *s = sock_find(c, k->cookie);

	call_no_longer_open(c, k);
	if (s && s->ulp)
		unmapped_settle(c, s, k, enter, leave, call_moved_bytes(k));
	else if (s && s->kind != MG_KIND_tcp)
		datagram_settle(c, s, k, enter, leave, call_moved_bytes(k));
	else if (mg_syscall_direction(k->call) == MG_DIR_TX)
		tx_settle(c, k, enter, leave);
	else
		rx_settle(c, k, leave);
}

/* Returns the bytes of a piece without those that were queued before the recording. */
static uint64_t of_recording(const struct piece *p)
{
	uint64_t end = p->off + p->len, from = p->off > p->flow->start ? p->off : p->flow->start;

	return end > from ? end - from : 0;
}

/* Settles a system call without an application event: it counts under its own name. */
void call_settle(struct core *c, struct thread *t, struct kernel_call *k)
{
	struct process *p = process_of(c, t);

	if (p && !call_was_restarted(k)) {
		p->kernel_only++;
		p->moved +=
			k->kind != MG_KIND_netlink && mg_syscall_direction(k->call) != MG_DIR_OTHER;
		p->io_uring += k->call == MG_SYS_io_uring_enter;
	}
	for (uint32_t i = 0; i < k->pieces; i++)
		k->piece[i].flow->use.kernel_only += of_recording(&k->piece[i]);
	call_settle_bytes(c, k, 0, 0);
	call_settle_exchange(c, t, k, FACT_SYSTEM_CALL | k->call, 0, 0);
	if (!call_was_restarted(k))
		call_tell_kernel(c, t, k, call_moved_bytes(k));
	kernel_call_free(k);
}

static void forget_ended(struct core *c, struct thread *t)
{
	holders_set(c, t, false);
	free(t->done.call);
	t->done.call = NULL;
	t->done.cap = 0;
}

void call_on_thread_end(struct core *c, struct thread *t)
{
	if (t->in_call) /* it ended inside the call */
		call_abandon(c, t);
	call_settle_thread(c, t);
	forget_ended(c, t);
}

void call_on_thread_exit(struct core *c, struct thread *t)
{
	if (t->in_call)
		call_abandon(c, t);
	t->has_ended = true;
	if (!has_app_side(c) || !t->done.n)
		call_on_thread_end(c, t);
}

void call_settle_oldest(struct core *c, struct thread *t, uint32_t n)
{
	if (!n)
		return;
	for (uint32_t i = 0; i < n; i++)
		call_settle(c, t, &t->done.call[i]);
	t->done.n -= n;
	memmove(t->done.call, t->done.call + n, t->done.n * sizeof(*t->done.call));
}

void call_settle_thread(struct core *c, struct thread *t)
{
	call_settle_oldest(c, t, t->done.n);
}

/*
 * An application event follows its system call at once, or after those of threads that share a
 * buffer and were held up: later none is expected, unless the thread could not run because it was
 * stopped, traced, or without a CPU.
 */
#define UNCLAIMED_NS 300000000

static bool has_no_event(
	struct core *c, const struct thread *t, const struct kernel_call *k, uint64_t now)
{
	uint64_t from = k->exit > t->away.held_until ? k->exit : t->away.held_until;

	return !(t->away.now && t->away.held && !t->has_ended) &&
	       clockmap_ns(&c->clock, from) + UNCLAIMED_NS < now;
}

void call_settle_old(struct core *c, uint64_t now)
{
	struct thread *t;

	for (uint32_t i = 0; (t = holders_from(c, i)); i = t->number + 1) {
		uint32_t old = 0;

		while (old < t->done.n && has_no_event(c, t, &t->done.call[old], now))
			old++;
		if (old)
			call_settle_oldest(c, t, old);
		if (t->has_ended && !t->done.n)
			forget_ended(c, t);
	}
	processes_settle(c, now - (now > UNCLAIMED_NS ? UNCLAIMED_NS : now));
}
