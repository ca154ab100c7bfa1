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

struct value get_spread_p50(const struct spread_figures *f)
{
	return value_number(spread_quantile(f, 0.5));
}

struct value get_spread_p99(const struct spread_figures *f)
{
	return value_number(spread_quantile(f, 0.99));
}

struct value get_spread_mean(const struct spread_figures *f)
{
	return value_number(spread_mean(f));
}
