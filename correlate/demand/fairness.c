/* SPDX-License-Identifier: MIT */
/* Jain's index: how evenly the flows of one direction shared the goodput. */
#include <math.h>
#include <stdlib.h>

#include "alloc.h"
#include "rows.h"

struct window {
	double from_ns, to_ns; /* ns after the recording's first event */
};

static double since_begin(const struct report *r, uint64_t cycles)
{
	uint64_t begin = core_cycles(r->core, r->recording.first);

	return report_ns(r, (double)(int64_t)(cycles - begin));
}

static bool is_packets(const struct fact_flow *f)
{
	return f->kind == MG_KIND_tcp || f->kind == MG_KIND_udp;
}

static bool counts(const struct report *r, const struct fact_flow *f, bool rx)
{
	double min = or_default(r->demand->parameter[DEMAND_JAIN][DEMAND_MIN], 0);

	return f->flow.rx == rx && is_packets(f) && (double)flow_bytes(f) >= min;
}

/* Returns the chosen window; by default the time in which all flows were alive. */
static struct window window_of(const struct report *r, bool rx, size_t *n)
{
	const double *p = r->demand->parameter[DEMAND_JAIN];
	struct window w = {-INFINITY, INFINITY};

	*n = 0;
	for (size_t i = 0; i < r->flow_count; i++) {
		const struct fact_flow *f = report_flow(r, i);

		if (!counts(r, f, rx))
			continue;
		++*n;
		w.from_ns = fmax(w.from_ns, since_begin(r, f->first_moved));
		w.to_ns = fmin(w.to_ns, since_begin(r, f->last_moved));
	}
	if (!isnan(p[DEMAND_FROM]))
		w.from_ns = p[DEMAND_FROM] * 1e9;
	if (!isnan(p[DEMAND_TO]))
		w.to_ns = p[DEMAND_TO] * 1e9;
	return w;
}

static bool gap_in(
	const struct report *r, const struct layers *l, const struct layer *of, struct window w)
{
	double shift = since_begin(r, l->origin);

	for (size_t i = 0; i < of->gaps; i++)
		if (of->gap[i].from_ns + shift <= w.to_ns && of->gap[i].to_ns + shift >= w.from_ns)
			return true;
	return false;
}

/* Returns the bytes of a flow in the window; NAN with the reason in `why` if they are not known. */
static double bytes_in(
	const struct report *r, const struct fact_flow *f, struct window w, const char **why)
{
	const struct layer *of;
	double sum = 0, shift;
	struct stat_unit *u;
	struct layers l;
	size_t n;

	if (layers_init(&l, r, f)) {
		*why = NO_MEMORY;
		layers_free(&l);
		return NAN;
	}
	of = layers_find(&l, f->flow.rx ? "call" : "device");
	shift = since_begin(r, l.origin);
	if (of && !*why)
		*why = layer_refused(&l, of);
	if (of && !*why && gap_in(r, &l, of, w))
		*why = "events are missing in the window";
	if (of && !*why && layer_units(&l, of, &u, &n)) {
		*why = NO_MEMORY;
	} else if (of && !*why) {
		for (size_t i = 0; i < n; i++)
			if (u[i].t_ns + shift >= w.from_ns && u[i].t_ns + shift < w.to_ns)
				sum += u[i].bytes;
		free(u);
	}
	layers_free(&l);
	return *why ? NAN : sum;
}

static json_t *fairness(const struct report *r, bool rx)
{
	json_t *j = json_object(), *flows = json_array();
	const char *why = NULL;
	struct window w;
	size_t n, at = 0;
	double *x;

	w = window_of(r, rx, &n);
	x = mg_calloc(n + 1, sizeof(*x));
	if (!x)
		why = NO_MEMORY;
	else if (n < 2)
		why = "there are not two flows";
	else if (!(w.to_ns > w.from_ns))
		why = "the flows were never all alive at once: choose a window (from=S, to=S)";
	for (size_t i = 0; i < r->flow_count && !why; i++) {
		const struct fact_flow *f = report_flow(r, i);
		json_t *row;

		if (!counts(r, f, rx))
			continue;
		x[at] = bytes_in(r, f, w, &why);
		row = json_pack("{s:s}", "id", flow_id(f->flow));
		row_set(row, "bytes", x[at]);
		row_set(row, "goodput_bit_s", x[at] * 8e9 / (w.to_ns - w.from_ns));
		json_array_append_new(flows, row);
		at++;
	}
	if (!why && isnan(stat_jain(x, n)))
		why = "no flow got anything through in the window";
	json_object_set_new(j, "layer", json_string(rx ? "call" : "device"));
	json_object_set_new(j, "n", json_integer((json_int_t)n));
	row_set(j, "index", why ? NAN : stat_jain(x, n));
	row_set(j, "from_s", w.from_ns / 1e9);
	row_set(j, "to_s", w.to_ns / 1e9);
	json_object_set_new(j, "flows", flows);
	json_object_set_new(j, "refused", why ? json_string(why) : json_null());
	free(x);
	return j;
}

json_t *whole_jain(const struct report *r)
{
	return json_pack("{s:o, s:o}", "tx", fairness(r, false), "rx", fairness(r, true));
}
