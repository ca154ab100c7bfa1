/* SPDX-License-Identifier: MIT */
/* Traces of the real writer, read while they are written. */
#define _GNU_SOURCE
#include <errno.h>
#include <unistd.h>

#include "direct/follow.h"
#include "core.h"
#include "ctf.h"
#include "trace_file.h"

#define EVENTS_MAX 20000
#define SECOND     1000000000ull

/* Both sides of a recording, and what the core was given of them. */
struct scene {
	char *top, *kernel, *app, why[512];
	struct ctf_writer *w[2];
	struct core core;
	struct follow *follow;
	uint64_t seen[EVENTS_MAX]; /* times */
	uint16_t id[EVENTS_MAX];
	size_t n;
};

static void hear(void *arg, const struct mg_event *e, const struct annotation *a)
{
	struct scene *s = arg;

	(void)a;
	assert_true(s->n < EVENTS_MAX);
	s->id[s->n] = e->id;
	s->seen[s->n++] = e->time_ns;
}

static int setup(void **state)
{
	struct scene *s = calloc(1, sizeof(*s));

	assert_non_null(s);
	*state = s;
	s->top = trace_dir_make();
	assert_true(asprintf(&s->kernel, "%s/kernel", s->top) > 0);
	assert_true(asprintf(&s->app, "%s/app", s->top) > 0);
	assert_int_equal(ctf_open(&s->w[CORE_KERNEL], s->kernel, CTF_KERNEL, 2), 0);
	assert_int_equal(ctf_open(&s->w[CORE_APP], s->app, CTF_APP, 0), 0);
	core_init(&s->core);
	core_give_clock(&s->core, 1, 1, 0); /* the counter ticks once per nanosecond */
	core_give_clock(&s->core, 1000 * SECOND, 1000 * SECOND, 0);
	core_listen(&s->core, hear, s);
	return 0;
}

static int teardown(void **state)
{
	struct scene *s = *state;

	follow_free(s->follow);
	core_free(&s->core);
	for (int i = 0; i < CORE_SIDES; i++)
		if (s->w[i])
			ctf_close(s->w[i]);
	trace_dir_remove(s->kernel);
	trace_dir_remove(s->app);
	trace_dir_remove(s->top);
	free(s);
	return 0;
}

/* ---- writing ---- */

static void event(struct scene *s, int cpu, uint64_t ts)
{
	uint8_t payload[255] = {0};

	assert_int_equal(ctf_event_on(s->w[CORE_KERNEL], cpu, MG_EVENT_sched_migrate, ts, 7, 5,
				 payload, mg_event_by_id(MG_EVENT_sched_migrate)->size),
		0);
}

static void reading(struct scene *s, uint64_t ts)
{
	struct mg_clock_sync e = {.mono_ns = ts, .cycles = ts};

	assert_int_equal(ctf_event(s->w[CORE_KERNEL], CTF_OWN_STREAM, MG_EVENT_clock_sync, ts, &e,
				 MG_PAYLOAD_SIZE(CLOCK_SYNC)),
		0);
}

static void idle(struct scene *s, uint64_t ts)
{
	struct mg_app_until e = {.until_ns = ts};

	assert_int_equal(ctf_event_of(s->w[CORE_APP], MG_EVENT_app_until, ts, 0, 0, &e,
				 MG_PAYLOAD_SIZE(APP_UNTIL)),
		0);
}

static void flush(struct scene *s)
{
	for (int i = 0; i < CORE_SIDES; i++)
		assert_int_equal(ctf_flush(s->w[i]), 0);
}

/* ---- reading ---- */

static void open_both(struct scene *s)
{
	const char *dirs[] = {s->app, s->kernel};

	assert_int_equal(follow_open(&s->follow, dirs, 2, &s->core, s->why, sizeof(s->why)), 0);
}

/* Returns how many events of the CPUs have been passed on by now. */
static size_t passed(struct scene *s, uint64_t now)
{
	size_t n = 0;

	while (follow_read(s->follow, now) > 0)
		;
	for (size_t i = 0; i < s->n; i++) {
		n += s->id[i] == MG_EVENT_sched_migrate;
		assert_true(!i || s->seen[i] >= s->seen[i - 1]);
	}
	return n;
}

/* ---- tests ---- */

static void events_wait_for_a_clock_reading_behind_them(void **state)
{
	struct scene *s = *state;

	open_both(s);
	assert_int_equal(passed(s, 1), 0); /* no file is there yet */
	event(s, 0, 1000);
	event(s, 1, 2000);
	idle(s, 100000);
	flush(s);
	assert_int_equal(passed(s, 2), 0);
	reading(s, 1500);
	flush(s);
	assert_int_equal(passed(s, 3), 1);
	assert_int_equal(follow_until_ns(s->follow), 1500);
	reading(s, 3000);
	flush(s);
	assert_int_equal(passed(s, 4), 2);
}

static void cpu_that_is_idle_holds_up_nothing(void **state)
{
	struct scene *s = *state;

	open_both(s);
	event(s, 1, 1000);
	for (uint64_t t = 2000; t < 2000 + 5000; t++) { /* several pages */
		event(s, 0, t);
		if (t % 500 == 0) {
			reading(s, t);
			idle(s, t);
			flush(s);
			assert_int_equal(passed(s, t), 1 + t - 2000 + 1);
		}
	}
}

static void application_side_that_lags_is_waited_for(void **state)
{
	struct scene *s = *state;

	open_both(s);
	idle(s, 1000);
	event(s, 0, 900);
	event(s, 0, 1100);
	reading(s, 5000);
	flush(s);
	assert_int_equal(passed(s, 1), 1);
	assert_int_equal(follow_until_ns(s->follow), 1000);
	idle(s, 2000);
	flush(s);
	assert_int_equal(passed(s, 2), 2);
	assert_int_equal(follow_late(s->follow), 0);
}

static void silent_side_is_waited_for_no_longer_than_that(void **state)
{
	struct scene *s = *state;
	uint64_t now = SECOND;

	open_both(s);
	idle(s, 1000);
	event(s, 0, 1500);
	reading(s, 2000);
	flush(s);
	assert_int_equal(passed(s, now), 0);
	assert_false(follow_is_stalled(s->follow, CORE_APP));
	reading(s, 3000); /* the other side goes on */
	flush(s);
	now += FOLLOW_PATIENCE_NS + 1;
	passed(s, now);
	assert_true(follow_is_stalled(s->follow, CORE_APP));
	assert_false(follow_is_stalled(s->follow, CORE_KERNEL));
	assert_int_equal(passed(s, now), 1);
	assert_int_equal(follow_until_ns(s->follow), 3000);
	/* what it tells now of the time before is late, and told as missing */
	idle(s, 1200);
	idle(s, 4000);
	reading(s, 4000);
	flush(s);
	passed(s, now + 1);
	assert_int_equal(follow_late(s->follow), 1);
	assert_false(follow_is_stalled(s->follow, CORE_APP));
	assert_int_equal(s->core.losses.gap_count, 1);
	assert_int_equal(follow_silent_ns(s->follow, now + 1 + SECOND), SECOND);
}

static void end_is_known_by_the_traces(void **state)
{
	struct scene *s = *state;

	open_both(s);
	idle(s, 1000);
	event(s, 0, 1500);
	reading(s, 2000);
	flush(s);
	passed(s, 1);
	assert_false(follow_has_ended(s->follow));
	event(s, 1, 2500); /* behind the last reading */
	for (int i = 0; i < CORE_SIDES; i++) {
		assert_int_equal(ctf_tell_contents(s->w[i], 0), 0);
		assert_int_equal(ctf_close(s->w[i]), 0);
		s->w[i] = NULL;
	}
	passed(s, 2);
	assert_true(follow_has_ended(s->follow));
	assert_int_equal(follow_finish(s->follow), 0);
	assert_int_equal(passed(s, 3), 2);
	assert_null(strstr(s->why, "packet"));
}

static void trace_of_another_kind_is_refused(void **state)
{
	struct scene *s = *state;
	const char *dirs[] = {s->top};

	assert_int_not_equal(follow_open(&s->follow, dirs, 1, &s->core, s->why, sizeof(s->why)), 0);
	assert_non_null(strstr(s->why, "metadata"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
		TEST(events_wait_for_a_clock_reading_behind_them),
		TEST(cpu_that_is_idle_holds_up_nothing),
		TEST(application_side_that_lags_is_waited_for),
		TEST(silent_side_is_waited_for_no_longer_than_that),
		TEST(end_is_known_by_the_traces),
		TEST(trace_of_another_kind_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
