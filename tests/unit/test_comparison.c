/* SPDX-License-Identifier: MIT */
/* Two recordings with known differences. */
#include "socket/socket.h"
#include "comparison.h"
#include "connection.h"
#include "reported.h"
#include "table.h"

struct side {
	struct core core;
	struct sampling sampling;
	struct report report;
	struct measured measured;
	struct compared_side of;
};

struct traffic {
	uint32_t n;
	uint64_t gap, delay; /* gap between calls; delay of the reader, give or take 200 ns */
	uint64_t seed;
	uint16_t port;
};

static void server(struct core *c, uint64_t sock, uint16_t port)
{
	struct mg_sock *s = sock_find(c, sock);

	s->opener = 1;
	s->rport = port;
}

static void record(struct side *s, const struct traffic *t)
{
	uint64_t seed = t->seed;

	sampling_init(&s->sampling, &s->core);
	connection_begin(&s->core);
	server(&s->core, A, t->port);
	server(&s->core, B, t->port);
	core_listen(&s->core, sampling_event, &s->sampling);
	for (uint32_t i = 0; i < t->n; i++) {
		uint64_t at = 10000 + i * t->gap;

		transfer(&s->core, i, at, at + t->delay + unit_random_below(&seed, 400) - 200);
	}
	core_finish(&s->core);
	sampling_finish(&s->sampling);
	assert_int_equal(report_init(&s->report, &s->core, NULL, "a trace"), 0);
	assert_int_equal(measure(&s->measured, &s->report, &s->sampling), 0);
	s->of = (struct compared_side){"a trace", &s->measured, 1};
}

static void end(struct side *s)
{
	measured_free(&s->measured);
	report_free(&s->report);
	sampling_free(&s->sampling);
	feed_end(&s->core);
}

static struct side now, before;

static void both(struct comparison *c, const struct traffic *x, const struct traffic *y)
{
	record(&now, x);
	record(&before, y);
	assert_int_equal(compare(c, &now.of, &before.of), 0);
}

/* Compares once more what has changed. */
static void again(struct comparison *c)
{
	comparison_free(c);
	measured_free(&now.measured);
	assert_int_equal(measure(&now.measured, &now.report, &now.sampling), 0);
	assert_int_equal(compare(c, &now.of, &before.of), 0);
}

static void done(struct comparison *c)
{
	comparison_free(c);
	end(&now);
	end(&before);
}

static const struct compared *row(
	const struct comparison *c, int what, bool rx, const char *figure, const char *stage)
{
	for (size_t i = 0; i < c->rows; i++) {
		const struct compared *r = &c->row[i];

		if (r->key.what == what && r->key.rx == rx && strcmp(r->figure, figure) == 0 &&
			!r->reason &&
			(stage ? r->stage && strcmp(r->stage, stage) == 0 : !r->stage))
			return r;
	}
	fail_msg("there is no row %s %s", figure, stage ? stage : "");
	return NULL;
}

/* Checks that the causes are listed below the send buffer and sum to it. */
static void assert_divided(const struct comparison *c)
{
	double whole = 0, parts = 0;

	for (size_t i = 0; i < c->rows; i++) {
		const struct compared *r = &c->row[i];

		if (r->stage && strcmp(r->stage, "send_buffer") == 0)
			*(r->reason ? &parts : &whole) += r->now_value;
	}
	assert_true(whole > 0);
	assert_near(parts, whole, 1e-9);
}

static void a_longer_wait_is_found_with_its_size(void **unused)
{
	const struct traffic x = {200, 2000000, 5000, 1, 80}, y = {200, 2000000, 2000, 2, 80};
	const struct compared *r;
	struct comparison c;

	(void)unused;
	both(&c, &x, &y);
	assert_divided(&c);
	r = row(&c, SUBJECT_FLOW, true, "residence_total", NULL);
	assert_int_equal(r->verdict, EXCEEDS_NOISE);
	assert_near(r->difference, 3000, 30);
	assert_near(r->now_value - r->before_value, r->difference, 1e-9);
	assert_near(r->ratio, r->now_value / r->before_value, 1e-9);
	assert_true(r->low < 3000 && 3000 < r->high && r->high - r->low < 150);
	r = row(&c, SUBJECT_FLOW, true, "residence", "reader_absent");
	assert_int_equal(r->verdict, EXCEEDS_NOISE);
	assert_near(r->difference, 3000, 30);
	/* the sender did nothing else */
	r = row(&c, SUBJECT_FLOW, false, "residence_total", NULL);
	assert_int_equal(r->verdict, WITHIN_NOISE);
	assert_near(r->difference, 0, 1e-9);
	done(&c);
}

static void values_are_those_of_the_report(void **unused)
{
	const struct traffic x = {200, 2000000, 5000, 1, 80}, y = {200, 4000000, 5000, 2, 80};
	struct modulation m;
	struct comparison c;

	(void)unused;
	both(&c, &x, &y);
	m = flow_modulation(&now.report, fact_of(&now.core, rx_of(&now.core, B)));
	assert_near(row(&c, SUBJECT_FLOW, true, "J", NULL)->now_value, m.j_ns, 1e-6);
	assert_near(row(&c, SUBJECT_FLOW, true, "tau", NULL)->now_value, m.tau_ns, 1e-6);
	assert_near(row(&c, SUBJECT_FLOW, true, "M", NULL)->now_value, m.m, 1e-9);
	assert_near(row(&c, SUBJECT_FLOW, true, "S", NULL)->now_value, m.s, 1e-9);
	assert_near(row(&c, SUBJECT_FLOW, true, "tau", NULL)->ratio, 0.5, 1e-9);
	assert_int_equal(row(&c, SUBJECT_FLOW, true, "M", NULL)->verdict, EXCEEDS_NOISE);
	assert_near(row(&c, SUBJECT_CALL, false, "total", NULL)->now_value, 9, 1e-9);
	/* 500 bytes every 2 ms, and every 4 ms */
	assert_near(row(&c, SUBJECT_FLOW, false, "goodput", NULL)->ratio, 2, 0.01);
	assert_near(row(&c, SUBJECT_FLOW, false, "goodput", NULL)->now_value, 250000, 2500);
	done(&c);
}

static void equal_traffic_shows_few_differences(void **unused)
{
	size_t rows = 0, exceeding = 0;

	(void)unused;
	for (uint64_t i = 0; i < 20; i++) {
		const struct traffic x = {200, 2000000, 3000, 2 * i + 1, 80},
				     y = {200, 2000000, 3000, 2 * i + 2, 80};
		struct comparison c;

		both(&c, &x, &y);
		rows += c.rows;
		exceeding += c.exceeding;
		done(&c);
	}
	print_message("%zu of %zu figures\n", exceeding, rows);
	assert_true((double)exceeding < 0.1 * (double)rows);
}

static void a_server_with_another_port_is_the_same_without_a_choice(void **unused)
{
	const struct traffic x = {200, 2000000, 3000, 1, 5001}, y = {200, 2000000, 3000, 2, 5002};
	struct comparison c;

	(void)unused;
	both(&c, &x, &y);
	assert_int_equal(c.only_now_n, 0);
	assert_int_equal(row(&c, SUBJECT_FLOW, true, "J", NULL)->before_key.port, 5002);
	done(&c);
}

static void a_few_calls_are_not_enough(void **unused)
{
	const struct traffic x = {5, 2000000, 3000, 1, 80}, y = {200, 2000000, 3000, 2, 80};
	const struct compared *r;
	struct comparison c;

	(void)unused;
	both(&c, &x, &y);
	r = row(&c, SUBJECT_CALL, false, "total", NULL);
	assert_int_equal(r->verdict, NOT_ENOUGH);
	assert_true(isnan(r->low) && isnan(r->high));
	assert_int_equal(c.exceeding, 0);
	assert_int_equal(c.not_enough, c.rows);
	done(&c);
}

/* The error of the clocks does not show in the spread; a difference within it is none. */
static void clock_error_counts_as_noise(void **unused)
{
	const struct traffic x = {200, 2000000, 3000, 1, 80}, y = {200, 2000000, 2000, 2, 80};
	const struct compared *r;
	struct comparison c;

	(void)unused;
	both(&c, &x, &y);
	now.report.recording.clock_error = 2000;
	again(&c);
	r = row(&c, SUBJECT_FLOW, true, "residence_total", NULL);
	assert_int_equal(r->verdict, WITHIN_NOISE);
	done(&c);
}

static void subjects_of_one_recording_are_named(void **unused)
{
	const struct traffic x = {20, 2000000, 3000, 1, 80}, y = {20, 2000000, 3000, 2, 80};
	struct comparison c;
	char name[80];

	(void)unused;
	both(&c, &x, &y);
	ev_app(&now.core, SENDER, MG_FN_sendmsg, 900000000, 900000100, 1);
	core_finish(&now.core);
	sampling_finish(&now.sampling);
	again(&c);
	assert_int_equal(c.only_now_n, 1);
	assert_int_equal(c.only_before_n, 0);
	subject_name(name, &c.only_now[0]);
	assert_string_equal(name, "sendmsg tcp");
	done(&c);
}

/* ---- several recordings a side ---- */

enum { SIDE = 4 };

static const struct compared *of_reader(const struct comparison *c)
{
	return row(c, SUBJECT_FLOW, true, "residence", "reader_absent");
}

/* Makes recordings whose reader is late by this time, by 1 us more or less from one to the next. */
static void several(struct side s[SIDE], struct measured m[SIDE], uint64_t delay, uint16_t port)
{
	for (uint64_t i = 0; i < SIDE; i++) {
		const struct traffic t = {
			50, 2000000, delay + 1000 * (i % 2), i + 1, (uint16_t)(port + i)};

		record(&s[i], &t);
		m[i] = s[i].measured;
	}
}

static void compare_several(struct comparison *c, uint64_t delay, uint64_t delay_before)
{
	static struct side x[SIDE], y[SIDE];
	static struct measured m[2][SIDE];
	const struct compared_side sides[] = {{"now", m[0], SIDE}, {"before", m[1], SIDE}};

	several(x, m[0], delay, 80);
	several(y, m[1], delay_before, 90);
	m[0][0].steal_share = 0.5;
	for (size_t i = 1; i < SIDE; i++)
		m[0][i].steal_share = 0;
	for (size_t i = 0; i < SIDE; i++)
		m[1][i].steal_share = 0.01;
	assert_int_equal(compare(c, &sides[0], &sides[1]), 0);
	now.of = sides[0];
	before.of = sides[1];
	for (size_t i = 0; i < SIDE; i++) {
		sampling_free(&x[i].sampling);
		sampling_free(&y[i].sampling);
		report_free(&x[i].report);
		report_free(&y[i].report);
		feed_end(&x[i].core);
		feed_end(&y[i].core);
	}
}

static void done_with_several(struct comparison *c)
{
	comparison_free(c);
	for (size_t i = 0; i < SIDE; i++) {
		measured_free((struct measured *)&now.of.of[i]);
		measured_free((struct measured *)&before.of.of[i]);
	}
}

/* The server has another port each time, and is the same. */
static void noise_is_that_between_recordings(void **unused)
{
	const struct compared *r;
	struct comparison c;

	(void)unused;
	compare_several(&c, 20000, 3000);
	assert_true(c.noise == NOISE_BETWEEN && c.can_tell);
	assert_int_equal(c.resamples, 70);
	assert_int_equal(c.only_now_n + c.only_before_n, 0);
	r = of_reader(&c);
	assert_int_equal(r->now_n, SIDE);
	assert_int_equal(r->verdict, EXCEEDS_NOISE);
	assert_near(r->difference, 17000, 100);
	assert_near(r->now_sd, 1000 / sqrt(3), 60); /* of 0, 1000, 0, 1000 */
	assert_near(r->chance, 2.0 / 70, 1e-9);
	assert_true(r->effect > 0.5 && r->effect < 1);
	done_with_several(&c);
	compare_several(&c, 3200, 3000); /* which one recording on each side would take for one */
	assert_int_equal(of_reader(&c)->verdict, WITHIN_NOISE);
	done_with_several(&c);
}

static void the_largest_effect_stands_first(void **unused)
{
	const struct compared **all;
	struct comparison c;

	(void)unused;
	compare_several(&c, 50000, 2000);
	all = comparison_by_effect(&c);
	assert_non_null(all);
	for (size_t i = 1; i < c.rows; i++) {
		bool differs = all[i]->verdict == EXCEEDS_NOISE;

		assert_true(all[i - 1]->verdict == EXCEEDS_NOISE || !differs);
		if (differs)
			assert_true(all[i - 1]->effect > all[i]->effect - 0.1);
	}
	free(all);
	done_with_several(&c);
}

/*
 * With one recording on each side the noise of requests is not known: a change of them stands
 * before what exceeds the noise of other figures, and after it where noise explains it.
 */
static void requests_stand_first_unless_noise_explains_them(void **unused)
{
	struct compared row[] = {
		{.key.what = SUBJECT_FLOW, .effect = 0.9, .verdict = EXCEEDS_NOISE},
		{.key.what = SUBJECT_EXCHANGES, .effect = 0.8, .verdict = WITHIN_NOISE},
		{.key.what = SUBJECT_EXCHANGES, .effect = 0.5, .verdict = NOT_ENOUGH},
		{.key.what = SUBJECT_EXCHANGES, .effect = 0.05, .verdict = NOT_ENOUGH},
	};
	struct comparison c = {.row = row, .rows = 4};
	const struct compared **all = comparison_by_effect(&c);

	(void)unused;
	assert_non_null(all);
	assert_ptr_equal(all[0], &row[2]);
	assert_ptr_equal(all[1], &row[0]);
	assert_ptr_equal(all[2], &row[1]);
	assert_ptr_equal(all[3], &row[3]);
	free(all);
}

static void time_that_the_hypervisor_took_on_one_side_is_told(void **unused)
{
	double is, was;
	struct comparison c;

	(void)unused;
	compare_several(&c, 3000, 3000);
	assert_true(comparison_steal(&now.of, &before.of, &is, &was));
	assert_near(is, 0.125, 1e-12);
	assert_near(was, 0.01, 1e-12);
	((struct measured *)now.of.of)[0].steal_share = 0.08; /* twice as much as before */
	assert_false(comparison_steal(&now.of, &before.of, &is, &was));
	((struct measured *)now.of.of)[0].steal_share = NAN;
	assert_false(comparison_steal(&now.of, &before.of, &is, &was));
	done_with_several(&c);
}

static void people_get_a_table_and_a_sentence(void **unused)
{
	const struct traffic x = {200, 2000000, 50000, 1, 80}, y = {200, 2000000, 2000, 2, 80};
	struct comparison c;
	char *text;
	size_t size;
	FILE *f;

	(void)unused;
	text_set_unicode(false);
	text_set_columns(1000); /* each sentence is one line */
	both(&c, &x, &y);
	f = open_memstream(&text, &size);
	before.of.name = "old";
	strcpy(((struct measured *)before.of.of)[0].congestion, "cubic");
	strcpy(((struct measured *)now.of.of)[0].congestion, "bbr");
	comparison_text(&c, &now.of, &before.of, 0, f, false);
	fclose(f);
	assert_non_null(strstr(text, "before  old"));
	assert_non_null(strstr(text, "\ncongestion control: cubic before, bbr now\n"));
	assert_non_null(strstr(text, "one recording on each side cannot tell"));
	assert_non_null(strstr(text, "by more than they vary within the recordings"));
	assert_non_null(strstr(text, "of tcp received by the client of port 80: from 1.9"));
	assert_non_null(strstr(text, "  tcp sent by the client of port 80\n"));
	assert_non_null(strstr(text, "\n    latency: socket queue: reader absent "));
	text_set_columns(0);
	assert_null(strchr(text, '_')); /* names of JSON have underscores, words have none */
	free(text);
	done(&c);
}

static void programs_get_an_object(void **unused)
{
	const struct traffic x = {200, 2000000, 50000, 1, 80}, y = {200, 2000000, 2000, 2, 80};
	struct comparison c;
	json_t *j;

	(void)unused;
	both(&c, &x, &y);
	j = comparison_json(&c, &now.of, &before.of);
	assert_non_null(j);
	assert_fields(j, "",
		"against command started duration_ns noise can_tell level resamples compared_n "
		"exceeding_n not_enough_n figures only_before only_now before_recordings "
		"now_recordings");
	assert_fields(j, "figures.0",
		"subject name kind call direction side port figure stage reason unit before now "
		"difference ratio effect low high exceeds_noise chance before_blocks now_blocks "
		"before_n now_n before_sd now_sd");
	assert_number_at(j, "level", 0.95);
	json_decref(j);
	done(&c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_longer_wait_is_found_with_its_size),
		cmocka_unit_test(values_are_those_of_the_report),
		cmocka_unit_test(equal_traffic_shows_few_differences),
		cmocka_unit_test(a_server_with_another_port_is_the_same_without_a_choice),
		cmocka_unit_test(a_few_calls_are_not_enough),
		cmocka_unit_test(clock_error_counts_as_noise),
		cmocka_unit_test(subjects_of_one_recording_are_named),
		cmocka_unit_test(noise_is_that_between_recordings),
		cmocka_unit_test(the_largest_effect_stands_first),
		cmocka_unit_test(requests_stand_first_unless_noise_explains_them),
		cmocka_unit_test(time_that_the_hypervisor_took_on_one_side_is_told),
		cmocka_unit_test(people_get_a_table_and_a_sentence),
		cmocka_unit_test(programs_get_an_object),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
