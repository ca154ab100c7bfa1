/* SPDX-License-Identifier: MIT */
/* Sends with MSG_ZEROCOPY, see zerocopy.h. Their numbers wrap at 32 bits. */

#include "stream/zerocopy.h"

#include <stdlib.h>
#include <string.h>

#include "alloc.h"
#include "core.h"
#include "event_table.h"
#include "socket/socket.h"

#define CALL_MAX 1024 /* messages of a call */

static struct zerocopy *zerocopy_of(struct mg_sock *s)
{
	if (s && !s->tx.zerocopy)
		s->tx.zerocopy = mg_calloc(1, sizeof(*s->tx.zerocopy));
	return s ? s->tx.zerocopy : NULL;
}

/* Settles a send that the kernel had finished with at `t`, so long after its call. */
static void ended(
	const struct core *c, const struct mg_sock *s, uint64_t t, uint64_t held, bool copied)
{
	emit_zerocopy(&c->facts,
		&(struct fact_zerocopy){
			.time = t, .flow = flow_fact(&s->tx), .held = held, .copied = copied});
	s->tx.zerocopy->copied += copied;
}

void zerocopy_on_sent(struct core *c, const struct mg_event *e)
{
	const struct mg_zerocopy_sent *p = &e->zerocopy_sent;
	struct mg_sock *s = sock_get(c, p->sock);
	struct zerocopy *z = zerocopy_of(s);
	uint32_t n = p->next - p->first;

	if (!z || !n)
		return;
	if (n > p->most || n > CALL_MAX) { /* sends of other threads lie among them */
		n = p->most < CALL_MAX ? p->most : CALL_MAX;
		z->sends += n;
		z->unsure += n;
		return;
	}
	z->sends += n;
	if (!core_observes(c, MG_EVENT_zerocopy_done))
		return;
	for (uint32_t id = p->first; id != p->next; id++) {
		const struct zerocopy_notice *notice = zerocopy_notice_of(z, id);

		if (notice)
			ended(c, s, notice->t, 0, notice->copied);
		else
			zerocopy_hold(z, id, e->cycles);
	}
}

static void end_those(
	const struct core *c, const struct mg_sock *s, const struct zerocopy_notice *n)
{
	struct zerocopy *z = s->tx.zerocopy;
	uint32_t from = zerocopy_lower_bound(z, n->first), to = from, end = z->head + z->len;

	for (; to < end && zerocopy_within(z->held[to].id, n->first, n->last); to++)
		ended(c, s, n->t, n->t > z->held[to].t ? n->t - z->held[to].t : 0, n->copied);
	if (from == z->head)
		z->head = to;
	else
		memmove(z->held + from, z->held + to, (end - to) * sizeof(*z->held));
	z->len -= to - from;
	if (!z->len)
		z->head = 0;
	zerocopy_note(z, n);
}

/*
 * Ends sends whose notification was removed before its event: it came just before or after the
 * queue was found empty.
 */
static void end_taken(const struct core *c, const struct mg_sock *s, uint64_t empty)
{
	struct zerocopy *z = s->tx.zerocopy;

	if (empty < z->taken.t)
		z->taken.t = empty;
	end_those(c, s, &z->taken);
	z->taken.known = false;
	z->empty = 0;
}

/*
 * A removed notification nearly always had its event. If not, and the queue was not found empty,
 * the event is missing, and the notification may have been there for long.
 */
void zerocopy_on_done(struct core *c, const struct mg_event *e)
{
	const struct mg_zerocopy_done *p = &e->zerocopy_done;
	struct zerocopy_notice n = {p->first, p->last, e->cycles, p->copied, true};
	struct mg_sock *s = sock_find(c, p->sock);
	struct zerocopy *z = zerocopy_of(s);

	if (!z)
		return;
	switch (p->taken) {
	case 0:
		end_those(c, s, &n);
		break;
	case 1:
		if (zerocopy_notice_of(z, n.last))
			break;
		z->taken = n;
		if (z->empty)
			end_taken(c, s, z->empty);
		break;
	default:
		z->empty = e->cycles;
		if (z->taken.known)
			end_taken(c, s, z->empty);
	}
}
