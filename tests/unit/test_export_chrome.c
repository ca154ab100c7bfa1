/* SPDX-License-Identifier: MIT */
/* Facts as JSON trace events, read by jansson. */
#include "export/chrome.h"

#include "export_scene.h"

/* Returns the events of what was written; the caller frees it. */
static json_t *events(const struct scene *s)
{
	char *text = scene_text(s, NULL);
	json_t *j = json_loads(text, JSON_REJECT_DUPLICATES, NULL);

	assert_non_null(j);
	free(text);
	return j;
}

/* Returns the nth event with a phase and name; NULL: there is none. */
static const json_t *event(const json_t *all, const char *phase, const char *name, int nth)
{
	const json_t *e;
	size_t i;

	json_array_foreach (json_object_get(all, "traceEvents"), i, e) {
		if (strcmp(json_string_value(json_object_get(e, "ph")), phase) == 0 &&
			strcmp(json_string_value(json_object_get(e, "name")), name) == 0 && !nth--)
			return e;
	}
	return NULL;
}

static const json_t *arg(const json_t *e, const char *name)
{
	assert_non_null(e);
	return json_object_get(json_object_get(e, "args"), name);
}

/* JSON has all characters; what is no character is an underscore, as are those that control. */
static void names_are_strings(void **unused)
{
	static struct scene s;
	json_t *all;

	(void)unused;
	scene_begin(&s, "out.json", chrome_begin);
	scene_feed(&s);
	assert_true(scene_write(&s, chrome_end));
	all = events(&s);
	assert_string_equal(json_string_value(arg(event(all, "M", "thread_name", 0), "name")),
		"q\"=\\,__\xc3\xa9_ z");
	json_decref(all);
	scene_end(&s);
}

static void unknown_values_are_left_out(void **unused)
{
	static struct scene s;
	const json_t *sent, *failed;
	json_t *all;

	(void)unused;
	scene_begin(&s, "out.json", chrome_begin);
	scene_feed(&s);
	assert_true(scene_write(&s, chrome_end));
	all = events(&s);
	sent = event(all, "X", "send", 0);
	failed = event(all, "X", "send", 1);
	assert_near(json_number_value(json_object_get(sent, "ts")), 1, 0);
	assert_near(json_number_value(json_object_get(sent, "dur")), 0.009, 1e-9);
	assert_int_equal(json_integer_value(arg(sent, "offset")), 0);
	assert_non_null(arg(sent, "offset"));
	assert_string_equal(json_string_value(arg(sent, "flow")), "1/tx");
	assert_int_equal(json_integer_value(arg(failed, "result")), -11);
	assert_null(arg(failed, "offset"));
	assert_null(event(all, "C", "cwnd 1/tx", 0)); /* no event has told it */
	json_decref(all);
	scene_end(&s);
}

static void nothing_is_valid_too(void **unused)
{
	static struct scene s;
	json_t *all;

	(void)unused;
	scene_begin(&s, "out.json", chrome_begin);
	assert_true(scene_write(&s, chrome_end));
	all = events(&s);
	assert_int_equal(json_array_size(json_object_get(all, "traceEvents")), 0);
	json_decref(all);
	scene_end(&s);
}

static void a_full_disk_is_told(void **unused)
{
	static struct scene s;

	(void)unused;
	scene_begin(&s, "/dev/full", chrome_begin);
	scene_feed(&s);
	assert_false(scene_write(&s, chrome_end));
	assert_string_equal(s.e.why, "/dev/full: No space left on device");
	scene_end(&s);
	scene_begin(&s, "out.json", chrome_begin);
	scene_feed(&s);
	scene_limit_files(100);
	assert_false(scene_write(&s, chrome_end));
	scene_limit_files(0);
	assert_non_null(strstr(s.e.why, "/out.json: File too large"));
	assert_false(scene_is_there(&s));
	scene_end(&s);
	scene_begin(&s, "/nowhere/out.json", NULL);
	assert_false(chrome_begin(&s.e));
	assert_string_equal(s.e.why, "/nowhere/out.json: No such file or directory");
	scene_end(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_are_strings),
		cmocka_unit_test(unknown_values_are_left_out),
		cmocka_unit_test(nothing_is_valid_too),
		cmocka_unit_test(a_full_disk_is_told),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
