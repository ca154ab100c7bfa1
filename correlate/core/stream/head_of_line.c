/* SPDX-License-Identifier: MIT */
/*
 * Computes head-of-line waits: a byte cannot be in order before all preceding ones have arrived, at
 * IP or else at the device or at TCP (method, "Residence").
 */
#include "stream/head_of_line.h"

#include "core.h"
#include "event_table.h"
#include "bytes/ranges.h"

struct arriving {
	struct flow *f;
	uint64_t last;   /* arrival of the latest of the flow's bytes so far */
	uint64_t filled; /* TCP processed the segment that filled the hole; 0: it has no event */
	bool unknown;    /* it is unknown which copy filled the hole */
};

/* Indices of the lists that overtaken() gets. */
enum { ARRIVED, CAME_AGAIN, PROCESSED, LISTS };

/*
 * Notes that bytes waited, as a preceding byte came later. If one that became readable with them
 * came twice, the last segment that TCP processed filled the hole.
 */
static void overtaken(void *arg, uint64_t a, uint64_t b, const uint64_t t[], uint32_t present)
{
	struct arriving *x = arg;
	struct ranges *overtook = &x->f->layer[RX_OVERTOOK];

	if (!(present & 1u << ARRIVED) || present & 1u << CAME_AGAIN)
		x->unknown = true;
	if (!x->unknown && t[ARRIVED] >= x->last)
		x->last = t[ARRIVED];
	else if (!x->unknown)
		ranges_add(overtook, a, b, x->last);
	else if (!x->filled)
		ranges_add(overtook, a, b, OVERTOOK_UNKNOWN);
	else if (!(present & 1u << PROCESSED) || t[PROCESSED] < x->filled)
		ranges_add(overtook, a, b, x->filled);
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

/* Returns the layer above the device at which bytes arrive first, or else the device. */
static enum rx_layer arrival_layer(const struct core *c, const struct flow *f)
{
	struct mg_events hooked = core_hooked(c, f->sock->netns);

	if (mg_events_have(hooked, MG_EVENT_ip_in))
		return RX_IP;
	return mg_events_have(hooked, MG_EVENT_dev_recv) ? RX_DEV : RX_TCP;
}

void rx_note_overtaking(
	const struct core *c, struct flow *f, uint64_t from, uint64_t to, bool by_tcp)
{
	const struct ranges *lists[LISTS] = {[ARRIVED] = &f->layer[arrival_layer(c, f)],
		[CAME_AGAIN] = &f->copies.again,
		[PROCESSED] = &f->layer[RX_TCP]};
	struct arriving x = {.f = f};

	if (f->sock->unclaimed) /* no call will settle them */
		return;
	if (c->low_water && !by_tcp) {
		ranges_atoms(lists, 1, from, to, note_latest, &x);
		ranges_atoms(lists, 1, from, to, unreported, &x);
		return;
	}
	x.last = f->last.arrived;
	x.filled = by_tcp ? f->last.processed : 0;
	ranges_atoms(lists, LISTS, from, to, overtaken, &x);
	f->last.arrived = x.last;
}
