/* SPDX-License-Identifier: MIT */
/*
 * Coherence: the share of one layer's rate that is a linear image of another's, by frequency; and
 * the lag between them.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "alloc.h"
#include "complex_numbers.h"
#include "stats.h"

#define LENGTH_MIN 16
#define LENGTH_MAX 1024

static size_t segment_length(size_t bins)
{
	size_t length = LENGTH_MAX;

	while (length >= LENGTH_MIN && bins / length < STAT_SEGMENTS)
		length /= 2;
	return length >= LENGTH_MIN ? length : 0;
}

struct spectra {
	double *xx, *yy;
	double complex *xy;
};

static double mean(const double *x, size_t n)
{
	double sum = 0;

	for (size_t i = 0; i < n; i++)
		sum += x[i];
	return sum / (double)n;
}

/*
 * Adds the spectra of one segment, with its mean removed, in a Hann window. Returns 1 if a gap
 * touches it.
 */
static int add_segment(
	struct spectra *s, const double *x, const double *y, size_t n, double complex *z)
{
	double xm = mean(x, n), ym = mean(y, n);

	if (isnan(xm + ym))
		return 1;
	for (size_t i = 0; i < n; i++) {
		double w = 0.5 - 0.5 * cos(2 * M_PI * (double)i / (double)n);

		z[i] = CMPLX((x[i] - xm) * w, (y[i] - ym) * w);
	}
	if (stat_fft(z, n))
		return -ENOMEM;
	/* both inputs are real, so one transform holds both */
	for (size_t k = 0; k <= n / 2; k++) {
		double complex a = z[k], b = conj(z[(n - k) % n]);
		double complex fx = (a + b) / 2, fy = (a - b) / CMPLX(0, 2);

		s->xx[k] += creal(fx) * creal(fx) + cimag(fx) * cimag(fx);
		s->yy[k] += creal(fy) * creal(fy) + cimag(fy) * cimag(fy);
		s->xy[k] += conj(fx) * fy;
	}
	return 0;
}

int stat_coherence(const double *x, const double *y, size_t bins, struct stat_coherence *out)
{
	size_t n = segment_length(bins), values = n / 2 + 1;
	struct spectra s = {NULL};
	double complex *z = NULL;
	int err = -ENOMEM;

	*out = (struct stat_coherence){.threshold = NAN};
	if (!n)
		return 0;
	s.xx = mg_calloc(values, sizeof(*s.xx));
	s.yy = mg_calloc(values, sizeof(*s.yy));
	s.xy = mg_calloc(values, sizeof(*s.xy));
	z = mg_malloc(n * sizeof(*z));
	out->value = mg_malloc(values * sizeof(*out->value));
	if (!s.xx || !s.yy || !s.xy || !z || !out->value)
		goto out;
	for (size_t i = 0; i + n <= bins; i += n) {
		err = add_segment(&s, x + i, y + i, n, z);
		if (err < 0)
			goto out;
		out->segments += err == 0;
	}
	err = 0;
	if (out->segments < STAT_SEGMENTS) /* gaps touch the other segments */
		goto out;
	out->length = n;
	out->threshold = 1 - pow(0.05, 1 / (double)(out->segments - 1));
	for (size_t k = 0; k < values; k++) {
		double power = s.xx[k] * s.yy[k], cross = cabs(s.xy[k]);

		out->value[k] = power > 0 ? cross * cross / power : NAN;
	}
out:
	if (!out->length) {
		free(out->value);
		out->value = NULL;
	}
	free(s.xx);
	free(s.yy);
	free(s.xy);
	free(z);
	return err;
}

/* Subtracts the mean; a bin that a gap touches counts as the mean. Returns the power. */
static double centre(const double *x, size_t bins, double *out)
{
	double sum = 0, power = 0;
	size_t n = 0;

	for (size_t i = 0; i < bins; i++)
		if (!isnan(x[i])) {
			sum += x[i];
			n++;
		}
	for (size_t i = 0; i < bins; i++) {
		out[i] = isnan(x[i]) ? 0 : x[i] - sum / (double)n;
		power += out[i] * out[i];
	}
	return power;
}

/* Turns the transform of z = x + iy in place into that of the cross-correlation. */
static void cross(double complex *z, size_t n)
{
	for (size_t k = 0; k <= n / 2; k++) {
		double complex a = z[k], b = z[(n - k) % n];
		double complex fx = (a + conj(b)) / 2, fy = (a - conj(b)) / CMPLX(0, 2);
		double complex c = conj(fx) * fy;

		/* the inverse is the transform of the conjugate, reversed: transform once more */
		z[k] = conj(c);
		z[(n - k) % n] = c;
	}
}

int stat_lag(const double *x, const double *y, size_t bins, struct stat_lag *out)
{
	int64_t most = (int64_t)(bins / 4);
	double complex *z = NULL;
	double *a, *b, power;
	size_t n = 2;
	int err = -ENOMEM;

	*out = (struct stat_lag){0, NAN};
	if (bins < 4 || bins > STAT_LAG_BINS)
		return 0;
	while (n < bins + (size_t)most + 1)
		n *= 2;
	a = mg_malloc(bins * sizeof(*a));
	b = mg_malloc(bins * sizeof(*b));
	z = mg_calloc(n, sizeof(*z));
	if (!a || !b || !z)
		goto out;
	power = sqrt(centre(x, bins, a) * centre(y, bins, b));
	for (size_t i = 0; i < bins; i++)
		z[i] = CMPLX(a[i], b[i]);
	err = stat_fft(z, n);
	if (err)
		goto out;
	cross(z, n);
	err = stat_fft(z, n);
	if (err || !(power > 0))
		goto out;
	/* among equal peaks takes the one with the least lag */
	for (int64_t lag = 0; lag <= most; lag++)
		for (int sign = 1; sign >= -1; sign -= 2) {
			size_t at = (size_t)(sign * lag + (int64_t)n) % n;
			double r = creal(z[at]) / (double)n / power;

			if (isnan(out->correlation) || r > out->correlation + 1e-12) {
				out->correlation = r;
				out->bins = sign * lag;
			}
		}
out:
	free(a);
	free(b);
	free(z);
	return err;
}
