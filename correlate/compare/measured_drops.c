/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "alloc.h"
#include "event_table.h"
#include "measured.h"

/* Packets of all flows of a role. */
struct dropped {
	struct subject_key key;
	uint64_t dropped, packets;
	UT_hash_handle hh;
};

static struct dropped *dropped_of(struct dropped **all, const struct fact_flow *f)
{
	struct subject_key key = subject_of_flow(f);
	struct dropped *found = NULL;

	HASH_FIND(hh, *all, &key, sizeof(key), found);
	if (found)
		return found;
	found = mg_calloc(1, sizeof(*found));
	if (found) {
		found->key = key;
		HASH_ADD(hh, *all, key, sizeof(found->key), found);
		found = hash_kept(found);
	}
	return found;
}

/* Adds a flow's drops, and its packets where they enter or leave IP. */
static int add_flow(struct dropped **all, const struct report *r, const struct fact_flow *f)
{
	const struct unit_stats *passed =
		&measures(f)->units[f->flow.rx ? (int)RX_DEV : (int)TX_IP_OUT];
	struct dropped *sum;
	size_t n;
	const struct flow_drop *drop = report_drops_of(r, f->flow.sock, f->flow.rx, &n);

	if (f->kind == MG_KIND_netlink || (!passed->frames && !n))
		return 0;
	sum = dropped_of(all, f);
	if (!sum)
		return -ENOMEM;
	sum->packets += passed->frames;
	for (size_t i = 0; i < n; i++)
		sum->dropped += drop[i].d->segs;
	return 0;
}

int measured_add_drops(struct measured *m, const struct report *r)
{
	struct dropped *all = NULL, *sum, *next;
	int err = 0;

	if (!core_observes(r->core, MG_EVENT_drop))
		return 0;
	for (size_t i = 0; i < r->flow_count && !err; i++)
		err = add_flow(&all, r, report_flow(r, i));
	HASH_ITER (hh, all, sum, next) {
		const struct measured_figure f = {.key = sum->key,
			.figure = "dropped",
			.words = "packets dropped",
			.unit = UNIT_SHARE,
			.value = (double)sum->dropped / (double)sum->packets};

		if (!err && sum->packets)
			err = measured_add(m, &f);
		HASH_DEL(all, sum);
		free(sum);
	}
	return err;
}
