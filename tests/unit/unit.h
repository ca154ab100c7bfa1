/* SPDX-License-Identifier: MIT */
/* Common parts of all unit tests: cmocka with the headers it needs before it, and a few helpers. */
#ifndef MAGNET_TESTS_UNIT_H
#define MAGNET_TESTS_UNIT_H

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

/* cmocka's own comparison of floats has only float precision. */
#define assert_near(value, expected, tolerance) \
	unit_assert_near(value, expected, tolerance, #value, __FILE__, __LINE__)
static inline void unit_assert_near(double value, double expected, double tolerance,
	const char *what, const char *file, int line)
{
	if (fabs(value - expected) <= tolerance) /* false for NAN */
		return;
	print_error("%s is %.17g, not %.17g within %g\n", what, value, expected, tolerance);
	_fail(file, line);
}

#define assert_begins(text, with) assert_int_equal(strncmp(text, with, strlen(with)), 0)

/* xorshift64*: the same numbers in every run and on every machine. */
static inline uint64_t unit_random(uint64_t *state)
{
	*state ^= *state >> 12;
	*state ^= *state << 25;
	*state ^= *state >> 27;
	return *state * 0x2545F4914F6CDD1Dull;
}

static inline uint64_t unit_random_below(uint64_t *state, uint64_t n)
{
	return (unit_random(state) >> 11) % n;
}

#endif
