/* SPDX-License-Identifier: MIT */
/* Rows of charts in bounded memory, and their numbers in a page. */
#include "feed.h"

#include "page/packed.h"
#include "page/texts.h"
#include "page/track.h"

#define FLOW(number)                             \
	{                                        \
		.of = number, .kind = TRACK_SIZE \
	}

static struct track *filled(struct tracks *all, uint64_t of, size_t rows, size_t large)
{
	struct track_key key = FLOW(of);
	struct track *t = track_of(all, &key);

	for (size_t i = 0; i < rows; i++)
		track_add(all, t,
			(uint64_t[TRACK_COLUMNS]){1000 + i, i == large ? 9999 : i % 100 + 1, 0});
	return t;
}

static void columns_have_names_and_types(void **unused)
{
	const struct track_form *f = track_form(TRACK_DROP);

	(void)unused;
	assert_int_equal(f->columns, 4);
	assert_string_equal(f->column[0], "time");
	assert_string_equal(f->column[3], "why");
	assert_int_equal(f->type[0], TRACK_TIME);
	assert_int_equal(f->type[1], TRACK_COUNT);
	assert_int_equal(f->type[3], TRACK_TEXT);
}

static void few_rows_are_all_kept_and_sorted(void **unused)
{
	struct tracks all = {.most = 100};
	struct track_key key = FLOW(1);
	struct track *t = track_of(&all, &key);

	(void)unused;
	for (uint64_t i = 0; i < 10; i++)
		track_add(&all, t, (uint64_t[TRACK_COLUMNS]){100 - i, i, 0});
	tracks_sort(&all);
	assert_int_equal(t->n, 10);
	assert_ptr_equal(track_of(&all, &key), t);
	for (uint64_t i = 0; i < 10; i++) {
		assert_int_equal(t->row[3 * i], 91 + i);
		assert_int_equal(t->row[3 * i + 1], 9 - i);
	}
	tracks_free(&all);
}

static void thinned_track_keeps_ends_and_extremes(void **unused)
{
	struct tracks all = {.most = 50000};
	struct track *few = filled(&all, 2, 100, 50), *t = filled(&all, 1, 200000, 123457);
	bool has_large = false;

	(void)unused;
	tracks_sort(&all);
	assert_int_equal(few->n, 100);
	assert_true(all.rows <= all.most && all.rows == few->n + t->n);
	assert_int_equal(t->seen, 200000);
	assert_int_equal(t->row[0], 1000);
	assert_int_equal(t->row[3 * (t->n - 1)], 1000 + 199999);
	for (size_t i = 0; i < t->n; i++)
		if (t->row[3 * i + 1] == 9999)
			has_large = t->row[3 * i] == 1000 + 123457;
	assert_true(has_large);
	tracks_free(&all);
}

static void many_short_tracks_are_thinned_too(void **unused)
{
	struct tracks all = {.most = 20000};

	(void)unused;
	for (uint64_t of = 1; of <= 300; of++)
		filled(&all, of, 100, 0);
	assert_true(all.rows <= all.most);
	tracks_free(&all);
}

static void numbers_take_seven_bits_a_byte(void **unused)
{
	static const uint8_t expected[] = {
		0, 127, 128, 1, 255, 255, 255, 255, 255, 255, 255, 255, 255, 1};
	struct packed p = {0};
	char *text;
	size_t size;
	FILE *to = mg_text_open(&text, &size);

	(void)unused;
	packed_add(&p, 0);
	packed_add(&p, 127);
	packed_add(&p, 128);
	packed_add(&p, UINT64_MAX);
	assert_int_equal(p.n, sizeof(expected));
	assert_memory_equal(p.bytes, expected, sizeof(expected));
	packed_write(&p, to);
	assert_null(p.bytes);
	assert_true(mg_text_close(to, &text));
	assert_int_equal(size % 4, 0); /* base64 of what zlib made, which begins with 0x78 */
	assert_int_equal(text[0], 'e');
	free(text);
}

static void texts_are_kept_once(void **unused)
{
	struct texts t = {0};
	json_t *all;

	(void)unused;
	assert_int_equal(texts_number(&t, "a"), 0);
	assert_int_equal(texts_number(&t, "b"), 1);
	assert_int_equal(texts_number(&t, "a"), 0);
	all = texts_json(&t);
	assert_int_equal(json_array_size(all), 2);
	assert_string_equal(json_string_value(json_array_get(all, 1)), "b");
	json_decref(all);
	texts_free(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(columns_have_names_and_types),
		cmocka_unit_test(few_rows_are_all_kept_and_sorted),
		cmocka_unit_test(thinned_track_keeps_ends_and_extremes),
		cmocka_unit_test(many_short_tracks_are_thinned_too),
		cmocka_unit_test(numbers_take_seven_bits_a_byte),
		cmocka_unit_test(texts_are_kept_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
