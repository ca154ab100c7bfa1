/* SPDX-License-Identifier: MIT */
/* Lines put together in memory have the bytes that stdio would have written. */
#include <inttypes.h>
#include <stdlib.h>

#include "line.h"
#include "unit.h"

static char *text;

static int teardown(void **unused)
{
	(void)unused;
	free(text);
	text = NULL;
	return 0;
}

/* Calls `add` with a line and returns what was written. */
static const char *written(void (*add)(struct line *l))
{
	struct line l;
	size_t size;

	free(text);
	l.to = open_memstream(&text, &size);
	l.used = 0;
	assert_non_null(l.to);
	add(&l);
	line_flush(&l);
	fclose(l.to);
	return text;
}

static uint64_t number;
static void add_unsigned(struct line *l)
{
	line_unsigned(l, number);
}
static void add_signed(struct line *l)
{
	line_signed(l, (int64_t)number);
}
static void add_hex(struct line *l)
{
	line_hex(l, number);
}

static void check_number(uint64_t value)
{
	char expected[32];

	number = value;
	snprintf(expected, sizeof(expected), "%" PRIu64, value);
	assert_string_equal(written(add_unsigned), expected);
	snprintf(expected, sizeof(expected), "%" PRId64, (int64_t)value);
	assert_string_equal(written(add_signed), expected);
	snprintf(expected, sizeof(expected), "0x%" PRIx64, value);
	assert_string_equal(written(add_hex), expected);
}

static void numbers_are_those_of_printf(void **unused)
{
	uint64_t power = 1;

	(void)unused;
	for (int i = 0; i < 20; i++, power *= 10) {
		check_number(power - 1);
		check_number(power);
		check_number(power + 1);
	}
	for (int i = 0; i < 64; i++) {
		check_number(1ull << i);
		check_number((1ull << i) - 1);
	}
	check_number(UINT64_MAX);
}

static double tenths;
static void add_tenths(struct line *l)
{
	line_tenths(l, tenths);
}

static void tenths_are_rounded_as_by_printf(void **unused)
{
	static const double values[] = {0, 0.04, 0.05, 0.15, 0.25, 0.35, 0.45, 0.95, 9.95, 99.95,
		1.05, 1e9 + 0.05, 123456789.25, 1e14 + 0.5, 1e17, 0.049999999999999996, 2.5e-9,
		-0.05, -3.25};
	char expected[64];
	uint32_t seed = 1;

	(void)unused;
	for (size_t i = 0; i < sizeof(values) / sizeof(values[0]) + 20000; i++) {
		seed = seed * 1103515245 + 12345;
		tenths = i < sizeof(values) / sizeof(values[0]) ? values[i]
			 : i & 1                                ? seed / 20.0
								: seed / 2596.128;
		snprintf(expected, sizeof(expected), "%.1f", tenths);
		assert_string_equal(written(add_tenths), expected);
	}
}

static void add_long(struct line *l)
{
	static char many[3 * LINE_BYTES + 1];

	memset(many, 'x', sizeof(many) - 1);
	line_text(l, "a");
	line_text(l, many);
	for (int i = 0; i < LINE_BYTES; i++)
		line_unsigned(l, 12);
	line_words(l, "b c\n", 4);
	line_end(l);
}

static void longer_than_its_memory(void **unused)
{
	const char *s = written(add_long);

	(void)unused;
	assert_int_equal(strlen(s), 1 + 3 * LINE_BYTES + 2 * LINE_BYTES + 4 + 1);
	assert_int_equal(s[0], 'a');
	assert_int_equal(strspn(s + 1, "x"), 3 * LINE_BYTES);
	assert_int_equal(strspn(s + 1 + 3 * LINE_BYTES, "12"), 2 * LINE_BYTES);
	assert_string_equal(s + 1 + 5 * LINE_BYTES, "b_c_\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(numbers_are_those_of_printf, teardown),
		cmocka_unit_test_teardown(tenths_are_rounded_as_by_printf, teardown),
		cmocka_unit_test_teardown(longer_than_its_memory, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
