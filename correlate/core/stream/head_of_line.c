/* SPDX-License-Identifier: MIT */
/*
 * Waiting for bytes before, where TCP's own event does not tell when it had a segment: it exists in
 * established connections only, so not where this end has shut its sending side. A byte cannot be
 * in order before those before it have arrived, at IP or else at the device (method, "Residence").
 */
#include "stream/head_of_line.h"

#include "core.h"
#include "event_table.h"
#include "stream/ranges.h"

struct arriving {
	struct flow *f;
	uint64_t last; /* when the latest of the bytes so far arrived, */
	bool unknown;  /* or which of its copies filled the hole is not known */
};

/* Bytes become readable together as the last missing one comes: what precedes it came later. */
static void overtaken(void *arg, uint64_t a, uint64_t b, const uint64_t t[], uint32_t present)
{
	struct arriving *x = arg;
	struct ranges *overtook = &x->f->layer[RX_OVERTOOK];

	if (x->unknown)
		ranges_add(overtook, a, b, OVERTOOK_UNKNOWN);
	else if (present == 1 && t[0] < x->last)
		ranges_add(overtook, a, b, x->last);
	else if (present == 1)
		x->last = t[0];
	else
		x->unknown = true;
}

/* Bytes that their socket told nobody of, since its reader wants more (SO_RCVLOWAT), came earlier.
 */
static void note_latest(void *arg, uint64_t a, uint64_t b, const uint64_t t[], uint32_t present)
{
	struct arriving *x = arg;

	(void)a, (void)b;
	if (present & 1 && t[0] > x->last)
		x->last = t[0];
}

static void untold(void *arg, uint64_t a, uint64_t b, const uint64_t t[], uint32_t present)
{
	struct arriving *x = arg;

	if (!(present & 1) || t[0] < x->last)
		ranges_add(&x->f->layer[RX_OVERTOOK], a, b, OVERTOOK_UNKNOWN);
}

void rx_note_overtaking(struct core *c, struct flow *f, uint64_t from, uint64_t to)
{
	bool ip = mg_events_have(core_hooked(c, f->sock->netns), MG_EVENT_ip_in);
	const struct ranges *lists[] = {&f->layer[ip ? RX_IP : RX_DEV], &f->copies.again};
	struct arriving x = {.f = f};

	if (c->low_water) {
		ranges_atoms(lists, 1, from, to, note_latest, &x);
		ranges_atoms(lists, 1, from, to, untold, &x);
		return;
	}
	ranges_atoms(lists, 2, from, to, overtaken, &x);
}
