/* SPDX-License-Identifier: MIT */
#include "capture/wire_text.h"

#include <inttypes.h>

#include "capture/annotate_print.h"
#include "render/text.h"
#include "reported/getters.h"

#define FLOWS_SHOWN 8

static void row(struct table *t, const struct wire_flow *f)
{
	struct fact_flow_id id = {.sock = f->key.sock, .rx = f->key.rx};
	bool known = f->device.dist.n;

	table_row(t, "  %s\t%" PRIu64 "\t%s\t%s\t%s\t%s\t%s\t%s\t%s", flow_id(id), f->packets,
		text_bytes((double)f->bytes),
		or_na(f->units.n, text_bytes(unit_mean_size(&f->units))),
		or_na(f->units.gaps.n, text_ns(unit_mean_gap(&f->units))),
		or_na(known, text_ns(dist_mean(&f->call.dist))),
		or_na(known, text_ns(dist_mean(&f->device.dist))),
		or_na(known, text_ns(f->device.half)),
		or_na(known, text_ns(dist_mean(&f->total.dist))));
}

void wire_text(const struct wire *w, FILE *to, bool colour)
{
	const struct wire_flow *f;
	struct table t;
	size_t shown = 0;

	fprintf(to, "%sOn the wire, by %s%s\n", colour ? "\033[1m" : "", text_plain(w->path, 60),
		colour ? "\033[0m" : "");
	fprintf(to, "  packets: %" PRIu64 " in the capture, %" PRIu64 " of them in the recording\n",
		w->packets, w->found);
	fprintf(to, "  ");
	annotate_clock_text(&w->annotate, to);
	if (!w->flows)
		return;
	table_begin(&t, "lrrrrrrrr");
	table_row(&t, "  flow\t%s\t%s\t%s\t%s\tcall/driver\tdriver/wire\t(+-)\tsum",
		LABEL(wire_flow, packets), LABEL(wire_flow, bytes), LABEL(wire_flow, size_mean),
		LABEL(wire_flow, spacing_mean_ns));
	for (f = w->flows; f && shown < FLOWS_SHOWN; f = f->hh.next, shown++)
		row(&t, f);
	table_print(&t, to, 0, false);
	if (f)
		fprintf(to, "  and %zu more (--json has all)\n",
			(size_t)HASH_COUNT(w->flows) - shown);
	fprintf(to,
		"  means, by bytes; of received bytes: device/return, wire/device; a time below 0, "
		"which is within the error, counts as 0\n");
}
