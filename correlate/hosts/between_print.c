/* SPDX-License-Identifier: MIT */
/*
 * Prints the figures between two hosts, as text and as JSON (docs/magnet-report.1 lists its
 * fields).
 */
#include <math.h>

#include "between.h"
#include "render/text.h"

#define CROSSINGS_SHOWN 8

static const char *host_name(const struct report *r, const char *otherwise)
{
	const char *name = json_string_value(json_object_get(r->session, "host"));

	return text_plain(name ? name : otherwise, 40);
}

/*
 * Returns the wider error bound at the ends of a window, ns; `ahead` gets the offset at its start.
 */
static double widest(const struct between *w, const struct hosts_window *k, double *ahead)
{
	struct host_bounds first, last;

	if (!hosts_at(&w->hosts, k->from, &first) || !hosts_at(&w->hosts, k->to - 1, &last))
		return NAN;
	*ahead = (first.low + first.high) / 2;
	return fmax(first.high - first.low, last.high - last.low) / 2;
}

static void clocks_text(const struct between *w, FILE *to)
{
	const struct hosts *h = &w->hosts;
	double ahead = NAN, half = NAN, skew = NAN;
	size_t related = 0;

	for (size_t i = 0; i < h->windows; i++) {
		double e = widest(w, &h->window[i],
			h->window[i].state == HOSTS_RELATED && !related ? &ahead : &(double){0});

		if (h->window[i].state != HOSTS_RELATED)
			continue;
		skew = related++ ? skew : hosts_skew(h, h->window[i].from);
		half = fmax(isnan(half) ? 0 : half, e);
	}
	if (related) {
		fprintf(to, "  clocks: the other one runs %.3f ppm %s and is %s %s, within %s\n",
			fabs(skew) * 1e6, skew < 0 ? "slower" : "faster", text_ns(fabs(ahead)),
			ahead < 0 ? "behind" : "ahead", text_ns(half));
		if (h->windows > 1)
			fprintf(to,
				"  a clock was set or changed its rate: %zu intervals, %zu of them "
				"related\n",
				h->windows, related);
	} else if (h->windows && h->window[0].state == HOSTS_SKEW_ONLY) {
		fprintf(to,
			"  clocks: bytes passed in one direction only: the other one runs %.3f ppm "
			"%s, its offset is not known\n",
			fabs(h->window[0].skew) * 1e6, h->window[0].skew < 0 ? "slower" : "faster");
	} else {
		fprintf(to, "  clocks: not related: %s\n",
			w->crossings ? "too few packets passed in each direction"
				     : "no connection between the two recordings");
	}
}

static void crossing_row(struct table *t, const struct crossing *c)
{
	const struct flow *from = c->to_b ? &c->a->tx : &c->b->tx;
	const struct flow *at = c->to_b ? &c->b->rx : &c->a->rx;
	bool transit = c->transit.n, calls = c->calls.n;

	table_row(t, "  %s %s %s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s", flow_id(from), text_arrow(),
		flow_id(at), text_bytes((double)c->bytes),
		or_na(transit, text_ns(dist_mean(&c->transit))),
		or_na(transit, text_ns(dist_quantile(&c->transit, 0.5))),
		or_na(transit, text_ns(c->transit_half)),
		or_na(calls, text_ns(dist_mean(&c->calls))),
		or_na(calls, text_ns(dist_quantile(&c->calls, 0.5))),
		or_na(calls && dist_quantile_supported(&c->calls, 0.99),
			text_ns(dist_quantile(&c->calls, 0.99))),
		or_na(calls, text_ns(c->calls_half)));
}

void between_text(const struct between *w, FILE *to, bool colour)
{
	struct table t;

	fprintf(to, "%sBetween %s and %s%s\n", colour ? "\033[1m" : "",
		host_name(w->a, "the first"), host_name(w->b, "the other"),
		colour ? "\033[0m" : "");
	clocks_text(w, to);
	if (w->left_out)
		fprintf(to, "  the recordings are too long: only their first part is used\n");
	if (!w->crossings)
		return;
	table_begin(&t, "lrrrrrrrr");
	table_row(&t, "  flows\tbytes\ttransit\tp50\t(+-)\tcall to return\tp50\tp99\t(+-)");
	for (size_t i = 0; i < w->crossings && i < CROSSINGS_SHOWN; i++)
		if (w->crossing[i].bytes)
			crossing_row(&t, &w->crossing[i]);
	table_print(&t, to, 0, false);
	if (w->crossings > CROSSINGS_SHOWN)
		fprintf(to, "  and %zu more (--json has all)\n", w->crossings - CROSSINGS_SHOWN);
}

/* ---- JSON ---- */

static json_t *number(double v)
{
	return isnan(v) || isinf(v) ? json_null() : json_real(v);
}

static json_t *quantile(const struct dist *d, double q)
{
	bool known = d->n && (q <= 0.5 || dist_quantile_supported(d, q));

	return number(known ? dist_quantile(d, q) : NAN);
}

static json_t *spread(const struct dist *d, double half)
{
	return json_pack("{s:o, s:o, s:o, s:o, s:I}", "mean", number(d->n ? dist_mean(d) : NAN),
		"p50", quantile(d, 0.5), "p99", quantile(d, 0.99), "half_width",
		number(d->n ? half : NAN), "bytes", (json_int_t)d->weight);
}

static json_t *crossing_json(const struct crossing *c)
{
	return json_pack("{s:s, s:s, s:s, s:I, s:I, s:o, s:o}", "direction",
		c->to_b ? "to_other" : "from_other", "sent_as",
		flow_id(c->to_b ? &c->a->tx : &c->b->tx), "received_as",
		flow_id(c->to_b ? &c->b->rx : &c->a->rx), "bytes", (json_int_t)c->bytes,
		"ambiguous_bytes", (json_int_t)c->ambiguous, "transit_ns",
		spread(&c->transit, c->transit_half), "call_to_return_ns",
		spread(&c->calls, c->calls_half));
}

/* Returns the offset of the second host's clock at an instant of the first one's. */
static json_t *standing(const struct hosts *h, uint64_t x)
{
	struct host_bounds b;
	bool known = hosts_at(h, x, &b);

	return json_pack("{s:I, s:o, s:o}", "at_ns", (json_int_t)x, "ahead_ns",
		number(known ? (b.low + b.high) / 2 : NAN), "half_width_ns",
		number(known ? (b.high - b.low) / 2 : NAN));
}

static json_t *window_json(const struct hosts *h, const struct hosts_window *w)
{
	static const char *const states[] = {"related", "skew_only", "unrelated"};

	return json_pack("{s:s, s:o, s:o, s:o}", "state", states[w->state], "skew",
		number(hosts_skew(h, w->from)), "begin", standing(h, w->from), "end",
		standing(h, w->to - 1));
}

json_t *between_json(const struct between *w)
{
	json_t *windows = json_array(), *flows = json_array();

	for (size_t i = 0; i < w->hosts.windows; i++)
		json_array_append_new(windows, window_json(&w->hosts, &w->hosts.window[i]));
	for (size_t i = 0; i < w->crossings; i++)
		json_array_append_new(flows, crossing_json(&w->crossing[i]));
	return json_pack("{s:o, s:{s:I, s:I}, s:b, s:o}", "clock", windows, "passings", "to_other",
		(json_int_t)w->hosts.to_b.n, "from_other", (json_int_t)w->hosts.to_a.n, "left_out",
		w->left_out, "flows", flows);
}
