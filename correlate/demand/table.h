/* SPDX-License-Identifier: MIT */
/*
 * The members of statistics on demand, K(TYPE, name, child, doc), in JSON and in the schema and
 * manual made of it. A statistic is asked for by its name; a row of it that is refused has null for
 * each of its members.
 *
 * Types: COUNT, NUMBER, TEXT, FLAG; OBJECT and LIST have those of `child`.
 */
#ifndef MAGNET_CORRELATE_DEMAND_TABLE_H
#define MAGNET_CORRELATE_DEMAND_TABLE_H

/* clang-format off */

/* ---- rows of a layer, or of a pair of layers ---- */

#define MG_DEMAND_ks(K) \
	K(COUNT, n_from, none, "spacings at the first layer") \
	K(COUNT, n_to, none, "spacings at the second") \
	K(NUMBER, sup, none, "largest difference between the distributions of the spacings") \
	K(NUMBER, at_ns, none, "spacing at which it is, ns")
#define MG_DEMAND_bursts(K) \
	K(NUMBER, gap_ms, none, "gap that ends a burst, ms") \
	K(COUNT, bursts, none, "bursts") \
	K(COUNT, left_out, none, "bursts left out beside times in which events are missing") \
	K(FLAG, max_at_least, none, "whether the maxima may be more, as some were left out") \
	K(OBJECT, units, spread, "packets of a burst") \
	K(OBJECT, bytes, spread, "bytes of a burst") \
	K(OBJECT, duration_ns, spread, "length of a burst, ns")
#define MG_DEMAND_idc(K) \
	K(NUMBER, bin_ms, none, "smallest window, ms") \
	K(LIST, windows, window, "index of dispersion of counts by window")
#define MG_DEMAND_variance_time(K) \
	K(NUMBER, bin_ms, none, "bin, ms") \
	K(COUNT, bins, none, "bins") \
	K(LIST, points, point, "variance by length of a block") \
	K(NUMBER, slope, none, "slope of the line through them") \
	K(NUMBER, slope_error, none, "its error: half of the 95 % interval, as all errors") \
	K(NUMBER, H, none, "Hurst parameter") \
	K(TEXT, H_refused, none, "why that is null, if it is")
#define MG_DEMAND_hurst(K) \
	K(NUMBER, bin_ms, none, "bin, ms") \
	K(COUNT, bins, none, "bins") \
	K(NUMBER, H, none, "Hurst parameter by wavelets") \
	K(NUMBER, H_error, none, "its error") \
	K(COUNT, octave_from, none, "first octave of the line") \
	K(COUNT, octave_to, none, "last octave of it") \
	K(NUMBER, alpha, none, "slope of the line") \
	K(NUMBER, alpha_error, none, "its error") \
	K(NUMBER, chi2_p, none, "probability of the fit (chi-square)") \
	K(NUMBER, first_half, none, "Hurst parameter of the first half") \
	K(NUMBER, first_half_error, none, "its error") \
	K(NUMBER, second_half, none, "Hurst parameter of the second half") \
	K(NUMBER, second_half_error, none, "its error") \
	K(NUMBER, variance_time, none, "Hurst parameter by variance-time") \
	K(NUMBER, variance_time_error, none, "its error")
#define MG_DEMAND_spectrum(K) \
	K(NUMBER, bin_ms, none, "bin, ms") \
	K(COUNT, bins, none, "bins") \
	K(LIST, octaves, octave, "energy by octave")
#define MG_DEMAND_coherence(K) \
	K(NUMBER, bin_ms, none, "bin, ms") \
	K(NUMBER, lag_ms, none, "lag with the largest cross-correlation, ms") \
	K(NUMBER, correlation, none, "correlation at that lag") \
	K(COUNT, segments, none, "segments averaged") \
	K(NUMBER, threshold, none, "coherence that chance alone exceeds with 5 % probability") \
	K(NUMBER, coherent_share, none, "share of the frequencies with a coherence above the threshold") \
	K(NUMBER, coherent_to_hz, none, "frequency up to which all are above the threshold, Hz") \
	K(NUMBER, step_hz, none, "step between two values, Hz") \
	K(LIST, values, none, "coherence at the multiples of the step, from 0 on")
#define MG_DEMAND_contract(K) \
	K(TEXT, counted, none, "bytes that count: of frames, or of payload where the layer sees no headers") \
	K(FLAG, at_least, none, "whether buckets may be larger because events are missing") \
	K(NUMBER, mean_rate_bit_s, none, "mean rate, bit/s") \
	K(LIST, buckets, bucket, "bucket by rate") \
	K(NUMBER, bucket_bytes, none, "bucket for the rate that was given") \
	K(NUMBER, rate_for_bucket_bit_s, none, "rate for the bucket that was given, bit/s; null if a packet alone does not fit")
#define MG_DEMAND_gcra(K) \
	K(TEXT, counted, none, "bytes that count, as for contract") \
	K(FLAG, at_least, none, "whether tolerances may be larger because events are missing") \
	K(NUMBER, cells, none, "ATM cells that carry the packets") \
	K(NUMBER, mean_cells_s, none, "mean rate of the cells, cells/s") \
	K(NUMBER, line_cells_s, none, "rate of the line") \
	K(NUMBER, pcr_cells_s, none, "peak cell rate") \
	K(NUMBER, cdvt_ns, none, "tolerance at the peak rate, ns") \
	K(LIST, contracts, gcra_contract, "tolerance by sustainable rate")

/* ---- what a flow has once, and all flows together ---- */

#define MG_DEMAND_goodput(K) \
	K(NUMBER, delivered_bytes, none, "bytes delivered") \
	K(NUMBER, wire_bytes, none, "bytes of frames that carried them") \
	K(NUMBER, ratio, none, "bytes delivered / bytes of frames") \
	K(NUMBER, rate_bit_s, none, "bytes delivered / time, bit/s") \
	K(TEXT, refused, none, "reason if these are null")
#define MG_DEMAND_jain(K) \
	K(OBJECT, tx, fairness, "of sent flows") \
	K(OBJECT, rx, fairness, "of received flows")

/* ---- their parts ---- */

#define MG_DEMAND_spread(K) \
	K(NUMBER, mean, none, "mean") \
	K(NUMBER, p50, none, "median") \
	K(NUMBER, p99, none, "99th percentile") \
	K(NUMBER, max, none, "maximum")
#define MG_DEMAND_window(K) \
	K(NUMBER, window_ms, none, "window, ms") \
	K(COUNT, n, none, "windows") \
	K(NUMBER, mean, none, "mean number of packets in a window") \
	K(NUMBER, idc, none, "variance of that number / its mean")
#define MG_DEMAND_point(K) \
	K(COUNT, m, none, "bins in a block") \
	K(COUNT, blocks, none, "blocks") \
	K(NUMBER, variance, none, "variance of the blocks' means")
#define MG_DEMAND_octave(K) \
	K(COUNT, octave, none, "octave") \
	K(NUMBER, scale_ms, none, "its time scale, ms") \
	K(COUNT, n, none, "of a layer: coefficients") \
	K(NUMBER, y, none, "of a layer: log2 of the energy") \
	K(NUMBER, sigma, none, "of a layer: standard deviation of that") \
	K(NUMBER, difference, none, "of a pair: y of the second layer less y of the first")
#define MG_DEMAND_bucket(K) \
	K(NUMBER, times_mean, none, "rate / mean rate") \
	K(NUMBER, rate_bit_s, none, "rate, bit/s") \
	K(NUMBER, bucket_bytes, none, "smallest bucket that lets all packets pass")
#define MG_DEMAND_gcra_contract(K) \
	K(NUMBER, times_mean, none, "sustainable rate / mean rate") \
	K(NUMBER, scr_cells_s, none, "sustainable cell rate") \
	K(NUMBER, tau_ns, none, "tolerance, ns") \
	K(NUMBER, mbs_cells, none, "maximum burst size, cells")
#define MG_DEMAND_fairness(K) \
	K(NUMBER, index, none, "Jain's index") \
	K(COUNT, n, none, "flows") \
	K(TEXT, layer, none, "layer at which the flows' bytes are counted") \
	K(NUMBER, from_s, none, "start of the window, seconds after the first event") \
	K(NUMBER, to_s, none, "end of the window, seconds after the first event") \
	K(LIST, flows, share, "the flows") \
	K(TEXT, refused, none, "reason if the index is null")
#define MG_DEMAND_share(K) \
	K(TEXT, id, none, "flow") \
	K(NUMBER, bytes, none, "bytes in the window") \
	K(NUMBER, goodput_bit_s, none, "goodput, bit/s")

/*
 * The statistics that have a row for each layer, or for each pair of layers, in the order in which
 * they are shown: S(NAME, key, name, layers, pairs, takes, parameters, doc, title).
 *
 * key:    the key in JSON, and its members above; `name` is what people write.
 * layers: 1 and row_KEY() of a source of demand/ fills in the row of a layer, else 0; `pairs`
 *         likewise pair_KEY().
 * takes:  which of the parameters of demand.h; `parameters` and `doc` tell what they are and what
 *         the statistic is in the list of --on-demand, `title` in the manual.
 *
 * O(name, doc): other objects.
 */
#define MG_DEMAND_STATISTICS(S) \
	S(KS, ks, "ks", 0, 1, 0, NULL, \
		"largest distance between the spacings' distributions at two layers", \
		"Spacings of packets at two layers (Kolmogorov-Smirnov)") \
	S(BURSTS, bursts, "bursts", 1, 0, P(GAP), "gap=MS ends one (1)", \
		"runs of packets or calls: how many, how large, how long", "Bursts") \
	S(IDC, idc, "idc", 1, 0, P(BIN), "bin=MS, the smallest window (1)", \
		"index of dispersion for counts, by window", "Index of dispersion of counts") \
	S(VARIANCE_TIME, variance_time, "variance-time", 1, 0, P(BIN), "bin=MS (1)", \
		"how the variance falls as bins are averaged", "Variance by time scale") \
	S(HURST, hurst, "hurst", 1, 0, P(BIN), "bin=MS (1)", \
		"the Hurst parameter, or the reason why there is none", "Long-range dependence") \
	S(SPECTRUM, spectrum, "spectrum", 1, 1, P(BIN), "bin=MS (1)", \
		"wavelet energy by scale, and its change between layers", "Energy by time scale (wavelets)") \
	S(COHERENCE, coherence, "coherence", 0, 1, P(BIN), "bin=MS (1)", \
		"coherence of two layers' rates by frequency, and their delay", "Coherence of two layers") \
	S(CONTRACT, contract, "contract", 1, 0, P(RATE) | P(BUCKET), "rate=RATE, bucket=BYTES", \
		"leaky buckets that let all packets pass", "Token buckets that let the flow pass") \
	S(GCRA, gcra, "gcra", 1, 0, P(SCR) | P(PCR) | P(LINE) | P(LINK), \
		"scr=CELLS/S, pcr=CELLS/S, line=RATE (155.52Mbit), link=BYTES (14)", \
		"the same for ATM cells: tolerance and burst size", "ATM contracts that let the flow pass")

/*
 * The statistics of a whole flow, or of all flows together, behind those: W(NAME, key, name, OF,
 * takes, parameters, doc). whole_KEY() of a source of demand/ returns the object with the members
 * above; OF is FLOW or ALL.
 */
#define MG_DEMAND_WHOLE(W) \
	W(JAIN, jain, "jain", ALL, P(FROM) | P(TO) | P(MIN), "from=S, to=S, min=BYTES of a flow that counts", \
		"fairness among the flows") \
	W(GOODPUT, goodput, "goodput", FLOW, 0, NULL, "bytes delivered / bytes of frames")

/*
 * Tables of the text report: T(NAME, rows, title, columns, curve). `rows` are the layers or the
 * pairs; `columns` are {title, key, format, key that says the value is a lower bound}, with "a.b"
 * for b in the object a; a curve is {list, key of the index, its title, key of the value, format
 * of the index, format, key as above}: a line for each member of the list. The formats are those
 * of render/text_on_demand.c.
 */
#define MG_COLUMNS(...) {__VA_ARGS__}
#define MG_CURVE(...)   {__VA_ARGS__}
#define MG_DEMAND_TABLES(T) \
	T(KS, pairs, "Distance of spacings (ks)", \
		MG_COLUMNS({"spacings", "n_from", COUNT}, {"spacings", "n_to", COUNT}, {"sup |F-G|", "sup", NUMBER}, \
			{"at", "at_ns", NS}), \
		MG_CURVE(NULL)) \
	T(BURSTS, layers, "Bursts", \
		MG_COLUMNS({"bursts", "bursts", COUNT}, {"mean count", "units.mean", NUMBER}, \
			{"mean size", "bytes.mean", BYTES}, {"p99", "bytes.p99", BYTES}, \
			{"max", "bytes.max", BYTES, "max_at_least"}, {"mean length", "duration_ns.mean", NS}, \
			{"max", "duration_ns.max", NS, "max_at_least"}), \
		MG_CURVE(NULL)) \
	T(IDC, layers, "Dispersion of counts (idc)", MG_COLUMNS({NULL}), \
		MG_CURVE("windows", "window_ms", "window", "idc", MS, NUMBER)) \
	T(VARIANCE_TIME, layers, "Variance-time", \
		MG_COLUMNS({"bins", "bins", COUNT}, {"slope", "slope", NUMBER}, {"(+-)", "slope_error", NUMBER}, \
			{"H", "H", NUMBER}), \
		MG_CURVE(NULL)) \
	T(HURST, layers, "Hurst parameter", \
		MG_COLUMNS({"H", "H", NUMBER}, {"(+-)", "H_error", NUMBER}, {"octaves from", "octave_from", COUNT}, \
			{"to", "octave_to", COUNT}, {"chi2 p", "chi2_p", NUMBER}, \
			{"variance-time", "variance_time", NUMBER}), \
		MG_CURVE(NULL)) \
	T(SPECTRUM, layers, "Wavelet energy, log2 (spectrum)", MG_COLUMNS({NULL}), \
		MG_CURVE("octaves", "scale_ms", "scale", "y", MS, NUMBER)) \
	T(SPECTRUM, pairs, "and its change", MG_COLUMNS({NULL}), \
		MG_CURVE("octaves", "scale_ms", "scale", "difference", MS, NUMBER)) \
	T(COHERENCE, pairs, "Coherence", \
		MG_COLUMNS({"segments", "segments", COUNT}, {"threshold", "threshold", NUMBER}, \
			{"above it", "coherent_share", SHARE}, {"up to", "coherent_to_hz", HZ}, {"lag", "lag_ms", MS}, \
			{"correlation", "correlation", NUMBER}), \
		MG_CURVE(NULL)) \
	T(CONTRACT, layers, "Bucket for no loss (contract)", \
		MG_COLUMNS({"counted", "counted", COUNT}, {"mean rate", "mean_rate_bit_s", BIT_S}, \
			{"rate for bucket", "rate_for_bucket_bit_s", BIT_S, "at_least"}), \
		MG_CURVE("buckets", "times_mean", "rate, of mean", "bucket_bytes", TIMES, BYTES, "at_least")) \
	T(GCRA, layers, "Burst of cells for no loss (gcra)", \
		MG_COLUMNS({"counted", "counted", COUNT}, {"cells", "cells", COUNT}, \
			{"mean cells/s", "mean_cells_s", COUNT}, {"PCR", "pcr_cells_s", COUNT}, \
			{"CDVT", "cdvt_ns", NS, "at_least"}), \
		MG_CURVE("contracts", "times_mean", "SCR, of mean", "mbs_cells", TIMES, COUNT, "at_least"))

#define MG_DEMAND_OBJECTS(O) \
	O(goodput, "Goodput of the flow") \
	O(jain, "Fairness among all flows") \
	O(spread, "Values of bursts") \
	O(window, "Windows of one length") \
	O(point, "Blocks of one length") \
	O(octave, "An octave") \
	O(bucket, "A token bucket") \
	O(gcra_contract, "An ATM contract") \
	O(fairness, "Fairness among the flows of one direction") \
	O(share, "A flow among these")
/* clang-format on */

#endif
