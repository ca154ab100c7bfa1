/* SPDX-License-Identifier: MIT */
#include "call/call_exchange.h"

#include <errno.h>

#include "event_table.h"
#include "call/call_settle.h"
#include "coverage/gap.h"
#include "exchange/exchange.h"
#include "socket/socket.h"
#include "task/threads.h"

static bool has_exchanges(uint8_t kind)
{
	return kind != MG_KIND_netlink && kind > MG_KIND_other;
}

/* Returns whether a call that reads nothing has read the end. */
static bool is_stream(uint8_t kind)
{
	return kind != MG_KIND_udp && kind != MG_KIND_unix_dgram && kind != MG_KIND_raw;
}

/* Returns whether the call found the end of a stream: it asked for bytes, and there are none. */
static bool found_end(const struct kernel_call *k)
{
	bool tells_length = k->call == MG_SYS_read || k->call == MG_SYS_recvfrom;

	return k->ret == 0 && is_stream(k->kind) && (k->asked || !tells_length);
}

static struct exchange_call exchange_call(const struct thread *t, const struct kernel_call *k)
{
	struct exchange_call x = {.enter = k->enter,
		.exit = k->exit,
		.offset = k->pieces ? k->piece[0].off : FACT_NONE,
		.bytes = call_moved_bytes(k),
		.pid = t->pid,
		.tid = t->tid,
		.function = FACT_SYSTEM_CALL | k->call,
		.rx = mg_syscall_direction(k->call) == MG_DIR_RX,
		.is_short = (k->call == MG_SYS_write || k->call == MG_SYS_sendto) && k->ret >= 0 &&
			    (uint64_t)k->ret < k->asked};

	if (k->call != MG_SYS_getsockopt)
		return x;
	x.rx = true; /* mapped data */
	for (uint32_t i = 0; i < k->pieces; i++)
		x.bytes += k->piece[i].len;
	return x;
}

void call_tell_exchange(struct core *c, const struct thread *t, const struct kernel_call *k)
{
	enum mg_direction dir = mg_syscall_direction(k->call);
	bool shuts = k->call == MG_SYS_shutdown && k->ret == 0;
	struct exchange_call x;
	struct mg_sock *s;

	if (!exchanges_wanted(c) || !has_exchanges(k->kind))
		return;
	if (dir == MG_DIR_OTHER && !shuts && !(k->call == MG_SYS_getsockopt && k->pieces))
		return;
	if (k->ret < 0 && (dir != MG_DIR_TX || k->ret != -EAGAIN))
		return;
	if (dir == MG_DIR_RX && k->flags & MOVES_NOTHING)
		return;
	s = sock_find(c, k->cookie);
	if (!s)
		return;
	if (k->ret < 0) {
		exchange_on_refusal(s);
		return;
	}
	x = exchange_call(t, k);
	x.ends = shuts || (dir == MG_DIR_RX && found_end(k));
	x.after_loss = s->exchanges &&
		       gap_within(c, MG_LAYER_SYSCALL, exchange_latest(s), k->exit, -1, -1);
	if (x.bytes || x.ends || !is_stream(k->kind))
		exchange_on_call(c, s, &x);
}

void call_settle_exchange(struct core *c, const struct thread *t, const struct kernel_call *k,
	uint16_t function, uint64_t enter, uint64_t leave)
{
	bool rx = mg_syscall_direction(k->call) == MG_DIR_RX || k->call == MG_SYS_getsockopt;
	struct mg_sock *s;

	if (!exchanges_wanted(c))
		return;
	s = sock_find(c, k->cookie);
	if (s && s->exchanges)
		exchange_settle(c, s,
			&(struct exchange_settled){.exit = k->exit,
				.t = rx ? leave : enter,
				.tid = t->tid,
				.function = function});
}
