/* SPDX-License-Identifier: MIT */
/*
 * Counts calls of connections whose bytes are not the program's: TLS records in the kernel,
 * subflows of MPTCP. Their bytes are not followed.
 */
#include "message/unmapped.h"

#include "core.h"
#include "event_table.h"
#include "bytes/layer.h"
#include "message/parcel.h"
#include "socket/anchor.h"
#include "socket/socket.h"
#include "task/threads.h"

void unmapped_settle(struct core *c, struct mg_sock *s, const struct kernel_call *k, uint64_t enter,
	uint64_t leave, uint64_t bytes)
{
	bool rx = mg_syscall_direction(k->call) == MG_DIR_RX;
	struct flow *f = rx ? &s->rx : &s->tx;
	uint64_t from = enter ? enter : k->enter, until = leave ? leave : k->exit, off;

	if (!bytes)
		return;
	if (rx && s->kind == MG_KIND_tcp && flow_offset(f, before_fin(f, k->exit_seq), &off) &&
		off > f->total) /* without a copy or piece */
		f->total = off;
	flow_touch(f, until);
	if (s->kind != MG_KIND_tcp)
		queues_count(f, rx ? (int)RX_CALL : (int)TX_CALL, bytes);
	layer_pass_call(
		c, f, rx ? (int)RX_CALL : (int)TX_CALL, rx ? until : from, FACT_NONE, bytes);
	if (!enter)
		f->use.kernel_only += bytes;
	if (f->use.calls++ == 0)
		f->use.first = from;
	f->use.last = from;
}
