/* SPDX-License-Identifier: MIT */
/* Statistics of traffic contracts: the rate and bucket that let all of a flow pass. */
#include <math.h>
#include <stdlib.h>

#include "rows.h"

/* Rates at which a contract is computed by default, as multiples of the mean. */
static const double multiples[] = {1, 1.25, 1.5, 2, 3, 5, 10};
#define MULTIPLES (sizeof(multiples) / sizeof(multiples[0]))

#define OC3_BIT_S     155.52e6
#define ETHERNET_LINK 14 /* bytes of its header */

static const char no_rate[] = "it has no mean rate: fewer than two units, or all at once";

static void set_counted(json_t *row, const struct layer *of)
{
	json_object_set_new(
		row, "counted", json_string(layer_sees_frames(of) ? "frames" : "payload"));
	/* missing data would add to it */
	json_object_set_new(row, "at_least", json_boolean(of->gaps > 0));
}

static json_t *bucket_row(const struct stat_unit *u, size_t n, double rate, double mean)
{
	json_t *j = json_object();

	row_set(j, "times_mean", rate / mean);
	row_set(j, "rate_bit_s", rate * 8);
	row_set(j, "bucket_bytes", stat_bucket(u, n, rate));
	return j;
}

const char *row_contract(
	const struct layers *l, const struct layer *of, const double *parameter, json_t *row)
{
	double rate = parameter[DEMAND_RATE] / 8, bucket = parameter[DEMAND_BUCKET], sum = 0, mean;
	json_t *buckets = json_array();
	struct stat_unit *u;
	size_t n;

	json_object_set_new(row, "buckets", buckets);
	if (layer_frames(l, of, 0, &u, &n))
		return NO_MEMORY;
	for (size_t i = 0; i < n; i++)
		sum += u[i].bytes;
	mean = n > 1 ? sum / (u[n - 1].t_ns - u[0].t_ns) * 1e9 : NAN;
	set_counted(row, of);
	row_set(row, "mean_rate_bit_s", mean * 8);
	if (!isnan(rate))
		json_array_append_new(buckets, bucket_row(u, n, rate, mean));
	for (size_t i = 0; isnan(rate) && isfinite(mean) && i < MULTIPLES; i++)
		json_array_append_new(buckets, bucket_row(u, n, multiples[i] * mean, mean));
	if (!isnan(bucket)) {
		row_set(row, "bucket_bytes", bucket);
		row_set(row, "rate_for_bucket_bit_s", stat_rate(u, n, bucket) * 8);
	}
	free(u);
	return json_array_size(buckets) || !isnan(bucket) ? NULL : no_rate;
}

static json_t *cell_row(
	const struct stat_unit *u, size_t n, double line, double scr, double pcr, double mean)
{
	json_t *j = json_object();
	double tau = stat_gcra_tau(u, n, line, scr);

	row_set(j, "times_mean", scr / mean);
	row_set(j, "scr_cells_s", scr);
	row_set(j, "tau_ns", tau);
	row_set(j, "mbs_cells", stat_gcra_mbs(tau, scr, pcr));
	return j;
}

const char *row_gcra(
	const struct layers *l, const struct layer *of, const double *parameter, json_t *row)
{
	double line = or_default(parameter[DEMAND_LINE], OC3_BIT_S) / STAT_CELL_BITS;
	double pcr = or_default(parameter[DEMAND_PCR], line), scr = parameter[DEMAND_SCR];
	double link = or_default(parameter[DEMAND_LINK], ETHERNET_LINK), cells = 0, mean;
	json_t *contracts = json_array();
	struct stat_unit *u;
	size_t n;

	json_object_set_new(row, "contracts", contracts);
	if (layer_frames(l, of, link, &u, &n))
		return NO_MEMORY;
	for (size_t i = 0; i < n; i++)
		cells += stat_cells(u[i].bytes);
	mean = n > 1 ? cells / (u[n - 1].t_ns - u[0].t_ns) * 1e9 : NAN;
	set_counted(row, of);
	row_set(row, "cells", cells);
	row_set(row, "mean_cells_s", mean);
	row_set(row, "line_cells_s", line);
	row_set(row, "pcr_cells_s", pcr);
	row_set(row, "cdvt_ns", stat_gcra_tau(u, n, line, pcr));
	if (!isnan(scr))
		json_array_append_new(contracts, cell_row(u, n, line, scr, pcr, mean));
	for (size_t i = 0; isnan(scr) && isfinite(mean) && i < MULTIPLES; i++)
		json_array_append_new(
			contracts, cell_row(u, n, line, multiples[i] * mean, pcr, mean));
	free(u);
	return json_array_size(contracts) ? NULL : no_rate;
}
