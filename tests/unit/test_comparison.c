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
	struct recording recording;
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
	s->recording = (struct recording){&s->report, &s->sampling};
}

static void end(struct side *s)
{
	report_free(&s->report);
	sampling_free(&s->sampling);
	feed_end(&s->core);
}

static struct side now, before;

static void both(struct comparison *c, const struct traffic *x, const struct traffic *y)
{
	record(&now, x);
	record(&before, y);
	assert_int_equal(compare(c, &now.recording, &before.recording), 0);
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

		if (r->now->key.what == what && r->now->key.rx == rx &&
			strcmp(r->figure, figure) == 0 &&
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
	assert_int_equal(row(&c, SUBJECT_FLOW, true, "J", NULL)->before->key.port, 5002);
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
	comparison_free(&c);
	assert_int_equal(compare(&c, &now.recording, &before.recording), 0);
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
	comparison_free(&c);
	ev_app(&now.core, SENDER, MG_FN_sendmsg, 900000000, 900000100, 1);
	core_finish(&now.core);
	sampling_finish(&now.sampling);
	assert_int_equal(compare(&c, &now.recording, &before.recording), 0);
	assert_int_equal(c.only_now_n, 1);
	assert_int_equal(c.only_before_n, 0);
	subject_name(name, &c.only_now[0]->key);
	assert_string_equal(name, "sendmsg tcp");
	done(&c);
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
	both(&c, &x, &y);
	f = open_memstream(&text, &size);
	comparison_text(&c, &now.recording, &before.recording, "old", f, false);
	fclose(f);
	assert_non_null(strstr(text, "before  old"));
	assert_non_null(strstr(text, "by more than the noise"));
	assert_non_null(
		strstr(text, "the clearest: residence_total of tcp received by the client of "
			     "port 80, from 1.99"));
	assert_non_null(strstr(text, "  tcp sent by the client of port 80\n"));
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
	j = comparison_json(&c, &before.recording);
	assert_non_null(j);
	assert_fields(j, "",
		"against command started duration_ns level resamples compared_n "
		"exceeding_n not_enough_n figures only_before only_now");
	assert_fields(j, "figures.0",
		"subject name kind call direction side port figure stage reason unit before "
		"now difference "
		"ratio low high exceeds_noise before_blocks now_blocks");
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
		cmocka_unit_test(people_get_a_table_and_a_sentence),
		cmocka_unit_test(programs_get_an_object),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
