/* SPDX-License-Identifier: MIT */
/* Events as lines of NetLogger. */
#include "export/ulm.h"

#include "export_scene.h"

#define FIRST                                                                            \
	"DATE=20010909014640.000001 HOST=here PROG=q__\\,__\xc3\xa9__z LVL=Usage "       \
	"NL.EVNT=magnet:send NS=1010 PID=10 TID=10 CPU=0 FLOW=1/tx OFFSET=0 LENGTH=300 " \
	"RESULT=300\n"

static void has_line(const struct scene *s, const char *line)
{
	char *text = scene_text(s, NULL);

	assert_non_null(strstr(text, line));
	free(text);
}

/* A value has no blank, quotation mark or equals sign, which would end it or begin another. */
static void names_are_values(void **unused)
{
	static struct scene s;

	(void)unused;
	scene_begin(&s, "out.ulm", ulm_begin);
	scene_feed(&s);
	assert_true(scene_write(&s, ulm_end));
	has_line(&s, FIRST);
	has_line(&s, "PROG=kernel LVL=Usage NL.EVNT=dev_recv NS=1500 ");
	scene_end(&s);
}

static void what_is_not_known_is_left_out(void **unused)
{
	static struct scene s;

	(void)unused;
	scene_begin(&s, "out.ulm", ulm_begin);
	json_object_del(s.session, "host");
	scene_feed(&s);
	/* a call of a thread that nothing else is known of, on no socket */
	ev_app(&s.c, 99, MG_FN_send, 4000000, 4000001, -9);
	assert_true(scene_write(&s, ulm_end));
	has_line(&s, "HOST=unknown PROG=unknown LVL=Usage NL.EVNT=magnet:send NS=4000002 PID=99 "
		     "TID=99 CPU=0 RESULT=-9\n");
	scene_end(&s);
}

static void a_day_is_needed(void **unused)
{
	static struct scene s;

	(void)unused;
	scene_begin(&s, "out.ulm", ulm_begin);
	s.c.times.wall_clock_ns = 0;
	scene_feed(&s);
	assert_false(scene_write(&s, ulm_end));
	assert_begins(s.e.why, "ulm has times of day, and the trace does not say");
	assert_false(scene_is_there(&s));
	scene_end(&s);
}

static void a_full_disk_is_told(void **unused)
{
	static struct scene s;

	(void)unused;
	scene_begin(&s, "/dev/full", ulm_begin);
	scene_feed(&s);
	assert_false(scene_write(&s, ulm_end));
	assert_string_equal(s.e.why, "/dev/full: No space left on device");
	scene_end(&s);
	scene_begin(&s, "out.ulm", ulm_begin);
	scene_feed(&s);
	scene_limit_files(100);
	assert_false(scene_write(&s, ulm_end));
	scene_limit_files(0);
	assert_non_null(strstr(s.e.why, "/out.ulm: File too large"));
	assert_false(scene_is_there(&s));
	scene_end(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_are_values),
		cmocka_unit_test(what_is_not_known_is_left_out),
		cmocka_unit_test(a_day_is_needed),
		cmocka_unit_test(a_full_disk_is_told),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
