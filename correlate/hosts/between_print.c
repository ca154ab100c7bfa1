/* SPDX-License-Identifier: MIT */
/* Prints the figures between two hosts as text. */
#include <math.h>
#include <string.h>

#include "between.h"
#include "render/text.h"
#include "reported/getters.h"

#define CROSSINGS_SHOWN 8

const char *host_name(const struct report *r, const char *otherwise)
{
	const char *name = json_string_value(json_object_get(r->session, "host"));

	return text_plain(name ? name : otherwise, 40);
}

void host_label(const struct report *r, const struct report *other, const char *otherwise,
	char name[HOST_LABEL])
{
	char others[64], path[400];
	const char *end = path;

	snprintf(others, sizeof(others), "%s", host_name(other, ""));
	snprintf(path, sizeof(path), "%s", host_name(r, otherwise));
	if (strcmp(path, others) != 0 || !r->source) {
		snprintf(name, HOST_LABEL, "%s", text_plain(path, HOST_LABEL - 1));
		return;
	}
	snprintf(path, sizeof(path), "%s", text_plain(r->source, sizeof(path) - 1));
	if (path[0] == '\'') /* quoted for a shell */
		path[strlen(path) - 1] = 0;
	end += path[0] == '\'';
	if (strlen(path) >= HOST_LABEL)
		end = path + strlen(path) - (HOST_LABEL - 4);
	while ((*end & 0xc0) == 0x80) /* in the midst of a character */
		end++;
	snprintf(name, HOST_LABEL, "%s%.32s", end > path + 1 ? "..." : "", end);
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
	char other[HOST_LABEL];
	double ahead = NAN, half = NAN, skew = NAN, skew_half = NAN;
	size_t related = 0;

	for (size_t i = 0; i < h->windows; i++) {
		double e = widest(w, &h->window[i],
			h->window[i].state == HOSTS_RELATED && !related ? &ahead : &(double){0});

		if (h->window[i].state != HOSTS_RELATED)
			continue;
		if (!related++) {
			skew = hosts_skew(h, h->window[i].from);
			skew_half = hosts_skew_error(h, h->window[i].from);
		}
		half = fmax(isnan(half) ? 0 : half, e);
	}
	host_label(w->b, w->a, "the other", other);
	if (related) {
		fprintf(to,
			"  clocks: that of %s runs %.3g ppm %s (%s%.3g ppm), and is %s %s (%s%s)\n",
			other, fabs(skew) * 1e6, skew < 0 ? "slower" : "faster", text_plus_minus(),
			skew_half * 1e6, text_ns(fabs(ahead)), ahead < 0 ? "behind" : "ahead",
			text_plus_minus(), text_ns(half));
		if (h->windows > 1)
			fprintf(to,
				"  a clock was set or changed its rate: %zu intervals, %zu of them "
				"related\n",
				h->windows, related);
	} else if (h->windows && h->window[0].state == HOSTS_SKEW_ONLY) {
		fprintf(to,
			"  clocks: too few packets with bytes passed in one of the directions: the "
			"other one runs %.3f ppm %s, its offset is not known\n",
			fabs(h->window[0].skew) * 1e6, h->window[0].skew < 0 ? "slower" : "faster");
	} else {
		fprintf(to, "  clocks: not related: %s\n",
			w->crossings ? "too few packets with bytes passed in each direction"
				     : "no TCP connection has its opening in both recordings");
	}
}

/* Adds the row of a distribution of times in ns; `half` is the largest error of any. */
static void times_row(struct table *t, const char *what, const struct dist *times, double half)
{
	bool known = times->n;

	table_row(t, "  %s\t%s\t%s\t%s\t%s", what, or_na(known, text_ns(dist_mean(times))),
		or_na(known, text_ns(dist_quantile(times, 0.5))),
		or_na(known && dist_quantile_supported(times, 0.99),
			text_ns(dist_quantile(times, 0.99))),
		or_na(known, text_ns(half)));
}

static void crossing_rows(struct table *t, const struct between *w, const struct crossing *c)
{
	char from[HOST_LABEL];

	host_label(c->to_b ? w->a : w->b, c->to_b ? w->b : w->a,
		c->to_b ? "the first" : "the other", from);
	table_row(t, "from %s: %s %s %s, %s", from, flow_id(crossing_sent(c)), text_arrow(),
		flow_id(crossing_received(c)), text_bytes((double)c->bytes));
	times_row(t, "transit", &c->transit, c->transit_half);
	times_row(t, "call to return", &c->calls, c->calls_half);
}

void between_text(const struct between *w, FILE *to, bool colour)
{
	char a[HOST_LABEL], b[HOST_LABEL];
	struct table t;

	host_label(w->a, w->b, "the first", a);
	host_label(w->b, w->a, "the other", b);
	fprintf(to, "%sBetween %s and %s%s\n", colour ? "\033[1m" : "", a, b,
		colour ? "\033[0m" : "");
	clocks_text(w, to);
	if (w->left_out)
		fprintf(to, "  the recordings are too long: only their first part is used\n");
	if (!w->crossings)
		return;
	table_begin(&t, "lrrrr");
	table_row(&t, "\t%s\t%s\t%s\t%s", LABEL(crossing_time, mean), LABEL(crossing_time, p50),
		LABEL(crossing_time, p99), LABEL(crossing_time, half_width));
	for (size_t i = 0; i < w->crossings && i < CROSSINGS_SHOWN; i++)
		if (w->crossing[i].bytes)
			crossing_rows(&t, w, &w->crossing[i]);
	table_print(&t, to, 2, false);
	if (w->crossings > CROSSINGS_SHOWN)
		fprintf(to, "  and %zu more (--json has all)\n", w->crossings - CROSSINGS_SHOWN);
}
