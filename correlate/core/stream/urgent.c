/* SPDX-License-Identifier: MIT */
/*
 * Follows urgent data (RFC 9293, 3.8.5; RFC 6093). An urgent byte has its place in the stream, but
 * the stream's reader skips it: recv(MSG_OOB) reads it, or no call does. Which byte such a call has
 * read is known when the reader has passed.
 */
#include "stream/urgent.h"

#include <string.h>

#include "core.h"
#include "event_table.h"
#include "bytes/layer.h"
#include "socket/peer.h"
#include "stream/rx_range.h"
#include "task/threads.h"

#define MSG_OOB_FLAG  0x1
#define MSG_PEEK_FLAG 0x2

bool urgent_is_read(const struct kernel_call *k)
{
	return k->ret == 1 && k->kind == MG_KIND_tcp &&
	       mg_syscall_direction(k->call) == MG_DIR_RX &&
	       (k->flags & (MSG_OOB_FLAG | MSG_PEEK_FLAG)) == MSG_OOB_FLAG;
}

void urgent_read(struct core *c, struct flow *f, const struct kernel_call *k, uint64_t user)
{
	struct urgent *u = &f->urgent;

	layer_pass_call(c, f, RX_COPY, k->exit, FACT_NONE, 1);
	layer_pass_call(c, f, RX_CALL, user, FACT_NONE, 1);
	if (f->use.calls++ == 0)
		f->use.first = k->enter;
	f->use.last = k->enter;
	if (u->n == URGENT_MAX)
		memmove(u->read, u->read + 1, --u->n * sizeof(*u->read));
	u->read[u->n++] = (struct urgent_call){k->enter, k->exit, user};
}

/* Among several adjacent urgent bytes the unread ones come first: newer ones replace them. */
bool urgent_hole(struct core *c, struct flow *f, uint64_t a, uint64_t b)
{
	struct urgent *u = &f->urgent;

	if (b - a > URGENT_MAX || !(u->seen || u->n))
		return false;
	for (; a < b; a++) {
		struct urgent_call *r = &u->read[0];
		struct kernel_call call = {.enter = r->enter, .exit = r->exit};
		struct piece p = {.flow = f, .off = a, .len = 1, .t = r->exit};

		if (u->n < b - a) {
			u->discarded++;
			peer_received(c, f, a, a + 1, 0, 0);
			continue;
		}
		rx_settle_piece(c, &call, &p, r->user);
		memmove(u->read, u->read + 1, --u->n * sizeof(*u->read));
	}
	return true;
}
