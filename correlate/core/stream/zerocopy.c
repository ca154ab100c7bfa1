/* SPDX-License-Identifier: MIT */
/* Sends with MSG_ZEROCOPY, see zerocopy.h. Their numbers wrap at 32 bits. */

#include "stream/zerocopy.h"

#include <stdlib.h>
#include <string.h>

#include "alloc.h"
#include "core.h"
#include "event_table.h"
#include "socket/socket.h"

#define HELD_MAX 65536 /* a send whose end has not come after this many later ones was missed */
#define CALL_MAX 1024  /* messages of a call */

static bool before(uint32_t a, uint32_t b)
{
	return (int32_t)(a - b) < 0;
}

static bool within(uint32_t id, uint32_t first, uint32_t last)
{
	return id - first <= last - first;
}

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

/* Returns the index of the first held send with this number or a later one. */
static uint32_t lower_bound(const struct zerocopy *z, uint32_t id)
{
	uint32_t low = z->head, high = z->head + z->len;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (before(z->held[middle].id, id))
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static bool make_room(struct zerocopy *z)
{
	struct zerocopy_send *more;

	if (z->len == HELD_MAX) {
		z->unsure++;
		z->head++;
		z->len--;
	}
	if (z->head + z->len < z->cap)
		return true;
	if (z->head > z->cap / 2) {
		memmove(z->held, z->held + z->head, z->len * sizeof(*z->held));
		z->head = 0;
		return true;
	}
	more = mg_realloc(z->held, (z->cap ? z->cap * 2 : 16) * sizeof(*more));
	if (!more)
		return false;
	z->held = more;
	z->cap = z->cap ? z->cap * 2 : 16;
	return true;
}

/*
 * Inserts a send, nearly always at the end; of two threads the one numbered first may return last.
 */
static void hold(struct zerocopy *z, uint32_t id, uint64_t t)
{
	uint32_t at, end;

	if (!make_room(z)) {
		z->unsure++;
		return;
	}
	end = z->head + z->len;
	at = z->len && !before(z->held[end - 1].id, id) ? lower_bound(z, id) : end;
	memmove(z->held + at + 1, z->held + at, (end - at) * sizeof(*z->held));
	z->held[at] = (struct zerocopy_send){id, t};
	z->len++;
}

static const struct zerocopy_told *told_of(const struct zerocopy *z, uint32_t id)
{
	for (int i = 0; i < ZEROCOPY_TOLD; i++)
		if (z->told[i].known && within(id, z->told[i].first, z->told[i].last))
			return &z->told[i];
	return NULL;
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
		const struct zerocopy_told *told = told_of(z, id);

		if (told)
			ended(c, s, told->t, 0, told->copied);
		else
			hold(z, id, e->cycles);
	}
}

/* Notes a notification; one that has grown includes its earlier range. */
static void note(struct zerocopy *z, const struct zerocopy_told *n)
{
	uint32_t at = z->next_told;

	for (uint32_t i = 0; i < ZEROCOPY_TOLD; i++)
		if (z->told[i].known && z->told[i].first == n->first)
			at = i;
	if (at == z->next_told)
		z->next_told = (at + 1) % ZEROCOPY_TOLD;
	z->told[at] = *n;
}

static void end_those(const struct core *c, const struct mg_sock *s, const struct zerocopy_told *n)
{
	struct zerocopy *z = s->tx.zerocopy;
	uint32_t from = lower_bound(z, n->first), to = from, end = z->head + z->len;

	for (; to < end && within(z->held[to].id, n->first, n->last); to++)
		ended(c, s, n->t, n->t > z->held[to].t ? n->t - z->held[to].t : 0, n->copied);
	if (from == z->head)
		z->head = to;
	else
		memmove(z->held + from, z->held + to, (end - to) * sizeof(*z->held));
	z->len -= to - from;
	if (!z->len)
		z->head = 0;
	note(z, n);
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
	struct zerocopy_told n = {p->first, p->last, e->cycles, p->copied, true};
	struct mg_sock *s = sock_find(c, p->sock);
	struct zerocopy *z = zerocopy_of(s);

	if (!z)
		return;
	switch (p->taken) {
	case 0:
		end_those(c, s, &n);
		break;
	case 1:
		if (told_of(z, n.last))
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

uint64_t zerocopy_missed(const struct zerocopy *z)
{
	uint32_t last = z->head;

	for (int i = 0; i < ZEROCOPY_TOLD; i++)
		if (z->told[i].known) {
			uint32_t at = lower_bound(z, z->told[i].last);

			last = at > last ? at : last;
		}
	return last - z->head;
}

void zerocopy_free(struct zerocopy *z)
{
	if (!z)
		return;
	free(z->held);
	free(z);
}
