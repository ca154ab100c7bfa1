/* SPDX-License-Identifier: MIT */
/* Recordings of two hosts: a connection between them with known delays and a known clock. */
#include "connection.h"
#include "hosts/between.h"
#include "reported.h"
#include "reported/answer.h"
#include "table.h"

#define AHEAD     100000000ull /* offset of B's clock, ns */
#define GAP       1000000
#define UNDER_WAY 5000 /* least transit time both ways, ns */

struct host {
	struct core core;
	struct host_side side;
	struct report report;
};

static struct host a, b;

static void begin_host(struct host *h)
{
	feed_begin(&h->core, ALL_HOOKS);
	host_side_init(&h->side, &h->core);
	core_listen(&h->core, host_side_event, &h->side);
}

static void begin(struct host *h, uint64_t sock, uint32_t isn, uint32_t irs)
{
	begin_host(h);
	ev_opened(&h->core, 10, sock, isn, irs);
}

static void begin_both(void)
{
	begin(&a, A, 999, 4999);
	begin_host(&b);
	feed_accepted(&b.core, 10, A, 4999, 999); /* cookies of two hosts may be equal */
}

static void make(struct between *w)
{
	for (int i = 0; i < 2; i++) {
		struct host *h = i ? &b : &a;

		core_finish(&h->core);
		assert_int_equal(report_init(&h->report, &h->core, NULL, "a trace"), 0);
	}
	assert_int_equal(between_make(w, &a.report, &a.side, &b.report, &b.side), 0);
}

static void end(struct between *w)
{
	between_free(w);
	for (int i = 0; i < 2; i++) {
		struct host *h = i ? &b : &a;

		report_free(&h->report);
		host_side_free(&h->side);
		feed_end(&h->core);
	}
}

/*
 * Sends 100 bytes, and 50 back, with `more` ns of extra transit time. X is 6 after U0, R on
 * arrival, U1 104 after.
 */
static void exchange(uint32_t i, uint64_t more)
{
	uint64_t at = 1000000 + (uint64_t)i * GAP, there = at + 6 + UNDER_WAY + more;
	uint64_t back = there + 1000;

	feed_send(&a.core, SENDER, A, 1000 + i * 100, 100, at, 1);
	feed_segment(&b.core, A, 1000 + i * 100, 100, there + AHEAD, 1);
	feed_recv(&b.core, RECEIVER, A, 1000 + i * 100, 100, there + 100 + AHEAD, 1);
	feed_send(&b.core, RECEIVER, A, 5000 + i * 50, 50, back + AHEAD, 1);
	feed_segment(&a.core, A, 5000 + i * 50, 50, back + 6 + UNDER_WAY + more, 1);
	feed_recv(&a.core, SENDER, A, 5000 + i * 50, 50, back + UNDER_WAY + more + 106, 1);
}

static void bytes_are_followed_from_host_to_host(void **unused)
{
	struct host_bounds bounds;
	struct between w;

	(void)unused;
	begin_both();
	for (uint32_t i = 0; i < 100; i++)
		exchange(i, i % 10 * 200);
	make(&w);
	assert_int_equal(w.hosts.windows, 1);
	assert_int_equal(w.hosts.to_b.n, 100);
	assert_int_equal(w.hosts.to_a.n, 100);
	assert_true(hosts_at(&w.hosts, 50000000, &bounds));
	assert_true(bounds.low <= (double)AHEAD && (double)AHEAD <= bounds.high);
	assert_near(bounds.high - bounds.low, 2 * UNDER_WAY, 1000);
	assert_int_equal(w.crossings, 2);
	for (int i = 0; i < 2; i++) {
		const struct crossing *c = &w.crossing[i];

		assert_true(c->to_b == !i); /* the direction with more bytes comes first */
		assert_int_equal(c->bytes, i ? 5000 : 10000);
		assert_int_equal(c->transit.weight, c->bytes);
		assert_int_equal(c->calls.weight, c->bytes);
		assert_int_equal(c->ambiguous, 0);
		assert_near(dist_mean(&c->transit), UNDER_WAY + 900, c->transit_half);
		assert_near(dist_mean(&c->calls), UNDER_WAY + 900 + 110, c->calls_half);
		assert_true(c->transit_half < UNDER_WAY + 1500);
	}
	end(&w);
}

/* Which copy arrived is not known; from call to return there is only one time. */
static void retransmitted_bytes_have_no_transit(void **unused)
{
	struct between w;

	(void)unused;
	begin_both();
	for (uint32_t i = 0; i < 20; i++)
		exchange(i, 0);
	feed_send(&a.core, SENDER, A, 3000, 100, 50000000, 1);
	ev_packet(&a.core, 50100000, 0, MG_EVENT_dev_xmit, A, 3000, 100);
	feed_segment(&b.core, A, 3000, 100, 50105000 + AHEAD, 1);
	feed_recv(&b.core, RECEIVER, A, 3000, 100, 50106000 + AHEAD, 1);
	make(&w);
	assert_int_equal(w.hosts.to_b.n, 20);
	assert_int_equal(w.crossing[0].ambiguous, 100);
	assert_int_equal(w.crossing[0].transit.weight, 2000);
	assert_int_equal(w.crossing[0].calls.weight, 2100);
	end(&w);
}

static void connections_to_others_are_none_of_theirs(void **unused)
{
	struct between w;
	char *text;
	size_t size;
	FILE *f;

	(void)unused;
	begin(&a, A, 999, 4999);
	begin(&b, A, 4999, 998);
	for (uint32_t i = 0; i < 20; i++)
		exchange(i, 0);
	make(&w);
	assert_int_equal(w.crossings, 0);
	assert_int_equal(w.hosts.windows, 0);
	f = open_memstream(&text, &size);
	between_text(&w, f, false);
	fclose(f);
	assert_non_null(
		strstr(text, "not related: no TCP connection has its opening in both recordings"));
	free(text);
	end(&w);
}

static void people_and_programs_are_told(void **unused)
{
	struct between w;
	char *text;
	size_t size;
	json_t *j;
	FILE *f;

	(void)unused;
	text_set_unicode(false);
	begin_both();
	for (uint32_t i = 0; i < 100; i++)
		exchange(i, i % 10 * 200);
	make(&w);
	f = open_memstream(&text, &size);
	between_text(&w, f, false);
	fclose(f);
	assert_non_null(strstr(text, ", and is 100 ms ahead ("));
	assert_non_null(strstr(text, ": 1/tx -> 1/rx, "));
	free(text);
	j = between_json(&w);
	assert_fields(j, "", "clock passings left_out flows exchanges");
	assert_fields(j, "clock.0", "state skew skew_half_width begin end");
	assert_fields(j, "clock.0.begin", "at_ns ahead_ns half_width_ns");
	assert_fields(j, "flows.0",
		"direction sent_as received_as bytes ambiguous_bytes transit_ns call_to_return_ns");
	assert_fields(j, "flows.1.transit_ns", "mean p50 p99 half_width bytes");
	assert_number_at(j, "passings.to_other", 100);
	json_decref(j);
	end(&w);
}

static uint64_t all_causes(const struct cause_sums *s, enum cause_end end)
{
	uint64_t all = 0;

	for (int i = 0; i < CAUSES; i++)
		all += s->cause[end][i];
	return all;
}

/*
 * The server has each request for 1006 ns, from its arrival until its driver has the reply,
 * whatever its clock shows; the network has the rest of what the client waited outside.
 */
static void the_answer_is_of_both_hosts(void **unused)
{
	struct answer_column_figures median;
	const struct joint_group *g;
	uintptr_t at = 0;
	struct between w;
	json_t *j;

	(void)unused;
	begin_both();
	for (uint32_t i = 0; i < 100; i++)
		exchange(i, 0);
	make(&w);
	assert_int_equal(w.joint.n, 1);
	g = &w.joint.v[0];
	assert_ptr_equal(g->client_report, w.a);
	assert_ptr_equal(g->server_report, w.b);
	assert_true(joint_column(g, &at, &median));
	assert_int_equal(g->causes->n, 100);
	assert_int_equal(all_causes(&median.sum, END_OWN) + all_causes(&median.sum, END_FAR),
		median.sum.time);
	assert_int_equal(median.sum.cause[END_OWN][CAUSE_AWAY], 0);
	assert_int_equal(median.sum.cause[END_OWN][CAUSE_NETWORK], 2 * UNDER_WAY * median.sum.n);
	assert_int_equal(all_causes(&median.sum, END_FAR), 1006 * median.sum.n);
	j = between_json(&w);
	assert_fields(j, "exchanges.0",
		"client_host server_host client server address port exchanges client_exchanges "
		"by_clocks clock_half_width_ns "
		"answer");
	assert_number_at(j, "exchanges.0.exchanges", 100);
	assert_number_at(j, "exchanges.0.client_exchanges", 100);
	json_decref(j);
	end(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(bytes_are_followed_from_host_to_host),
		cmocka_unit_test(retransmitted_bytes_have_no_transit),
		cmocka_unit_test(connections_to_others_are_none_of_theirs),
		cmocka_unit_test(people_and_programs_are_told),
		cmocka_unit_test(the_answer_is_of_both_hosts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
