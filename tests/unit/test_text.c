/* SPDX-License-Identifier: MIT */
/* The text report: what it shows, and what it does not. */
#include "connection.h"
#include "report.h"
#include "table.h"

static char *text;
static double about; /* the quantile of the requested waterfall, 0 = none */
static bool everything = true;

static int teardown(void **unused)
{
	(void)unused;
	free(text);
	text = NULL;
	return 0;
}

static const char *printed(struct core *c, const json_t *session, const char *flow)
{
	struct report r;
	size_t size;
	FILE *f;

	free(text);
	f = open_memstream(&text, &size);
	core_finish(c);
	assert_int_equal(report_init(&r, c, session, "a trace"), 0);
	r.detail.waterfall_at = about;
	r.detail.all = everything;
	report_text(&r, f, flow, false);
	fclose(f);
	report_free(&r);
	feed_end(c);
	return text;
}

static void assert_says(const char *what)
{
	if (!strstr(text, what))
		fail_msg("the report does not say \"%s\":\n%s", what, text);
}

static void assert_does_not_say(const char *what)
{
	if (strstr(text, what))
		fail_msg("the report says \"%s\":\n%s", what, text);
}

static void a_slow_counter_has_its_rate_in_mhz(void **unused)
{
	json_t *session = json_pack("{s:s, s:I, s:s}", "command", "ftp 10.0.0.2", "duration_ns",
		(json_int_t)3020000000, "kernel", "6.18");
	struct core c;

	(void)unused;
	feed_begin_at(&c, ALL_HOOKS, 62500000);
	printed(&c, session, NULL);
	assert_begins(text, "ftp 10.0.0.2   3.02 s   Linux 6.18   counter 62.500 MHz\n");
	json_decref(session);
}

static void a_report_reads_from_top_to_bottom(void **unused)
{
	json_t *session = json_pack("{s:s, s:I, s:s}", "command", "ftp 10.0.0.2", "duration_ns",
		(json_int_t)3020000000, "kernel", "6.18");
	struct core c;

	(void)unused;
	connection_record(&c);
	printed(&c, session, NULL);
	assert_begins(text, "ftp 10.0.0.2   3.02 s   Linux 6.18   counter 1.000 GHz\n");
	assert_says("read: 40 application and ");
	assert_says("Summary: ");
	assert_says("System calls");
	assert_says("Latency by stage");
	assert_says("(stages sum exactly; 100 % of bytes followed");
	assert_says("Traffic by layer, flow 1/tx");
	assert_says("M = J/tau = 0.05");
	assert_says("Tracing overhead: ");
	json_decref(session);
}

/* Options, which the last line names, print the rest. */
static void the_short_form_has_the_most_important_rows(void **unused)
{
	struct core c;

	(void)unused;
	everything = false;
	connection_record(&c);
	printed(&c, NULL, NULL);
	everything = true;
	assert_says("Summary: ");
	assert_says("Time lost, summed over messages and threads: ");
	assert_says("System calls");
	assert_says("Latency by stage");
	assert_says("  all else");
	assert_says("  traffic: sizes ");
	assert_says("; modulation M = 0.");
	assert_does_not_say("stages sum exactly");
	assert_does_not_say("% of overhead in");
	assert_does_not_say("Traffic by layer");
	assert_says("\nmore: --calls --modulation --explain --flow ID --slowest N --all\n");
}

static void no_single_flow_stands_for_many(void **unused)
{
	struct core c;

	(void)unused;
	feed_begin(&c, ALL_HOOKS);
	ev_fork(&c, 1, 1, 10, "sender");
	for (uint32_t sock = 1; sock <= 60; sock++) {
		ev_opened(&c, sock * 10000, sock, 999, 4999);
		feed_send(&c, 10, sock, 1000, 100, sock * 10000 + 100, 100);
	}
	printed(&c, NULL, NULL);
	assert_says(
		"bytes in 60 tcp flows took 0.70 µs on average from sender's call to the driver");
	assert_says("Latency by stage, sent by sender, client, in 60 tcp flows   6000 B");
	assert_says("Latency by stage, sent to ?   sender, 100 B out, flow 1/tx\n");
	assert_says("and 59 more flows with 5900 B");
}

/* Both flows carry the same bytes; their waiting times differ. */
static void the_sentence_is_about_where_bytes_waited_longest(void **unused)
{
	struct core c;

	(void)unused;
	connection_begin(&c);
	for (uint32_t i = 0; i < TRANSFERS; i++)
		transfer(&c, i, 10000 + i * 1000, 10900 + i * 1000); /* read long after */
	printed(&c, NULL, NULL);
	assert_says("Summary: bytes from 10.0.0.1:");
	connection_begin(&c);
	for (uint32_t i = 0; i < TRANSFERS; i++)
		transfer(&c, i, 10000 + i * 1000, 10021 + i * 1000); /* read on arrival */
	measured(tx_of(&c, A))->residence.sum *= 100;
	printed(&c, NULL, NULL);
	assert_says("Summary: bytes to 10.0.0.2:");
}

static void one_flow_may_be_asked_for(void **unused)
{
	struct core c;

	(void)unused;
	connection_record(&c);
	printed(&c, NULL, "2/rx");
	assert_says("a trace   ");
	assert_says("flow 2/rx");
	assert_does_not_say("flow 1/tx");
	assert_does_not_say("System calls");
}

static void why_bytes_waited_stands_below_the_send_buffer(void **unused)
{
	struct why_sums *s;
	struct core c;

	(void)unused;
	connection_record(&c);
	s = measured(tx_of(&c, A))->why;
	s->wait[WHY_NAGLE] = s->wait[WHY_IMMEDIATE] / 4 * 3;
	s->wait[WHY_IMMEDIATE] -= s->wait[WHY_NAGLE];
	s->bytes[WHY_NAGLE] = s->bytes[WHY_IMMEDIATE] / 2;
	printed(&c, NULL, NULL);
	assert_says("    Nagle's algorithm, 50 % of bytes");
	assert_says("    sent at once, 100 % of bytes");
	assert_does_not_say("\n  tracing overhead "); /* which is not known */
}

static void a_send_that_never_waited_has_no_reason(void **unused)
{
	struct core c;

	(void)unused;
	connection_record(&c);
	printed(&c, NULL, NULL);
	assert_says("send buffer");
	assert_does_not_say("sent at once");
}

static void the_sentence_names_what_held_most(void **unused)
{
	struct why_sums *s;
	struct flow *f;
	struct core c;

	(void)unused;
	connection_record(&c);
	f = tx_of(&c, A);
	measured(f)->residence.sum *= 100;
	measured(f)->stage[TX_STAGE_SNDBUF].sum *= 50;
	s = measured(f)->why;
	s->wait[WHY_CWND] = s->wait[WHY_IMMEDIATE] * 49;
	measured(f)->why->row[0].wait *= 50;
	f->closure = 0;
	printed(&c, NULL, NULL);
	assert_says("send buffer (congestion window).");
}

static void bars_about_a_quantile_may_be_asked_for(void **unused)
{
	struct core c;

	(void)unused;
	about = 0.5;
	connection_record(&c);
	printed(&c, NULL, NULL);
	assert_says("stages near p50, mean of 1 sample, as measured ");
	about = 0.99;
	connection_record(&c);
	printed(&c, NULL, NULL);
	assert_says("stages near p99: too few samples");
	about = 0;
}

static void waterfall_below_its_uncertainty_is_not_shown(void **unused)
{
	struct core c;

	(void)unused;
	connection_record(&c);
	ev_calibration(&c, 20, 1000, 0);
	printed(&c, NULL, NULL);
	assert_says("not shown: the mean total is ");
	assert_does_not_say("stages sum");

	/* retransmissions are known even where times are not */
	connection_begin(&c);
	transfer(&c, 0, 10000, 10100);
	transfer(&c, 1, 11000, 11100);
	ev_retransmit(&c, 12000, A, 1000, TRANSFER_BYTES);
	core_finish(&c);
	ev_calibration(&c, 20, 1000, 0);
	printed(&c, NULL, NULL);
	assert_says("not shown: the mean total is ");
	assert_says("segments retransmitted: 1 (500 B)");
}

static void losses_are_said_first(void **unused)
{
	struct core c;

	(void)unused;
	connection_begin(&c);
	transfer(&c, 0, 10000, 10100);
	ev_lost(&c, 50000, 1234, 40000, 50000);
	printed(&c, NULL, NULL);
	assert_says("LOST: 0 application and 1,234 kernel events");
	assert_says("1,234 lost by ring on CPU 0 between 0.000040 s and 0.000050 s");
	assert_does_not_say("nothing lost");
}

/* There is room for five gaps, and what is not on disk any more has the first of it. */
static void what_is_gone_is_said_among_many_losses(void **unused)
{
	struct mg_event e = feed_event(MG_EVENT_lost, 90000, 0);
	struct core c;

	(void)unused;
	e.lost = (struct mg_lost){.count = 1,
		.from_ns = 80000,
		.to_ns = 90000,
		.cpu = -1,
		.reason = MG_LOST_NOT_HERE,
		.producer = "part"};
	connection_begin(&c);
	transfer(&c, 0, 10000, 10100);
	for (uint64_t t = 20000; t < 80000; t += 10000)
		ev_lost(&c, t + 5000, 1234, t, t + 5000);
	feed(&c, &e);
	printed(&c, NULL, NULL);
	assert_says(
		"  missing: 1 part between 0.000080 s and 0.000090 s\n  1,234 lost by ring on ");
	assert_says("  1,234 lost by ring on CPU 0 between 0.000050 s and 0.000055 s\n"
		    "  and 2 more gaps (--json has them all)\n");
}

static void lose_sight(struct core *c, uint64_t t, uint64_t count)
{
	struct mg_event e = feed_event(MG_EVENT_lost, t, 0);

	e.lost = (struct mg_lost){.count = count,
		.from_ns = t - 10000,
		.to_ns = t,
		.cpu = -1,
		.reason = MG_LOST_NOT_FOLLOWED,
		.producer = "too many connections"};
	feed(c, &e);
}

/* Connections that were counted once are missing for longer than that. */
static void losses_that_go_on_are_said_without_a_count(void **unused)
{
	struct core c;

	(void)unused;
	connection_begin(&c);
	transfer(&c, 0, 10000, 10100);
	lose_sight(&c, 50000, 7);
	lose_sight(&c, 90000, 0);
	printed(&c, NULL, NULL);
	assert_says("LOST: 0 application and 7 kernel events");
	assert_says("  7 lost by too many connections between 0.000040 s and 0.000050 s\n");
	assert_says("  still missing: too many connections between 0.000080 s and 0.000090 s\n");
	assert_does_not_say("nothing lost");
}

static void hooks_that_are_not_run_have_one_line(void **unused)
{
	struct mg_event e = feed_event(MG_EVENT_lost, 50000, 0);
	struct core c;

	(void)unused;
	e.lost = (struct mg_lost){.count = 3,
		.from_ns = 40000,
		.to_ns = 50000,
		.reason = MG_LOST_NOT_RUN,
		.producer = "hooks not run in process 1"};
	connection_begin(&c);
	transfer(&c, 0, 10000, 10100);
	feed(&c, &e);
	feed(&c, &e);
	printed(&c, NULL, NULL);
	assert_says("LOST: 0 application and 6 kernel events");
	assert_says("  lost: at least 1 event of each of 6 packets, in 2 intervals: this machine\n"
		    "    runs no tracing programs while process 1 is on the CPU\n");
	assert_does_not_say("hooks not run");
}

static void a_recording_that_broke_off_says_so(void **unused)
{
	struct mg_event e = feed_event(MG_EVENT_trace_end, 90000, 0);
	struct core c;

	(void)unused;
	connection_record(&c);
	printed(&c, NULL, NULL);
	assert_says("INCOMPLETE: the kernel side ends at 0.");
	connection_begin(&c);
	transfer(&c, 0, 10000, 10100);
	feed(&c, &e);
	printed(&c, NULL, NULL);
	assert_does_not_say("INCOMPLETE");
}

static void hooks_that_were_refused_are_said(void **unused)
{
	struct core c;

	(void)unused;
	connection_begin(&c);
	ev_hook(&c, 5, "ip_out ipv6", -1, 4026531840u);
	printed(&c, NULL, NULL);
	assert_says("not observed:");
	assert_says("ip_out ipv6 (Operation not permitted)");
}

/* Records 1,000 bytes, of which `complete` have every timestamp. */
static void partly_complete(struct core *c, uint32_t complete)
{
	feed_begin(c, ALL_HOOKS);
	ev_opened(c, 10, B, 4999, 999);
	feed_segment(c, B, 1000, complete, 2000, 1);
	ev_ready(c, 2100, B, 2000);
	feed_recv(c, RECEIVER, B, 1000, 1000, 3000, 1);
}

static void below_99_percent_a_waterfall_has_a_star(void **unused)
{
	struct core c;

	(void)unused;
	partly_complete(&c, 980);
	printed(&c, NULL, NULL);
	assert_says("98.00 % of bytes");
	assert_says("* bytes without a timestamp at some layer are left out");
}

static void below_90_percent_it_is_kept_back(void **unused)
{
	struct core c;

	(void)unused;
	partly_complete(&c, 890);
	printed(&c, NULL, NULL);
	assert_says("not shown: only 89.00 % of the bytes were seen at every layer");
	assert_does_not_say("stages sum");
}

/* Where system calls were lost, the remaining ones stand for all. */
static void the_share_of_blocked_calls_is_of_those_that_were_joined(void **unused)
{
	struct call_stats *k, *tmp;
	struct core c;

	(void)unused;
	connection_record(&c);
	HASH_ITER (hh, figures_of(&c)->calls.calls, k, tmp) {
		k->n *= 10;
		k->blocked_n = k->joined / 2;
	}
	printed(&c, NULL, NULL);
	assert_says("  50 %");
}

static void an_empty_trace_has_a_report_too(void **unused)
{
	struct core c;

	(void)unused;
	core_init(&c);
	printed(&c, NULL, NULL);
	assert_says("read: 0 application and 0 kernel events");
	assert_says("Tracing overhead: n/a per call");
	assert_does_not_say("nan");
}

static void nothing_is_printed_as_nan(void **unused)
{
	struct core c;

	(void)unused;
	connection_begin(&c);
	transfer(&c, 0, 10000, 10100);
	ev_app(&c, SENDER, MG_FN_connect, 20000, 20100, 0);
	printed(&c, NULL, NULL);
	assert_does_not_say("nan");
	assert_does_not_say("inf ");
	assert_says("n/a");
}

static void calls_that_passed_the_library_by_are_marked(void **unused)
{
	struct core c;

	(void)unused;
	connection_begin(&c);
	feed_send_kernel(&c, SENDER, A, 1000, 500, 10000, 1);
	printed(&c, NULL, NULL);
	assert_says("tcp *");
	assert_says("* kernel-only");
}

/* The figure equals JSON's; its uncertainty stands beside it. */
static void an_overhead_below_its_uncertainty_is_printed_with_a_mark(void **unused)
{
	struct core c;

	(void)unused;
	feed_begin_uncertain(&c, ALL_HOOKS, 778);
	ev_calibration(&c, 0, 1, 0);
	ev_opened(&c, 10, A, 999, 4999);
	ev_switch(&c, 20, 0, 0, RUNNABLE, SENDER);
	feed_send(&c, SENDER, A, 1000, 500, 10000, 91);
	printed(&c, NULL, NULL);
	assert_says("  ~0.81 ");
	assert_says("  1.10 ");
}

/* One of two flows was followed; only the calls of the other, larger one are known. */
static void the_sentence_says_what_it_covers(void **unused)
{
	struct core c;

	(void)unused;
	for (int lossy = 0; lossy < 2; lossy++) {
		connection_begin(&c);
		transfer(&c, 0, 10000, 10100);
		ev_opened(&c, 11000, 3, 999, 4999);
		ev_enter(&c, 12000, SENDER, 3, MG_SYS_sendto, 1000);
		ev_exit(&c, 12100, SENDER, 3, MG_SYS_sendto, 10000, 9000);
		ev_ack(&c, 13000, 3, 10000);
		if (lossy)
			ev_lost(&c, 14000, 1234, 13500, 14000);
		printed(&c, NULL, NULL);
		if (lossy) {
			assert_does_not_say("Summary");
			assert_says(
				"No summary: only 10.00 % of the bytes were seen at every layer");
		} else {
			assert_says(
				"Summary of the 10.00 % of the bytes seen at every layer: bytes");
		}
	}
}

static void without_any_layer_no_incomplete_bytes_are_mentioned(void **unused)
{
	struct core c;

	(void)unused;
	feed_begin(&c, "");
	ev_calibration(&c, 2, 10, 1);
	ev_opened(&c, 10, A, 999, 4999);
	ev_shut(&c, 2000, A, 1500);
	printed(&c, NULL, NULL);
	assert_says("not available: system calls were not recorded (--layers)");
	assert_says("modulation M n/a: system calls were not recorded (--layers)");
	assert_does_not_say("every layer");
}

/* A super-segment larger than the MTU is no packet of that size. */
static void super_segments_are_told_as_frames_too(void **unused)
{
	struct mg_event e = feed_event(MG_EVENT_dev_xmit, 100, SENDER);
	struct core c;

	(void)unused;
	feed_begin(&c, ALL_HOOKS);
	e.packet = (struct mg_packet){.sock = 1ull << 62 | 7,
		.len = 14000,
		.headers = 42,
		.segs = 10,
		.gso_size = 1400,
		.proto = 17};
	feed(&c, &e);
	e.id = MG_EVENT_ip_out;
	feed(&c, &e);
	printed(&c, NULL, NULL);
	assert_says("\n    as datagrams     10     1400 B");
	assert_says("\n    as frames        10     1400 B");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_report_reads_from_top_to_bottom),
		cmocka_unit_test(what_is_gone_is_said_among_many_losses),
		cmocka_unit_test(the_short_form_has_the_most_important_rows),
		cmocka_unit_test(one_flow_may_be_asked_for),
		cmocka_unit_test(why_bytes_waited_stands_below_the_send_buffer),
		cmocka_unit_test(a_send_that_never_waited_has_no_reason),
		cmocka_unit_test(the_sentence_names_what_held_most),
		cmocka_unit_test(bars_about_a_quantile_may_be_asked_for),
		cmocka_unit_test(waterfall_below_its_uncertainty_is_not_shown),
		cmocka_unit_test(losses_are_said_first),
		cmocka_unit_test(losses_that_go_on_are_said_without_a_count),
		cmocka_unit_test(hooks_that_are_not_run_have_one_line),
		cmocka_unit_test(a_recording_that_broke_off_says_so),
		cmocka_unit_test(hooks_that_were_refused_are_said),
		cmocka_unit_test(below_99_percent_a_waterfall_has_a_star),
		cmocka_unit_test(below_90_percent_it_is_kept_back),
		cmocka_unit_test(an_empty_trace_has_a_report_too),
		cmocka_unit_test(nothing_is_printed_as_nan),
		cmocka_unit_test(the_share_of_blocked_calls_is_of_those_that_were_joined),
		cmocka_unit_test(calls_that_passed_the_library_by_are_marked),
		cmocka_unit_test(an_overhead_below_its_uncertainty_is_printed_with_a_mark),
		cmocka_unit_test(the_sentence_says_what_it_covers),
		cmocka_unit_test(without_any_layer_no_incomplete_bytes_are_mentioned),
		cmocka_unit_test(no_single_flow_stands_for_many),
		cmocka_unit_test(the_sentence_is_about_where_bytes_waited_longest),
		cmocka_unit_test(super_segments_are_told_as_frames_too),
		cmocka_unit_test(a_slow_counter_has_its_rate_in_mhz),
	};

	return cmocka_run_group_tests(tests, NULL, teardown);
}
