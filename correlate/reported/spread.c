/* SPDX-License-Identifier: MIT */
#include "reported/spread.h"

#include "reported/getters.h"

struct spread_figures spread_of(const struct dist *d, bool known, double hz)
{
	static const struct dist nothing;

	return (struct spread_figures){d && known ? d : &nothing, hz};
}

double spread_ns(const struct spread_figures *f, double value)
{
	return f->hz > 0 ? value * 1e9 / f->hz : NAN;
}

double spread_quantile(const struct spread_figures *f, double q)
{
	bool known = f->d->n && (q <= 0.5 || dist_quantile_supported(f->d, q));

	return known ? spread_ns(f, dist_quantile(f->d, q)) : NAN;
}

double spread_mean(const struct spread_figures *f)
{
	return f->d->n ? spread_ns(f, dist_mean(f->d)) : NAN;
}

double dist_highest(const struct dist *d)
{
	double q = 1 - 10 / (double)d->n;

	if (!d->n)
		return NAN;
	return d->n < 20 ? 1 : q > 0.99 ? 0.99 : q;
}

double dist_at_highest(const struct dist *d)
{
	double q = dist_highest(d);

	return q < 1 ? dist_quantile(d, q) : isnan(q) ? NAN : (double)d->max;
}

struct value get_spread_p50(const struct spread_figures *f)
{
	return value_number(spread_quantile(f, 0.5));
}

struct value get_spread_p99(const struct spread_figures *f)
{
	return value_number(spread_quantile(f, 0.99));
}

struct value get_spread_p90(const struct spread_figures *f)
{
	return value_number(spread_quantile(f, 0.9));
}

struct value get_spread_highest(const struct spread_figures *f)
{
	return value_number(dist_highest(f->d));
}

struct value get_spread_at_highest(const struct spread_figures *f)
{
	return value_number(spread_ns(f, dist_at_highest(f->d)));
}

struct value get_longest_max(const struct spread_figures *f)
{
	return value_if(f->d->n, value_number(spread_ns(f, (double)f->d->max)));
}

void part_call_time_spread(const struct spread_figures *f, struct spread_figures *to)
{
	*to = *f;
}

void part_call_time_longest(const struct spread_figures *f, struct spread_figures *to)
{
	*to = *f;
}

struct value get_spread_mean(const struct spread_figures *f)
{
	return value_number(spread_mean(f));
}
