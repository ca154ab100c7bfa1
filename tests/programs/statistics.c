/* SPDX-License-Identifier: MIT */
/*
 * Prints magnet's statistics of numbers on standard input as JSON, to be checked by others:
 *   statistics units GAP_NS BYTES_S BUCKET LINE SCR PCR    lines "t_ns bytes"
 *   statistics bins         lines of a value, nan where a gap is
 *   statistics pair         lines of two values; distributions: of the numbers in each column
 *   statistics special      lines "a x"
 *   statistics jain         lines of a value
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "stats.h"

static const char *comma = "";

static void number(double v)
{
	printf(isfinite(v) ? "%s%.17g" : "%snull", comma, v);
	comma = ", ";
}

static void named(const char *name, double v)
{
	printf("%s\"%s\": ", comma, name);
	comma = "";
	number(v);
}

static void begin(const char *name, char bracket)
{
	printf("%s", comma);
	if (name)
		printf("\"%s\": ", name);
	putchar(bracket);
	comma = "";
}

static void end(char bracket)
{
	putchar(bracket);
	comma = ", ";
}

/* Reads all numbers. */
static double *read_numbers(size_t *n)
{
	double *v = NULL;
	size_t cap = 0;
	char text[64];

	*n = 0;
	while (scanf("%63s", text) == 1) {
		if (*n == cap) {
			cap = cap ? 2 * cap : 1024;
			v = realloc(v, cap * sizeof(*v));
			if (!v)
				abort();
		}
		v[(*n)++] = strtod(text, NULL);
	}
	return v;
}

static void of_units(const struct stat_unit *u, size_t n, char **arg)
{
	static const struct stat_gaps none = {NULL, 0};
	double line = strtod(arg[3], NULL), scr = strtod(arg[4], NULL), pcr = strtod(arg[5], NULL);
	struct stat_burst *b = malloc((n + 1) * sizeof(*b));
	double *s = malloc((n + 1) * sizeof(*s)), tau;
	size_t count, dropped;

	if (!b || !s)
		abort();
	count = stat_spacings(u, n, none, s);
	begin("spacings", '[');
	for (size_t i = 0; i < count; i++)
		number(s[i]);
	end(']');
	count = stat_bursts(u, n, none, strtod(arg[0], NULL), b, &dropped);
	begin("bursts", '[');
	for (size_t i = 0; i < count; i++) {
		begin(NULL, '[');
		number(b[i].units);
		number(b[i].bytes);
		number(b[i].duration_ns);
		end(']');
	}
	end(']');
	named("bucket", stat_bucket(u, n, strtod(arg[1], NULL)));
	named("rate", stat_rate(u, n, strtod(arg[2], NULL)));
	tau = stat_gcra_tau(u, n, line, scr);
	named("tau", tau);
	named("mbs", stat_gcra_mbs(tau, scr, pcr));
	free(b);
	free(s);
}

static void scaling(const char *name, const struct stat_scaling *s)
{
	begin(name, '{');
	named("from", s->from);
	named("to", s->to);
	named("alpha", s->alpha);
	named("error", s->error);
	named("p", s->p);
	end('}');
}

static void wavelet(const double *v, size_t n)
{
	struct stat_octave o[STAT_OCTAVES];
	int k = stat_wavelet(v, n, o);
	struct stat_scaling s;

	begin("octaves", '[');
	for (int i = 0; i < k; i++) {
		begin(NULL, '[');
		number(o[i].j);
		number((double)o[i].n);
		number(o[i].energy);
		number(o[i].y);
		number(o[i].sigma);
		end(']');
	}
	end(']');
	s = stat_scaling(o, k);
	scaling("line", &s);
	s = stat_scaling_between(o, k, 2, 6);
	scaling("between", &s);
}

static void of_bins(const double *v, size_t n)
{
	struct stat_idc idc[STAT_OCTAVES];
	struct stat_vt vt[STAT_OCTAVES];
	struct stat_slope slope;
	struct stat_hurst h;
	int k = stat_idc(v, n, idc);

	begin("idc", '[');
	for (int i = 0; i < k; i++) {
		begin(NULL, '[');
		number((double)idc[i].bins);
		number((double)idc[i].windows);
		number(idc[i].mean);
		number(idc[i].idc);
		end(']');
	}
	end(']');
	k = stat_variance_time(v, n, vt);
	begin("variance_time", '[');
	for (int i = 0; i < k; i++) {
		begin(NULL, '[');
		number((double)vt[i].m);
		number((double)vt[i].blocks);
		number(vt[i].variance);
		end(']');
	}
	end(']');
	slope = stat_variance_time_slope(vt, k, NAN);
	named("slope", slope.slope);
	named("slope_error", slope.error);
	wavelet(v, n);
	stat_hurst(v, n, &h);
	named("refused", h.refused);
	named("h", h.h);
	named("h_error", h.error);
	named("h_first", h.half[0]);
	named("h_second", h.half[1]);
	named("h_variance_time", h.variance_time);
	named("h_variance_time_error", h.vt_error);
}

static void of_pair(double *x, double *y, size_t n)
{
	struct stat_coherence c;
	struct stat_lag lag;
	struct stat_ks ks;

	stat_coherence(x, y, n, &c);
	stat_lag(x, y, n, &lag);
	ks = stat_ks(x, n, y, n);
	named("sup", ks.sup);
	named("at", ks.at);
	named("lag", (double)lag.bins);
	named("correlation", lag.correlation);
	named("length", (double)c.length);
	named("segments", (double)c.segments);
	named("threshold", c.threshold);
	begin("coherence", '[');
	for (size_t k = 0; c.length && k <= c.length / 2; k++)
		number(c.value[k]);
	end(']');
	free(c.value);
}

static void of_special(const double *v, size_t n)
{
	begin("values", '[');
	for (size_t i = 0; i + 1 < n; i += 2) {
		begin(NULL, '[');
		number(stat_digamma(v[i]));
		number(stat_zeta2(v[i]));
		number(stat_chi2_beyond(v[i + 1], v[i]));
		end(']');
	}
	end(']');
}

int main(int argc, char **argv)
{
	size_t n;
	double *v, *other;

	if (argc < 2)
		return 2;
	v = read_numbers(&n);
	begin(NULL, '{');
	if (strcmp(argv[1], "units") == 0 && argc == 8) {
		of_units((struct stat_unit *)v, n / 2, argv + 2);
	} else if (strcmp(argv[1], "bins") == 0) {
		of_bins(v, n);
	} else if (strcmp(argv[1], "pair") == 0) {
		other = malloc((n + 1) * sizeof(*other));
		if (!other)
			abort();
		for (size_t i = 0; i < n / 2; i++) {
			other[i] = v[2 * i + 1];
			v[i] = v[2 * i];
		}
		of_pair(v, other, n / 2);
		free(other);
	} else if (strcmp(argv[1], "special") == 0) {
		of_special(v, n);
	} else if (strcmp(argv[1], "jain") == 0) {
		named("jain", stat_jain(v, n));
	}
	end('}');
	putchar('\n');
	free(v);
	return 0;
}
