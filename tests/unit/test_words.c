/* SPDX-License-Identifier: MIT */
#include "bytes/words.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "unit.h"

#define MOST 300

/* Writes that many words and reads them back; returns the bytes they took. */
static size_t there_and_back(const uint64_t *words, size_t n)
{
	uint8_t *bytes = malloc(WORDS_ROOM(n) + WORDS_BEYOND);
	uint64_t got[MOST] = {0};
	size_t size;

	assert_non_null(bytes);
	size = (size_t)(words_write(bytes, words, n) - bytes);
	assert_true(size <= WORDS_ROOM(n));
	assert_ptr_equal(words_read(bytes, got, n), bytes + size);
	assert_memory_equal(got, words, n * sizeof(*words));
	free(bytes);
	return size;
}

static void zeros_take_next_to_nothing(void **unused)
{
	uint64_t words[MOST] = {0};

	(void)unused;
	assert_int_equal(there_and_back(words, 0), 1);
	assert_int_equal(there_and_back(words, MOST), 1);
	words[MOST - 1] = 1; /* how many precede it, in two bytes */
	assert_int_equal(there_and_back(words, MOST), 5);
}

static void each_word_takes_the_bytes_it_needs(void **unused)
{
	uint64_t words[4] = {1, 0xffff, 1ull << 63, UINT64_MAX};
	double number = 1.5;

	(void)unused;
	assert_int_equal(there_and_back(words, 1), 1 + 1 + 1);
	assert_int_equal(there_and_back(words, 2), 2 + 3 + 1);
	assert_int_equal(there_and_back(words, 3), 2 + 3 + 2 + 1);
	assert_int_equal(there_and_back(words, 4), 2 + 3 + 2 + 9 + 1);
	memcpy(words, &number, sizeof(number));
	assert_int_equal(there_and_back(words, 1), 1 + 2 + 1);
}

static void a_time_takes_its_distance_from_the_one_before(void **unused)
{
	uint64_t t = (1ull << 50) + 1, words[4] = {t, t + 63, t - 1, t};

	(void)unused;
	assert_int_equal(there_and_back(words, 1), 8 + 1);
	assert_int_equal(there_and_back(words, 4), 8 + 2 + 2 + 2 + 1);
}

static void any_words_come_back(void **unused)
{
	uint64_t words[MOST], seed = 11;

	(void)unused;
	for (int turn = 0; turn < 2000; turn++) {
		size_t n = unit_random_below(&seed, MOST + 1);

		for (size_t i = 0; i < n; i++) {
			uint64_t high = unit_random_below(&seed, UINT32_MAX),
				 low = unit_random_below(&seed, UINT32_MAX);

			words[i] = (high << 32 | low) >> unit_random_below(&seed, 64);
			words[i] <<= unit_random_below(&seed, 64);
			if (unit_random_below(&seed, 3))
				words[i] = 0;
		}
		there_and_back(words, n);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(zeros_take_next_to_nothing),
		cmocka_unit_test(each_word_takes_the_bytes_it_needs),
		cmocka_unit_test(a_time_takes_its_distance_from_the_one_before),
		cmocka_unit_test(any_words_come_back),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
