/* SPDX-License-Identifier: MIT */
#include "options.h"
#include "unit.h"

#define UNTOUCHED 77

static void assert_number(const char *text, uint64_t expected)
{
	uint64_t n = UNTOUCHED;

	assert_true(option_number(text, 0, UINT64_MAX, &n));
	assert_int_equal(n, expected);
}

static void assert_no_number(const char *text, uint64_t min, uint64_t max)
{
	uint64_t n = UNTOUCHED;

	assert_false(option_number(text, min, max, &n));
	assert_int_equal(n, UNTOUCHED);
}

static void numbers_are_whole_and_decimal(void **unused)
{
	(void)unused;
	assert_number("0", 0);
	assert_number("1500", 1500);
	assert_number("0010", 10); /* not octal */
	assert_number("18446744073709551615", UINT64_MAX);
}

static void numbers_with_anything_else_are_refused(void **unused)
{
	static const char *const bad[] = {
		"", " 1", "1 ", "+1", "-1", "1.5", "1e3", "0x10", "ten", "1K", "\t1"};

	(void)unused;
	for (size_t i = 0; i < COUNT(bad); i++)
		assert_no_number(bad[i], 0, UINT64_MAX);
}

static void numbers_that_overflow_are_refused(void **unused)
{
	(void)unused;
	assert_no_number("18446744073709551616", 0, UINT64_MAX);
	assert_no_number("99999999999999999999999", 0, UINT64_MAX);
}

static void numbers_outside_the_range_are_refused(void **unused)
{
	uint64_t n;

	(void)unused;
	assert_no_number("9", 10, 20);
	assert_no_number("21", 10, 20);
	assert_true(option_number("10", 10, 20, &n));
	assert_true(option_number("20", 10, 20, &n));
}

static void assert_size(const char *text, uint64_t expected)
{
	uint64_t n = UNTOUCHED;

	assert_true(option_size(text, 0, UINT64_MAX, &n));
	assert_int_equal(n, expected);
}

static void assert_no_size(const char *text, uint64_t min, uint64_t max)
{
	uint64_t n = UNTOUCHED;

	assert_false(option_size(text, min, max, &n));
	assert_int_equal(n, UNTOUCHED);
}

static void sizes_take_powers_of_1024(void **unused)
{
	(void)unused;
	assert_size("4096", 4096);
	assert_size("4K", 4096);
	assert_size("4k", 4096);
	assert_size("3M", 3 << 20);
	assert_size("2g", 2ull << 30);
	assert_size("0G", 0);
	assert_size("17179869183G", 17179869183ull << 30);
}

static void other_units_are_refused(void **unused)
{
	static const char *const bad[] = {
		"", "K", "1T", "1KB", "1KiB", "1 K", "1KK", "-1K", "1.5K"};

	(void)unused;
	for (size_t i = 0; i < COUNT(bad); i++)
		assert_no_size(bad[i], 0, UINT64_MAX);
}

static void sizes_that_overflow_are_refused(void **unused)
{
	(void)unused;
	assert_no_size("17179869184G", 0, UINT64_MAX); /* 2^34 times 2^30 */
	assert_no_size("18446744073709551615K", 0, UINT64_MAX);
	assert_no_size("18446744073709551616", 0, UINT64_MAX);
}

static void the_range_of_a_size_is_in_bytes(void **unused)
{
	uint64_t n;

	(void)unused;
	assert_no_size("3K", 4096, 8192);
	assert_no_size("9K", 4096, 8192);
	assert_true(option_size("4K", 4096, 8192, &n));
	assert_true(option_size("8K", 4096, 8192, &n));
}

static void layers_become_bits(void **unused)
{
	uint32_t layers = 0;

	(void)unused;
	assert_true(option_layers("tcp", &layers));
	assert_int_equal(layers, 1u << MG_LAYER_TCP);
	assert_true(option_layers("device,ip,device", &layers));
	assert_int_equal(layers, 1u << MG_LAYER_DEVICE | 1u << MG_LAYER_IP);
	assert_true(option_layers("none", &layers));
	assert_int_equal(layers, 0);
}

static void the_choices_offered_are_all_layers(void **unused)
{
	uint32_t layers = 0;

	(void)unused;
	assert_true(option_layers(MG_LAYER_CHOICES, &layers));
	assert_int_equal(layers, MG_ALL_LAYERS);
}

static void light_is_short_for_layers(void **unused)
{
	uint32_t layers;

	(void)unused;
	assert_true(option_layers("light", &layers));
	assert_int_equal(layers, MG_LIGHT_LAYERS | MG_LIGHT_ALONE);
	assert_true(option_layers("socket,tcp,device", &layers));
	assert_int_equal(layers, MG_LIGHT_LAYERS);
	assert_true(option_layers("light,ip", &layers));
	assert_int_equal(layers, MG_LIGHT_LAYERS | 1u << MG_LAYER_IP);
	assert_true(option_layers("+light", &layers));
	assert_int_equal(layers, MG_USUAL_LAYERS);
	assert_false(option_layers("ligh", &layers));
}

static void a_plus_adds_to_the_default(void **unused)
{
	uint32_t layers;

	(void)unused;
	assert_true(option_layers("+switch", &layers));
	assert_int_equal(layers, MG_USUAL_LAYERS | 1u << MG_LAYER_SWITCH);
	assert_true(option_layers("+tcp", &layers));
	assert_int_equal(layers, MG_USUAL_LAYERS);
	assert_false(option_layers("+", &layers));
	assert_false(option_layers("+none", &layers));
	assert_false(option_layers("tcp,+switch", &layers));
}

static void switches_are_recorded_with_their_durations(void **unused)
{
	uint32_t layers;

	(void)unused;
	assert_true(option_layers("switch", &layers));
	assert_int_equal(layers, 1u << MG_LAYER_SWITCH | 1u << MG_LAYER_SCHED);
}

static void layers_that_cannot_be_chosen_are_refused(void **unused)
{
	static const char *const bad[] = {"", ",", "tcp,", ",tcp", "tcp,,ip", "TCP", "tc", "tcpx",
		"tcp ip", "app", "tracer", "tcp,app"};
	uint32_t layers;

	(void)unused;
	for (size_t i = 0; i < COUNT(bad); i++)
		assert_false(option_layers(bad[i], &layers));
}

static void levels_have_names(void **unused)
{
	uint8_t level = 9;

	(void)unused;
	assert_true(option_level("none", &level));
	assert_int_equal(level, 0);
	assert_true(option_level("light", &level));
	assert_int_equal(level, 1);
	assert_true(option_level("full", &level));
	assert_int_equal(level, 2);
	assert_false(option_level("", &level));
	assert_false(option_level("fully", &level));
	assert_false(option_level("2", &level));
	assert_int_equal(level, 2);
}

static void an_amount_is_bytes_or_seconds(void **unused)
{
	uint64_t bytes, ns;

	(void)unused;
	assert_true(option_amount("64M", 64 << 10, &bytes, &ns));
	assert_int_equal(bytes, 64 << 20);
	assert_int_equal(ns, 0);
	assert_true(option_amount("30s", 64 << 10, &bytes, &ns));
	assert_int_equal(bytes, 0);
	assert_int_equal(ns, 30000000000);
	assert_false(option_amount("", 64 << 10, &bytes, &ns));
	assert_false(option_amount("s", 64 << 10, &bytes, &ns));
	assert_false(option_amount("0s", 64 << 10, &bytes, &ns));
	assert_false(option_amount("1", 64 << 10, &bytes, &ns));
	assert_false(option_amount("5m30s", 64 << 10, &bytes, &ns));
	assert_false(option_amount("11111111111111111111111111111s", 64 << 10, &bytes, &ns));
}

static void a_refused_value_tells_what_is_taken(void **unused)
{
	uint64_t n, ns;
	uint32_t layers;
	uint8_t level;

	(void)unused;
	assert_false(option_number("0", 1, 10000, &n));
	assert_string_equal(option_takes(), "a whole number from 1 to 10000");
	assert_false(option_size("1", MG_BUFFER_MIN, MG_BUFFER_MAX, &n));
	assert_string_equal(option_takes(), "a size from 4K to 512M, in bytes or with K, M or G");
	assert_false(option_amount("1s2", 1 << 20, &n, &ns));
	assert_string_equal(option_takes(),
		"a size from 1M to 1048576G with K, M or G, or a time from 1s to 1000000s");
	assert_false(option_layers("tcp,", &layers));
	assert_string_equal(option_takes(), "layers of " MG_LAYER_CHOICES ", light, or none");
	assert_false(option_level("much", &level));
	assert_string_equal(option_takes(), "none, light or full");
	assert_false(option_calls("send,nonsense"));
	assert_non_null(strstr(option_takes(), "there is no nonsense"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(numbers_are_whole_and_decimal),
		cmocka_unit_test(numbers_with_anything_else_are_refused),
		cmocka_unit_test(numbers_that_overflow_are_refused),
		cmocka_unit_test(numbers_outside_the_range_are_refused),
		cmocka_unit_test(a_refused_value_tells_what_is_taken),
		cmocka_unit_test(sizes_take_powers_of_1024),
		cmocka_unit_test(other_units_are_refused),
		cmocka_unit_test(sizes_that_overflow_are_refused),
		cmocka_unit_test(the_range_of_a_size_is_in_bytes),
		cmocka_unit_test(layers_become_bits),
		cmocka_unit_test(the_choices_offered_are_all_layers),
		cmocka_unit_test(light_is_short_for_layers),
		cmocka_unit_test(a_plus_adds_to_the_default),
		cmocka_unit_test(switches_are_recorded_with_their_durations),
		cmocka_unit_test(layers_that_cannot_be_chosen_are_refused),
		cmocka_unit_test(levels_have_names),
		cmocka_unit_test(an_amount_is_bytes_or_seconds),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
