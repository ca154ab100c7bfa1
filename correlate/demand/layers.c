/* SPDX-License-Identifier: MIT */
#include "layers.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "alloc.h"

/*
 * Returns the share of the flow's bytes that a layer saw. Bytes that never left the socket do not
 * count for the layers below.
 */
static double covered(const struct fact_flow *f, int at, const struct unit_stats *u)
{
	double of = (double)(flow_bytes(f) - (at >= TX_IP_OUT ? f->never_sent : 0));
	double share = (double)u->bytes / of;

	if (!(of > 0))
		return NAN;
	if (f->kind != MG_KIND_tcp) {
		if (!mg_events_any(f->missing_events)) /* bytes that did not reach a layer were
						  dropped before it */
			return NAN;
		share = (share + (double)f->dropped_bytes / of) * (1 - f->missing_share);
	}
	return share > 1 ? 1 : share;
}

static void add(struct layers *l, const struct fact_flow *f, int at, const struct unit_stats *u,
	const char *name)
{
	if (!u->n)
		return;
	if (!l->n || u->first_t < l->origin)
		l->origin = u->first_t;
	l->v[l->n++] = (struct layer){
		.name = name, .flow = f, .at = at, .units = u, .coverage = covered(f, at, u)};
}

static int by_begin(const void *a, const void *b)
{
	double x = ((const struct stat_gap *)a)->from_ns, y = ((const struct stat_gap *)b)->from_ns;

	return (x > y) - (x < y);
}

/*
 * Merges gaps of several CPUs, so that they are in order and do not overlap. Returns how many are
 * left.
 */
static size_t merge(struct stat_gap *g, size_t n)
{
	size_t kept = 0;

	qsort(g, n, sizeof(*g), by_begin);
	for (size_t i = 0; i < n; i++)
		if (kept && g[i].from_ns <= g[kept - 1].to_ns) {
			if (g[i].to_ns > g[kept - 1].to_ns)
				g[kept - 1].to_ns = g[i].to_ns;
		} else {
			g[kept++] = g[i];
		}
	return kept;
}

static double after_origin(const struct layers *l, uint64_t cycles)
{
	return report_ns(l->r, (double)(int64_t)(cycles - l->origin));
}

static int find_gaps(struct layers *l, struct layer *of)
{
	struct core *c = l->r->core;
	struct fact_loss loss;
	uintptr_t at = 0;
	uint32_t mask = flow_unit_layers(of->flow->flow.rx, of->at);
	double missing = 0;
	size_t n = 0;

	of->gap = mg_calloc(report_loss_count(l->r) + 1, sizeof(*of->gap));
	if (!of->gap)
		return -ENOMEM;
	while (core_next_loss(c, &at, &loss)) {
		struct stat_gap g = {after_origin(l, core_cycles(c, loss.begin)),
			after_origin(l, core_cycles(c, loss.end))};

		if (loss.layers & mask && g.to_ns >= 0 && g.from_ns <= l->end_ns)
			of->gap[n++] = g;
	}
	of->gaps = merge(of->gap, n);
	for (size_t i = 0; i < of->gaps; i++)
		missing += fmin(of->gap[i].to_ns, l->end_ns) - fmax(of->gap[i].from_ns, 0);
	of->time_coverage = l->end_ns > 0 ? 1 - missing / l->end_ns : NAN;
	return 0;
}

int layers_init(struct layers *l, const struct report *r, const struct fact_flow *f)
{
	bool has_peer;
	int err = 0;

	*l = (struct layers){.r = r, .flow = f};
	has_peer = f->flow.rx && flow_peer(r, f, &l->peer);
	/* for datagrams: the calls that sent what this flow received; one may send to several */
	if (measures(f)->from && measures(f)->from->n)
		add(l, f, RX_CALL, measures(f)->from, "peer_call");
	else if (has_peer)
		add(l, &l->peer, TX_CALL, &measures(&l->peer)->units[TX_CALL], "peer_call");
	for (int i = 0; i < layer_count(f); i++)
		add(l, f, i, &measures(f)->units[i], layer_name(f, i));
	for (int i = 0; i < l->n; i++)
		l->end_ns = fmax(l->end_ns, after_origin(l, l->v[i].units->last_t));
	for (int i = 0; i < l->n && !err; i++)
		err = find_gaps(l, &l->v[i]);
	return err;
}

void layers_free(struct layers *l)
{
	for (int i = 0; i < l->n; i++)
		free(l->v[i].gap);
}

const struct layer *layers_find(const struct layers *l, const char *name)
{
	for (int i = 0; i < l->n; i++)
		if (strcmp(l->v[i].name, name) == 0)
			return &l->v[i];
	return NULL;
}

struct stat_gaps layer_gaps(const struct layer *l)
{
	return (struct stat_gaps){l->gap, l->gaps};
}

static const struct series *series_of(const struct layer *l)
{
	return l->units->series;
}

const char *layer_refused(const struct layers *l, const struct layer *of)
{
	if (!(l->r->hz > 0))
		return "the rate of the clock is unknown";
	if (!series_of(of))
		return "its units were not kept";
	if (series_of(of)->cut)
		return "the recording is too long for figures that need every unit; a shorter one "
		       "(record --duration) or a part has them";
	if (of->coverage < COVERS_MUCH)
		return "less than 90 % of the bytes were seen at this layer";
	return NULL;
}

static int by_time(const void *a, const void *b)
{
	double x = ((const struct stat_unit *)a)->t_ns, y = ((const struct stat_unit *)b)->t_ns;

	return (x > y) - (x < y);
}

typedef bool (*choose_fn)(const struct series_unit *from, double link, struct stat_unit *to);

/*
 * Reads a layer's packets and sorts them: calls of several threads and times of several CPUs may be
 * out of order.
 */
static int load(const struct layers *l, const struct layer *of, choose_fn choose, double link,
	struct stat_unit **u, size_t *n)
{
	const struct series *s = series_of(of);
	size_t count = (size_t)series_count(s), kept = 0;
	struct series_unit *all = mg_malloc((count + 1) * sizeof(*all));
	bool in_order = true;

	*u = mg_malloc((count + 1) * sizeof(**u));
	*n = 0;
	if (!all || !*u) {
		free(all);
		free(*u);
		*u = NULL;
		return -ENOMEM;
	}
	series_read(s, all);
	for (size_t i = 0; i < count; i++) {
		struct stat_unit *to = *u + kept;

		if (!choose(&all[i], link, to))
			continue;
		to->t_ns = after_origin(l, all[i].t);
		in_order &= !kept || to[-1].t_ns <= to->t_ns;
		kept++;
	}
	free(all);
	if (!in_order)
		qsort(*u, kept, sizeof(**u), by_time);
	*n = kept;
	return 0;
}

static bool fresh(const struct series_unit *from, double link, struct stat_unit *to)
{
	(void)link;
	to->bytes = from->size;
	return !from->again;
}

int layer_units(const struct layers *l, const struct layer *of, struct stat_unit **u, size_t *n)
{
	return load(l, of, fresh, 0, u, n);
}

static bool framed(const struct series_unit *from, double link, struct stat_unit *to)
{
	to->bytes = !from->frame ? from->size : from->frame > link ? from->frame - link : 0;
	return true;
}

int layer_frames(const struct layers *l, const struct layer *of, double link, struct stat_unit **u,
	size_t *n)
{
	bool has_link = !of->flow->flow.rx && of->at >= TX_QUEUE;

	return load(l, of, framed, has_link ? link : 0, u, n);
}

bool layer_sees_frames(const struct layer *l)
{
	return l->units->wire_bytes > 0;
}

size_t layers_bins(const struct layers *l, double bin_ms)
{
	double bins = floor(l->end_ns / (bin_ms * 1e6));

	return bins >= (double)BINS_MAX ? BINS_MAX : bins > 0 ? (size_t)bins : 0;
}

const char *layer_too_fine(const struct layer *of, size_t bins)
{
	if (bins >= BINS_MAX)
		return "there would be more than 16 million bins: choose larger ones (bin=MS)";
	if (bins > BINS_ANYWAY && bins / BINS_PER_UNIT > of->units->n)
		return "only one in 1,000 bins, if that, has a unit: choose larger ones (bin=MS)";
	return NULL;
}

int layer_bins(
	const struct layers *l, const struct layer *of, double bin_ms, bool count, double **bin)
{
	size_t bins = layers_bins(l, bin_ms), n;
	struct stat_unit *u;
	int err;

	*bin = mg_malloc((bins + 1) * sizeof(**bin));
	err = *bin ? layer_units(l, of, &u, &n) : -ENOMEM;
	if (err) {
		free(*bin);
		*bin = NULL;
		return err;
	}
	stat_bins(u, n, layer_gaps(of), 0, bin_ms * 1e6, count, *bin, bins);
	free(u);
	return 0;
}
