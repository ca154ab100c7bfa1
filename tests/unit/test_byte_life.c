/* SPDX-License-Identifier: MIT */
/* The life of some bytes, from the core's events. */
#include "connection.h"
#include "byte_life.h"
#include "report.h"
#include "table.h"

static struct core core;
static struct life life;
static char *text;

static int teardown(void **unused)
{
	(void)unused;
	free(text);
	text = NULL;
	return 0;
}

static void begin(const char *flow, uint64_t from, uint64_t to)
{
	feed_begin(&core, ALL_HOOKS);
	life_init(&life, &core, flow, from, to);
	core_listen(&core, life_event, &life);
	ev_opened(&core, 10, A, 999, 4999);
	ev_opened(&core, 20, B, 4999, 999);
}

static void end(void)
{
	core_finish(&core);
	life_free(&life);
	feed_end(&core);
}

static const char *printed(size_t max)
{
	size_t size;
	FILE *f;

	free(text);
	f = open_memstream(&text, &size);
	assert_int_equal(max ? life_text(&life, f, max) : life_tsv(&life, f), 0);
	fclose(f);
	return text;
}

static void names_of_flows_and_ranges_are_read(void **unused)
{
	uint64_t cookie, from, to;
	bool rx;

	(void)unused;
	assert_true(flow_parse("4097/tx", &cookie, &rx));
	assert_true(cookie == 4097 && !rx);
	assert_true(flow_parse("lttng:3/tx", &cookie, &rx));
	assert_true(cookie == (3 | 1ull << 61) && !rx);
	assert_true(flow_parse("ino:12/rx", &cookie, &rx));
	assert_true(cookie == (1ull << 62 | 12) && rx);
	assert_true(flow_parse("4097.3/tx", &cookie, &rx));
	assert_true(cookie == 4097 + 2 * FLOW_CONNECTION && !rx);
	assert_false(flow_parse("4097", &cookie, &rx));
	assert_false(flow_parse("4097.1/tx", &cookie, &rx));
	assert_false(flow_parse("4097./tx", &cookie, &rx));
	assert_false(flow_parse("x/tx", &cookie, &rx));
	assert_true(range_parse("100-199", &from, &to));
	assert_true(from == 100 && to == 200);
	assert_true(range_parse("100+1", &from, &to));
	assert_true(from == 100 && to == 101);
	assert_false(range_parse("100", &from, &to));
	assert_false(range_parse("100-99", &from, &to));
	assert_false(range_parse("100+0", &from, &to));
	assert_false(range_parse("-5", &from, &to));
	assert_false(range_parse("1-2x", &from, &to));
	assert_false(range_parse("1-99999999999999999999999", &from, &to));
}

struct expected {
	const char *what;
	uint64_t t;
};

/* Checks the rows of the values, in order. */
static void assert_rows(const struct expected *e, size_t n)
{
	const char *p = strchr(printed(0), '\n') + 1;

	for (size_t i = 0; i < n; i++, p = strchr(p, '\n') + 1) {
		unsigned long long off, len, ns, cycles;
		char what[32];
		int since, last;

		assert_int_equal(sscanf(p, "%llu\t%llu\t%llu\t%llu\t%d\t%d\t%31s", &off, &len, &ns,
					 &cycles, &since, &last, what),
			7);
		assert_string_equal(what, e[i].what);
		assert_int_equal(cycles, e[i].t);
		assert_int_equal(ns, e[i].t);
		assert_int_equal(since, e[i].t - e[0].t);
		assert_int_equal(last, i ? e[i].t - e[i - 1].t : 0);
	}
	assert_int_equal(*p, 0);
}

static void a_byte_is_followed_from_end_to_end(void **unused)
{
	static const struct expected e[] = {{"call", 10000}, {"sys_enter", 10001},
		{"tcp_send", 10002}, {"ip_out", 10003}, {"ip_post", 10004}, {"dev_queue", 10005},
		{"dev_xmit", 10006}, {"dev_done", 10007}, {"sys_exit", 10008}, {"return", 10009},
		{"dev_recv", 10020}, {"ip_in", 10021}, {"tcp_recv", 10022}, {"tcp_ready", 10023},
		{"acknowledged", 10050}, {"call", 10100}, {"sys_enter", 10101},
		{"sock_copy", 10102}, {"sys_exit", 10103}, {"return", 10104}};

	(void)unused;
	for (int rx = 0; rx < 2; rx++) { /* the same for both ends */
		begin(rx ? "2/rx" : "1/tx", 100, 200);
		feed_send(&core, SENDER, A, 1000, 500, 10000, 1);
		feed_segment(&core, B, 1000, 500, 10020, 1);
		ev_ack(&core, 10050, A, 1500);
		feed_recv(&core, RECEIVER, B, 1000, 500, 10100, 1);
		assert_rows(e, COUNT(e));
		assert_true(life.flow_seen && !life.late);
		assert_non_null(
			strstr(text, "100\t100\t10002\t10002\t2\t1\ttcp_send\t\t1/tx\t0\t500"
				     "\t\t0\t10\t\n"));
		assert_non_null(strstr(text, "\tcall\tsend\t1/tx\t0\t500\t"));
		assert_non_null(strstr(text, "\tsys_enter\trecvfrom\t2/rx\t0\t500\t"));
		end();
	}
}

/* The kernel copies what it has: that a call moved more than one copy shows in the call's rows. */
static void a_call_has_all_that_it_moved(void **unused)
{
	(void)unused;
	begin("2/rx", 300, 400);
	feed_send(&core, SENDER, A, 1000, 500, 10000, 1);
	feed_segment(&core, B, 1000, 200, 10020, 1);
	feed_segment(&core, B, 1200, 300, 10030, 1);
	ev_enter(&core, 10101, RECEIVER, B, MG_SYS_recvfrom, 1000);
	ev_copy(&core, 10102, RECEIVER, B, 1000, 200);
	ev_copy(&core, 10103, RECEIVER, B, 1200, 300);
	ev_exit(&core, 10104, RECEIVER, B, MG_SYS_recvfrom, 1500, 500);
	ev_app(&core, RECEIVER, MG_FN_recv, 10100, 10105, 500);
	printed(0);
	assert_non_null(strstr(text, "\tcall\trecv\t2/rx\t0\t500\t"));
	assert_non_null(strstr(text, "\tsys_enter\trecvfrom\t2/rx\t0\t500\t"));
	assert_non_null(strstr(text, "\tsock_copy\t\t2/rx\t200\t300\t"));
	assert_non_null(strstr(text, "\tsys_exit\trecvfrom\t2/rx\t0\t500\t"));
	end();
}

static void check_partition(
	void *arg, uint64_t from, uint64_t to, const struct life_row *const *row, size_t rows)
{
	uint64_t *at = arg;

	assert_int_equal(from, *at);
	assert_true(to > from);
	for (size_t i = 0; i < rows; i++) {
		assert_true(row[i]->off <= from && to <= row[i]->off + row[i]->len);
		assert_true(!i || row[i - 1]->t <= row[i]->t);
	}
	*at = to;
}

/* Calls, segments and reads cut the range at different bytes; nothing else is left. */
static void atoms_are_the_range_exactly(void **unused)
{
	uint64_t at = 250;

	(void)unused;
	begin("1/tx", 250, 1400);
	feed_send(&core, SENDER, A, 1000, 600, 10000, 1);
	feed_send(&core, SENDER, A, 1600, 600, 11000, 1);
	feed_segment(&core, B, 1000, 900, 12000, 1);
	feed_segment(&core, B, 1900, 300, 12100, 1);
	feed_recv(&core, RECEIVER, B, 1000, 700, 13000, 1);
	feed_recv(&core, RECEIVER, B, 1700, 500, 14000, 1);
	assert_int_equal(life_atoms(&life, check_partition, &at), 0);
	assert_int_equal(at, 1400);
	assert_non_null(strstr(printed(9), "bytes 250 to 599 (350), from "));
	assert_non_null(strstr(text, "bytes 600 to 699 (100), from "));
	assert_non_null(strstr(text, "bytes 700 to 899 (200), from "));
	assert_non_null(strstr(text, "bytes 900 to 1199 (300), from "));
	assert_non_null(strstr(text, "bytes 1200 to 1399 (200): nothing was recorded of them\n"));
	assert_null(strstr(text, "more"));
	assert_non_null(strstr(printed(2), "\nand 3 more (fewer bytes, or --tsv for all)\n"));
	end();
}

static void retransmissions_and_drops_are_shown(void **unused)
{
	struct mg_event e = feed_event(MG_EVENT_drop, 10500, 0);

	(void)unused;
	begin("1/tx", 0, 500);
	feed_send(&core, SENDER, A, 1000, 500, 10000, 1);
	e.drop.sock = B;
	e.drop.rx = 1;
	e.drop.seq = 1000;
	e.drop.len = 500;
	e.drop.segs = 1;
	memcpy(e.drop.reason, "TC_INGRESS", 10);
	feed(&core, &e);
	ev_retransmit(&core, 20000, A, 1000, 500);
	ev_packet(&core, 20001, 0, MG_EVENT_ip_out, A, 1000, 500);
	ev_packet(&core, 20002, 0, MG_EVENT_dev_xmit, A, 1000, 500);
	feed_segment(&core, B, 1000, 500, 20020, 1);
	printed(5);
	assert_non_null(strstr(text, "DROPPED"));
	assert_non_null(strstr(text, "TC_INGRESS\n"));
	assert_non_null(strstr(text, "SENT AGAIN by TCP"));
	printed(0);
	assert_non_null(
		strstr(text, "\t20001\t20001\t10001\t1\tip_out\t\t1/tx\t0\t500\t1\t0\t\tagain\n"));
	assert_null(strstr(text, "\tdev_recv\t\t2/rx\t0\t500\t1\t0\t\tagain\n"));
	end();
}

/* A waiting reader: its call and its wakeup come before the bytes exist and are left out. */
static void a_waiting_reader_comes_after_the_bytes(void **unused)
{
	struct mg_event e = feed_event(MG_EVENT_sched_waking, 10024, 0);

	(void)unused;
	begin("2/rx", 0, 500);
	ev_enter(&core, 5001, RECEIVER, B, MG_SYS_recvfrom, 1000);
	ev_switch(&core, 5002, 1, RECEIVER, SLEEPING, 0);
	feed_send(&core, SENDER, A, 1000, 500, 10000, 1);
	feed_segment(&core, B, 1000, 500, 10020, 1);
	e.sched_waking.wakee_tid = e.sched_waking.wakee_pid = RECEIVER;
	feed(&core, &e);
	ev_switch(&core, 10030, 1, 0, 0, RECEIVER);
	ev_copy(&core, 10031, RECEIVER, B, 1000, 500);
	ev_exit(&core, 10032, RECEIVER, B, MG_SYS_recvfrom, 1500, 500);
	ev_app(&core, RECEIVER, MG_FN_recv, 5000, 10033, 500);
	printed(3);
	assert_non_null(strstr(text, "reader woken"));
	assert_non_null(strstr(text, "reader gets the CPU"));
	assert_null(strstr(text, "recv() called"));
	assert_non_null(strstr(text, "the reader's call began 5.00 us before the first row\n"));
	end();
}

static void without_the_peer_there_is_one_end(void **unused)
{
	(void)unused;
	feed_begin(&core, ALL_HOOKS);
	ev_opened(&core, 10, A, 999, 4999);
	life_init(&life, &core, "1/tx", 0, 500);
	core_listen(&core, life_event, &life);
	feed_send_kernel(&core, SENDER, A, 1000, 500, 10000, 1);
	printed(3);
	assert_non_null(strstr(text, "received as (the receiver is not in this recording)"));
	assert_non_null(strstr(text, "system call sendto begins"));
	assert_null(strstr(text, "called"));
	end();
}

/* The second reading knows both ends from the start. */
static void an_end_that_is_known_late_is_read_again(void **unused)
{
	(void)unused;
	for (int again = 0; again < 2; again++) {
		feed_begin(&core, ALL_HOOKS);
		if (again)
			life_again(&life, &core);
		else
			life_init(&life, &core, "2/rx", 0, 500);
		core_listen(&core, life_event, &life);
		ev_opened(&core, 10, A, 999, 4999);
		feed_send(&core, SENDER, A, 1000, 500, 10000, 1);
		ev_opened(&core, 20000, B, 4999, 999);
		feed_segment(&core, B, 1000, 500, 20020, 1);
		assert_int_equal(life.late, !again);
		assert_true(!strstr(printed(3), "send() called") == !again);
		if (!again) {
			core_finish(&core);
			feed_end(&core);
		}
	}
	end();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_of_flows_and_ranges_are_read),
		cmocka_unit_test(a_byte_is_followed_from_end_to_end),
		cmocka_unit_test(a_call_has_all_that_it_moved),
		cmocka_unit_test(atoms_are_the_range_exactly),
		cmocka_unit_test(retransmissions_and_drops_are_shown),
		cmocka_unit_test(a_waiting_reader_comes_after_the_bytes),
		cmocka_unit_test(without_the_peer_there_is_one_end),
		cmocka_unit_test(an_end_that_is_known_late_is_read_again),
	};

	text_set_unicode(false);
	return cmocka_run_group_tests(tests, NULL, teardown);
}
