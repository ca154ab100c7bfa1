/* SPDX-License-Identifier: MIT */
/*
 * Statistics of traffic: pure functions over packets ("units": a time and a size), or over bins of
 * them. They know nothing of traces and flows. A spacing, a burst or a bin that a gap in the
 * recording touches is dropped; such a bin is NAN, and so is everything made of it.
 *
 * Formulas and their sources: docs/method.md, "On demand". The caller owns all arrays; functions
 * that allocate return -ENOMEM on failure.
 */
#ifndef MAGNET_CORRELATE_STATS_H
#define MAGNET_CORRELATE_STATS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A packet; arrays of them are in order of time. */
struct stat_unit {
	double t_ns, bytes;
};

/* A gap; arrays of them are in order and do not overlap. */
struct stat_gap {
	double from_ns, to_ns;
};

struct stat_gaps {
	const struct stat_gap *v;
	size_t n;
};

/* ---- series.c ---- */

/* Writes the spacings that touch no gap to `out`, which has room for n. Returns how many. */
size_t stat_spacings(const struct stat_unit *u, size_t n, struct stat_gaps gaps, double *out);
/* Fills `bins` bins from `from_ns` on with the number of packets, or of their bytes. */
void stat_bins(const struct stat_unit *u, size_t n, struct stat_gaps gaps, double from_ns,
	double width_ns, bool count, double *bin, size_t bins);
/* Compares two doubles, for qsort(). */
int stat_ascending(const void *a, const void *b);
/* Returns the nearest-rank quantile (Hyndman & Fan 1996, type 1) of values in ascending order. */
double stat_quantile(const double *sorted, size_t n, double q);

/* ---- ks.c ---- */

struct stat_ks {
	double sup; /* largest distance of the distribution functions */
	double at;  /* first value where it is reached */
};
/* Sorts both arrays in ascending order; neither may be empty. */
struct stat_ks stat_ks(double *a, size_t an, double *b, size_t bn);

/* ---- bursts.c ---- */

struct stat_burst {
	double units, bytes, duration_ns;
};
/*
 * Writes the runs of packets with spacings of at most gap_ns to `out`, which has room for n.
 * Returns how many.
 */
size_t stat_bursts(const struct stat_unit *u, size_t n, struct stat_gaps gaps, double gap_ns,
	struct stat_burst *out, size_t *dropped);

/* ---- idc.c ---- */

#define STAT_OCTAVES     48
#define STAT_IDC_WINDOWS 30 /* least number of disjoint windows */

struct stat_idc {
	size_t bins;    /* bins of a window, a power of two */
	size_t windows; /* disjoint, complete windows */
	double mean, idc;
};
/*
 * Computes the index of dispersion for counts over windows of 1, 2, 4, ... bins. Returns how many,
 * or -ENOMEM.
 */
int stat_idc(const double *bin, size_t bins, struct stat_idc out[STAT_OCTAVES]);

/* ---- variance_time.c ---- */

#define STAT_VT_BLOCKS 30

struct stat_vt {
	size_t m; /* bins aggregated, a power of two */
	size_t blocks;
	double variance; /* variance of their means */
};
int stat_variance_time(const double *bin, size_t bins, struct stat_vt out[STAT_OCTAVES]);

struct stat_slope {
	double slope, error; /* half of the 95 % interval */
};
/*
 * Fits log variance to log m by least squares; NAN with fewer than three points. The error is that
 * of a series with this H, or, if it is NAN, with the H that follows from the slope.
 */
struct stat_slope stat_variance_time_slope(const struct stat_vt *v, int n, double h);

/* ---- wavelet.c ---- */

struct stat_octave {
	int j; /* scale 2^j bins */
	size_t n;
	double energy; /* mean square of the coefficients */
	double y;      /* -INFINITY where there is no energy at that scale */
	double sigma;
};
/* Computes the Haar octaves with at least 4 coefficients. Returns how many, or -ENOMEM. */
int stat_wavelet(const double *bin, size_t bins, struct stat_octave out[STAT_OCTAVES]);

struct stat_scaling {
	int from, to; /* octaves; 0 if no four of them lie on a line */
	double alpha, error;
	double p; /* p value of chi-square, of the last attempt if none lies on a line */
};
/*
 * Fits a line from the finest octave that allows one to the coarsest with at least 8 coefficients.
 */
struct stat_scaling stat_scaling(const struct stat_octave *o, int n);
/* Fits a weighted line between two given octaves. */
struct stat_scaling stat_scaling_between(const struct stat_octave *o, int n, int from, int to);

/* ---- hurst.c ---- */

#define STAT_HURST_BINS (1u << 14)

enum stat_no_hurst {
	HURST_KNOWN,
	HURST_GAP,
	HURST_SHORT,
	HURST_NO_LINE,
	HURST_RANGE,
	HURST_HALVES,
	HURST_ESTIMATORS
};

struct stat_hurst {
	enum stat_no_hurst refused;
	double h, error; /* half of an interval of at least 95 %; NAN if refused */
	struct stat_scaling scaling;
	double half[2], half_error[2];  /* H of both halves */
	double variance_time, vt_error; /* H by variance-time, over the same scales */
};
int stat_hurst(const double *bin, size_t bins, struct stat_hurst *out);

/* ---- coherence.c ---- */

#define STAT_SEGMENTS 16 /* least number of segments */

struct stat_coherence {
	size_t length;    /* bins of a segment, a power of two; 0 = too few bins */
	size_t segments;  /* independent segments */
	double threshold; /* value below which 95 % of independent series stay */
	/* length / 2 + 1 values, at multiples of 1 / (length * bin); the caller frees them */
	double *value;
};
int stat_coherence(const double *x, const double *y, size_t bins, struct stat_coherence *out);

#define STAT_LAG_BINS (1u << 22)

struct stat_lag {
	int64_t bins; /* bins by which y follows x */
	double correlation;
};
/*
 * Finds the peak of the cross-correlation over lags of up to a quarter of the bins, STAT_LAG_BINS
 * at most.
 */
int stat_lag(const double *x, const double *y, size_t bins, struct stat_lag *out);

/* ---- contract.c ---- */

/* Returns b*(r), the least bucket that lets all packets pass at a rate. */
double stat_bucket(const struct stat_unit *u, size_t n, double bytes_per_s);
/* Returns r*(b), the least rate for a bucket; INFINITY if packets that come together do not fit. */
double stat_rate(const struct stat_unit *u, size_t n, double bucket_bytes);

/* ---- gcra.c ---- */

#define STAT_CELL_BITS 424

/* Returns the AAL5 cells that a packet takes. */
double stat_cells(double packet_bytes);
/*
 * Returns tau in ns, the tolerance of GCRA(1/rate, tau) that lets all cells pass if they leave at
 * line rate.
 */
double stat_gcra_tau(const struct stat_unit *u, size_t n, double line_cells_s, double rate_cells_s);
/* Returns the maximum burst size in cells; NAN unless the sustainable rate lies below the peak. */
double stat_gcra_mbs(double tau_ns, double scr_cells_s, double pcr_cells_s);

/* ---- jain.c ---- */

/* Returns 1 if all shares are equal, 1/n if one has everything; NAN if all are 0. */
double stat_jain(const double *x, size_t n);

/* ---- special.c ---- */

double stat_digamma(double x); /* x > 0 */
double stat_zeta2(double a);   /* Hurwitz zeta(2, a), a > 0 */
/* Returns the probability that chi-square with k degrees of freedom exceeds x. */
double stat_chi2_beyond(double x, double k);

/* ---- fft.c ---- */

/* Transforms in place; n is a power of two; re and im alternate. */
int stat_fft(double _Complex *x, size_t n);

#endif
