/* SPDX-License-Identifier: MIT */
/* Tracing overhead within the stages, and when stages are not shown because of it. */
#include "connection.h"
#include "report.h"

#define TID  10
#define SOCK 1

static struct core c;
static struct report r;

static void begin(const char *hooks, uint32_t event)
{
	feed_begin(&c, hooks);
	ev_calibration(&c, 20, event, 0);
	ev_opened(&c, 10, SOCK, 999, 4999);
}

static void end(void)
{
	core_finish(&c);
	assert_int_equal(report_init(&r, &c, NULL, "a trace"), 0);
}

/* Sends one call whose steps all take `step`; one kernel event costs `event`, two readings 20. */
static const struct flow *sent(uint32_t event, uint64_t step)
{
	begin(ALL_HOOKS, event);
	feed_send(&c, TID, SOCK, 1000, 1000, 10000, step);
	end();
	return tx_of(&c, SOCK);
}

static void done(void)
{
	report_free(&r);
	feed_end(&c);
}

static void each_event_on_the_way_is_taken_off_once(void **unused)
{
	const struct flow *f = sent(10, 1000);
	struct probes p;

	(void)unused;
	assert_true(flow_probes(&r, fact_of(&c, f), &p));
	assert_near(
		p.taken[TX_STAGE_CALL], 15 + 10, 1e-9); /* sys_enter, half of tcp_send; a reading */
	assert_near(p.taken[TX_STAGE_SNDBUF], 10, 1e-9);
	assert_near(p.taken[TX_STAGE_IP], 20, 1e-9); /* ip_post within */
	assert_near(p.taken[TX_STAGE_QDISC], 10, 1e-9);
	assert_near(p.taken[TX_STAGE_DRIVER], 10, 1e-9);
	assert_near(p.sum, 75, 1e-9);
	done();
}

/* Those of netfilter lie in stages that layers on both sides of them bound. */
static void packets_between_two_stages_count_where_they_pass(void **unused)
{
	struct probes p;

	(void)unused;
	begin(ALL_HOOKS ",nf_out_end,nf_post_begin,ip_recv,nf_pre_end,nf_in_begin,dev_gro", 10);
	feed_send(&c, TID, SOCK, 1000, 1000, 10000, 1000);
	feed_segment(&c, SOCK, 5000, 1000, 30000, 1000);
	feed_recv(&c, TID, SOCK, 5000, 1000, 50000, 1000);
	end();
	assert_true(flow_probes(&r, fact_of(&c, tx_of(&c, SOCK)), &p));
	assert_near(p.taken[TX_STAGE_SNDBUF], 10, 1e-9);
	assert_near(p.taken[TX_STAGE_IP], 40, 1e-9);
	assert_near(p.taken[TX_STAGE_QDISC], 10, 1e-9);
	assert_true(flow_probes(&r, fact_of(&c, rx_of(&c, SOCK)), &p));
	assert_near(p.taken[RX_STAGE_DEV_IP], 40, 1e-9); /* dev_gro comes before */
	assert_near(p.taken[RX_STAGE_IP_TCP], 20, 1e-9); /* tcp_recv within */
	assert_near(p.taken[RX_STAGE_ORDER], 0, 1e-9);
	done();
}

/* Hence a quantile does not exceed the mean where all bytes took the same time. */
static void means_and_quantiles_are_without_them_alike(void **unused)
{
	const struct flow *f = sent(10, 1000);
	struct probes p;

	(void)unused;
	assert_true(flow_probes(&r, fact_of(&c, f), &p));
	for (int i = 0; i < TX_STAGES; i++) {
		assert_near(stage_quantile(fact_of(&c, f), &p, i, 0.5),
			stage_mean(fact_of(&c, f), &p, i), 1e-9);
		assert_near(stage_mean(fact_of(&c, f), &p, i),
			dist_mean(&measures_in(f)->stage[i]) - p.taken[i], 1e-9);
	}
	assert_near(stage_mean(fact_of(&c, f), &p, TX_STAGE_IP), 1980, 1e-9);
	assert_near(why_mean(&p, &measures_in(f)->why->row[0]),
		stage_mean(fact_of(&c, f), &p, TX_STAGE_SNDBUF), 1e-9);
	measured(f)->why->row[0].reason = WHY_CWND;
	assert_near(why_mean(&p, &measures_in(f)->why->row[0]), 995, 1e-9);
	done();
}

/* Bytes for which a stage took no time have no overhead in it. */
static void a_quantile_is_shorter_by_what_each_byte_had(void **unused)
{
	struct flow *f = (struct flow *)sent(10, 1000);
	struct probes p;

	(void)unused;
	dist_add(&measured(f)->stage[TX_STAGE_QDISC], 0, 3000);
	assert_true(flow_probes(&r, fact_of(&c, f), &p));
	assert_near(p.taken[TX_STAGE_QDISC], 2.5, 1e-9);
	assert_near(p.each[TX_STAGE_QDISC], 10, 1e-9);
	assert_near(stage_quantile(fact_of(&c, f), &p, TX_STAGE_QDISC, 0.5), 0, 0);
	assert_near(stage_quantile(fact_of(&c, f), &p, TX_STAGE_QDISC, 0.9), 990, 1e-9);
	done();
}

static void a_stage_does_not_become_negative(void **unused)
{
	const struct flow *f = sent(1000, 100);
	struct probes p;
	double sum = 0;

	(void)unused;
	assert_true(flow_probes(&r, fact_of(&c, f), &p));
	for (int i = 0; i < TX_STAGES; i++) {
		assert_near(p.taken[i], dist_mean(&measures_in(f)->stage[i]), 1e-9);
		assert_near(stage_quantile(fact_of(&c, f), &p, i, 0.99), 0, 1e-9);
		sum += p.taken[i];
	}
	assert_near(p.sum, sum, 1e-9);
	assert_near(p.sum, dist_mean(&measures_in(f)->residence), 1e-9);
	done();
}

static void waiting_bytes_include_the_overhead(void **unused)
{
	const struct flow *f = sent(10, 1000);
	struct probes p;

	(void)unused;
	assert_int_equal(measures_in(f)->why->rows, 1);
	measured(f)->why->row[0].reason = WHY_CWND;
	assert_true(flow_probes(&r, fact_of(&c, f), &p));
	assert_near(p.taken[TX_STAGE_SNDBUF], 5, 1e-9);
	done();
}

static void without_calibration_nothing_is_taken_off(void **unused)
{
	const struct flow *f = sent(0, 1000);
	struct probes p;

	(void)unused;
	assert_false(flow_probes(&r, fact_of(&c, f), &p));
	assert_near(p.sum, 0, 0);
	assert_null(flow_withheld(&r, fact_of(&c, f)));
	done();
}

/* 2u is about 3.4 us: too much of 7 us, and little of 7 ms. */
static void stages_below_their_uncertainty_are_not_shown(void **unused)
{
	(void)unused;
	assert_string_equal(flow_withheld(&r, fact_of(&c, sent(1000, 1000))), "uncertainty");
	done();
	assert_null(flow_withheld(&r, fact_of(&c, sent(1000, 1000000))));
	done();
	assert_null(flow_withheld(
		&r, fact_of(&c, sent(100, 1000)))); /* below a microsecond it never is */
	done();
}

static void waterfall_is_not_shown_if_too_few_bytes_were_followed(void **unused)
{
	struct flow *f = (struct flow *)sent(10, 1000);

	(void)unused;
	f->total += 200;
	assert_string_equal(flow_withheld(&r, fact_of(&c, f)), "coverage");
	f->total -= 200;
	done();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_event_on_the_way_is_taken_off_once),
		cmocka_unit_test(packets_between_two_stages_count_where_they_pass),
		cmocka_unit_test(means_and_quantiles_are_without_them_alike),
		cmocka_unit_test(a_quantile_is_shorter_by_what_each_byte_had),
		cmocka_unit_test(a_stage_does_not_become_negative),
		cmocka_unit_test(waiting_bytes_include_the_overhead),
		cmocka_unit_test(without_calibration_nothing_is_taken_off),
		cmocka_unit_test(stages_below_their_uncertainty_are_not_shown),
		cmocka_unit_test(waterfall_is_not_shown_if_too_few_bytes_were_followed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
