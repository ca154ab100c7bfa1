/* SPDX-License-Identifier: MIT */
/* Complex numbers for every compiler: glibc gives clang no CMPLX. */
#ifndef MAGNET_CORRELATE_STATS_COMPLEX_NUMBERS_H
#define MAGNET_CORRELATE_STATS_COMPLEX_NUMBERS_H

#include <complex.h>

#ifndef CMPLX
#define CMPLX(x, y) __builtin_complex((double)(x), (double)(y))
#endif

#endif
