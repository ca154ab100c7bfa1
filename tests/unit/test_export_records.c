/* SPDX-License-Identifier: MIT */
/* Facts and events as tables of fixed-width records, read by their description. */
#include "export/records.h"

#include <errno.h>

#include "export/record_file.h"
#include "export/strings.h"
#include "export_scene.h"

/* A table as schema.json describes it, and its records. */
struct opened {
	json_t *schema;
	const json_t *table;
	char *records;
};

static json_t *parsed(const struct scene *s, const char *name)
{
	char *text = scene_text(s, name);
	json_t *j = json_loads(text, 0, NULL);

	assert_non_null(j);
	free(text);
	return j;
}

static const json_t *named(const json_t *list, const char *name)
{
	const json_t *j;
	size_t i;

	json_array_foreach (list, i, j) {
		if (strcmp(json_string_value(json_object_get(j, "name")), name) == 0)
			return j;
	}
	fail_msg("there is no %s", name);
	return NULL;
}

static struct opened open_table(const struct scene *s, const char *name)
{
	struct opened o;
	char *text = scene_text(s, "schema.json");

	/* the greatest number of 64 bits does not fit jansson's */
	for (char *at; (at = strstr(text, "18446744073709551615"));)
		memcpy(at, "-1                  ", 20);
	o.schema = json_loads(text, 0, NULL);
	free(text);
	assert_non_null(o.schema);
	o.table = named(json_object_get(o.schema, "tables"), name);
	o.records = scene_text(s, json_string_value(json_object_get(o.table, "file")));
	return o;
}

static void close_table(struct opened *o)
{
	json_decref(o->schema);
	free(o->records);
}

/* Returns a value of a record, which has so many bytes. */
static uint64_t value(const struct opened *o, const char *column, int row, size_t bytes)
{
	const json_t *c = named(json_object_get(o->table, "columns"), column);
	json_int_t width = json_integer_value(json_object_get(o->table, "record_bytes"));
	uint64_t v = 0;

	assert_in_range(row, 0, json_integer_value(json_object_get(o->table, "rows")) - 1);
	memcpy(&v, o->records + row * width + json_integer_value(json_object_get(c, "offset")),
		bytes);
	return v;
}

static const char *text_of(
	const json_t *strings, const struct opened *o, const char *column, int row)
{
	return json_string_value(json_array_get(strings, value(o, column, row, 4)));
}

static void texts_are_numbers_of_strings(void **unused)
{
	static struct scene s;
	struct opened flow;
	json_t *strings;

	(void)unused;
	scene_begin(&s, "out", records_begin);
	scene_feed(&s);
	assert_true(scene_write(&s, records_end));
	flow = open_table(&s, "flow");
	strings = parsed(&s, "strings.json");
	assert_string_equal(text_of(strings, &flow, "program", 0), "q\"=\\,__\xc3\xa9_ z");
	assert_string_equal(text_of(strings, &flow, "device", 0), "");
	json_decref(strings);
	close_table(&flow);
	scene_end(&s);
}

/* The description says which value stands for one that is not known. */
static void unknown_values_have_a_number(void **unused)
{
	static struct scene s;
	struct opened call;
	double span;
	uint64_t bits;

	(void)unused;
	scene_begin(&s, "out", records_begin);
	scene_feed(&s);
	assert_true(scene_write(&s, records_end));
	call = open_table(&s, "call");
	assert_int_equal(json_integer_value(json_object_get(call.table, "rows")), 4);
	assert_int_equal(value(&call, "begin", 0, 8), 1000);
	assert_int_equal(value(&call, "offset", 0, 8), 0);
	assert_int_equal(value(&call, "offset", 2, 8), UINT64_MAX);
	assert_int_equal((int64_t)value(&call, "result", 2, 8), -11);
	assert_int_equal(
		json_integer_value(json_object_get(
			named(json_object_get(call.table, "columns"), "offset"), "unknown")),
		-1);
	bits = value(&call, "logged", 2, 8);
	memcpy(&span, &bits, sizeof(span));
	assert_true(isnan(span));
	close_table(&call);
	scene_end(&s);
}

static void events_have_tables(void **unused)
{
	static struct scene s;
	struct opened sent;

	(void)unused;
	scene_begin(&s, "out", records_begin);
	scene_feed(&s);
	assert_true(scene_write(&s, records_end));
	sent = open_table(&s, "event/dev_xmit");
	assert_string_equal(
		json_string_value(json_object_get(sent.table, "file")), "event_dev_xmit.bin");
	assert_int_equal(json_integer_value(json_object_get(sent.table, "rows")), 2);
	assert_int_equal(value(&sent, "time", 0, 8), 1006);
	assert_int_equal(value(&sent, "offset", 1, 8), 300);
	close_table(&sent);
	scene_end(&s);
}

/* A directory without schema.json would not be complete, so there is none at all. */
static void a_full_disk_is_told(void **unused)
{
	static struct scene s;

	(void)unused;
	for (unsigned int room = 1; room < 200000; room *= 3) {
		scene_begin(&s, "out", records_begin);
		scene_feed(&s);
		scene_limit_files(room);
		assert_false(scene_write(&s, records_end));
		scene_limit_files(0);
		assert_non_null(strstr(s.e.why, ": File too large"));
		assert_false(scene_is_there(&s));
		scene_end(&s);
	}
	scene_begin(&s, "/nowhere/out", NULL);
	assert_false(records_begin(&s.e));
	assert_string_equal(s.e.why, "/nowhere/out: No such file or directory");
	scene_end(&s);
}

/* ---- record_file.c ---- */

static void names_of_files_are_plain(void **unused)
{
	static struct scene s;
	struct record_file f = {.fd = -1};

	(void)unused;
	scene_begin(&s, ".", NULL);
	assert_true(record_file_open(&f, s.to, "../a b\"\xff", 8));
	assert_string_equal(record_file_name(&f), "___a_b__.bin");
	memset(record_file_next(&f), 1, 8);
	assert_true(record_file_finish(&f));
	assert_int_equal(f.rows, 1);
	record_file_close(&f, true);
	assert_true(record_file_open(&f, s.to, "other", 8));
	record_file_close(&f, false);
	assert_false(record_file_open(&f, s.to, "../a b\"\xff", 8)); /* another has this name */
	assert_int_equal(errno, EEXIST);
	record_file_close(&f, false);
	scene_end(&s);
}

/* ---- strings.c ---- */

static void each_text_is_there_once(void **unused)
{
	struct strings all = {0};
	char *text = NULL;
	size_t size;
	FILE *f = open_memstream(&text, &size);

	(void)unused;
	assert_int_equal(strings_number(&all, "", 0), 0);
	assert_int_equal(strings_number(&all, "a\"b\\", 4), 1);
	assert_int_equal(strings_number(&all, "\xff", 1), 2);
	assert_int_equal(strings_number(&all, "a\"b\\", 4), 1);
	for (char i = 1; i < 127;
		i++) /* control characters are one underscore, but texts of their own */
		strings_number(&all, &i, 1);
	assert_int_equal(strings_number(&all, "\xff", 1), 2);
	strings_json(&all, f);
	fclose(f);
	assert_begins(text, "[\"\",\n\"a\\\"b\\\\\",\n\"_\",\n\"_\",\n");
	strings_free(&all);
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(texts_are_numbers_of_strings),
		cmocka_unit_test(unknown_values_have_a_number),
		cmocka_unit_test(events_have_tables),
		cmocka_unit_test(a_full_disk_is_told),
		cmocka_unit_test(names_of_files_are_plain),
		cmocka_unit_test(each_text_is_there_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
