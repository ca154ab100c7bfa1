/* SPDX-License-Identifier: MIT */
/*
 * Computes head-of-line waits where TCP's own event of receiving a segment is missing: it exists in
 * established connections only, so not after this end has shut its sending side. A byte cannot be
 * in order before all preceding ones have arrived, at IP or else at the device (method,
 * "Residence").
 */
#include "stream/head_of_line.h"

#include "core.h"
#include "event_table.h"
#include "bytes/ranges.h"

struct arriving {
	struct flow *f;
	uint64_t last; /* arrival of the latest of the bytes so far */
	bool unknown;  /* or it is unknown which copy filled the hole */
};

/*
 * Notes that bytes became readable together when the last missing one came: a preceding byte came
 * later.
 */
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

/*
 * Finds the latest arrival. Bytes whose arrival was not reported to the reader, which wants more
 * (SO_RCVLOWAT), came earlier.
 */
static void note_latest(void *arg, uint64_t a, uint64_t b, const uint64_t t[], uint32_t present)
{
	struct arriving *x = arg;

	(void)a, (void)b;
	if (present & 1 && t[0] > x->last)
		x->last = t[0];
}

static void unreported(void *arg, uint64_t a, uint64_t b, const uint64_t t[], uint32_t present)
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
		ranges_atoms(lists, 1, from, to, unreported, &x);
		return;
	}
	ranges_atoms(lists, 2, from, to, overtaken, &x);
}
