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

static void stamp(struct core *c, uint64_t t, unsigned int id, uint32_t end)
{
	struct mg_event e = feed_event(id, t, 0);

	e.stamp = (struct mg_stamp){.sock = A, .end = end};
	feed(c, &e);
}

/* A send by the kernel's timestamps is an interval with its stages, which no thread spends. */
static void timed_sends_have_their_stages(void **unused)
{
	static const struct {
		const char *name;
		double from, to; /* microseconds */
	} wanted[] = {{"1/tx", 1, 3}, {"send buffer", 1, 1.1}, {"queue (qdisc)", 1.1, 1.5},
		{"network, until the ACK", 1.5, 3}};
	struct mg_event e = feed_event(MG_EVENT_stamp_send, 1000, SENDER);
	static struct scene s;
	json_t *all;

	(void)unused;
	scene_begin(&s, "out.json", chrome_begin);
	ev_opened(&s.c, 10, A, 999, 4999);
	e.stamp_send = (struct mg_stamp_send){
		.sock = A, .end = 1300, .snd_una = 1000, .snd_nxt = 1000, .cwnd = 10};
	feed(&s.c, &e);
	stamp(&s.c, 1100, MG_EVENT_stamp_queue, 1300);
	stamp(&s.c, 1500, MG_EVENT_stamp_driver, 1300);
	stamp(&s.c, 3000, MG_EVENT_stamp_ack, 1300);
	assert_true(scene_write(&s, chrome_end));
	all = events(&s);
	for (int i = 0; i < 4; i++) {
		const json_t *from = event(all, "b", wanted[i].name, 0);
		const json_t *to = event(all, "e", wanted[i].name, 0);

		assert_near(json_number_value(json_object_get(from, "ts")), wanted[i].from, 1e-9);
		assert_near(json_number_value(json_object_get(to, "ts")), wanted[i].to, 1e-9);
		assert_string_equal(json_string_value(json_object_get(from, "id")), "1/tx.300");
		assert_null(event(all, "b", wanted[i].name, 1));
	}
	assert_int_equal(json_integer_value(arg(event(all, "b", "1/tx", 0), "end")), 300);
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
		cmocka_unit_test(timed_sends_have_their_stages),
		cmocka_unit_test(nothing_is_valid_too),
		cmocka_unit_test(a_full_disk_is_told),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
