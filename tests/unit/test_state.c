/* SPDX-License-Identifier: MIT */
/* Protocol state, summed for each connection and reported. */
#include "socket/anchor.h"
#include "report.h"
#include "reported.h"
#include "show.h"
#include "tcp_names.h"

#define STATE_HOOKS ALL_HOOKS ",tcp_cong,tcp_reset"

static void begin(struct core *c, const char *hooks)
{
	feed_begin(c, hooks);
	ev_opened(c, 10, A, 999, 4999);
	ev_opened(c, 20, B, 4999, 999);
	transfer(c, 0, 10000, 10100);
}

static void ev_light(struct core *c, uint64_t t, uint64_t sock, uint32_t srtt, uint32_t cwnd)
{
	struct mg_event e = feed_event(MG_EVENT_tcp_state, t, SENDER);

	e.tcp_state = (struct mg_tcp_state){.sock = sock,
		.snd_wnd = 1000 * cwnd,
		.rcv_wnd = 7,
		.srtt_us = srtt,
		.rto_us = 204000,
		.snd_ssthresh = 0x7fffffff,
		.snd_cwnd = cwnd};
	feed(c, &e);
}

static void ev_full(struct core *c, uint64_t t, uint64_t sock, uint32_t lost, uint64_t busy_us)
{
	struct mg_event e = feed_event(MG_EVENT_tcp_more, t, SENDER);

	e.tcp_more = (struct mg_tcp_more){
		.sock = sock, .pacing_rate = UINT64_MAX, .delivered = 10 * lost, .lost = lost};
	feed(c, &e);
	e = feed_event(MG_EVENT_tcp_limits, t + 1, SENDER);
	e.tcp_limits = (struct mg_tcp_limits){.sock = sock,
		.busy_us = busy_us,
		.rwnd_limited_us = busy_us / 2,
		.sndbuf_limited_us = busy_us / 4};
	feed(c, &e);
}

static void ev_window(struct core *c, uint64_t t, uint64_t sock, bool own, bool closed)
{
	struct mg_event e = feed_event(MG_EVENT_tcp_window, t, SENDER);

	e.tcp_window = (struct mg_tcp_window){.sock = sock, .own = own, .closed = closed};
	feed(c, &e);
}

static void ev_cong(struct core *c, uint64_t t, uint64_t sock, uint8_t old, uint8_t now)
{
	struct mg_event e = feed_event(MG_EVENT_tcp_cong, t, SENDER);

	e.tcp_cong = (struct mg_tcp_cong){.sock = sock, .old = old, .now = now};
	feed(c, &e);
}

static void ev_timeout(struct core *c, uint64_t t, uint64_t sock, uint16_t count)
{
	struct mg_event e = feed_event(MG_EVENT_tcp_timeout, t, SENDER);

	e.tcp_timeout = (struct mg_tcp_timeout){.sock = sock, .count = count};
	feed(c, &e);
}

static void ev_reset(struct core *c, uint64_t t, uint64_t sock, bool sent, uint8_t reason)
{
	struct mg_event e = feed_event(MG_EVENT_tcp_reset, t, SENDER);

	e.tcp_reset = (struct mg_tcp_reset){.sock = sock, .sent = sent, .reason = reason};
	feed(c, &e);
}

static void without_a_level_figures_are_null_and_counts_are_not(void **unused)
{
	struct core c;
	json_t *j;

	(void)unused;
	begin(&c, STATE_HOOKS);
	j = reported(&c);
	assert_null_at(j, "flows.0.tcp.algorithm");
	assert_null_at(j, "flows.0.tcp.srtt_us");
	assert_null_at(j, "flows.0.tcp.cwnd");
	assert_null_at(j, "flows.0.tcp.ssthresh");
	assert_null_at(j, "flows.0.tcp.lost");
	assert_null_at(j, "flows.0.tcp.busy_us");
	assert_number_at(j, "flows.0.tcp.timeouts", 0);
	assert_number_at(j, "flows.0.tcp.recoveries", 0);
	assert_number_at(j, "flows.0.tcp.zero_windows", 0);
	assert_number_at(j, "flows.0.tcp.resets_sent", 0);
	json_decref(j);
}

static void figures_without_hooks_are_null(void **unused)
{
	struct core c;
	json_t *j;

	(void)unused;
	begin(&c, "sys_enter,sys_exit,tcp_send,sock_copy,tcp_ready");
	j = reported(&c);
	assert_null_at(j, "flows.0.tcp.timeouts");
	assert_null_at(j, "flows.0.tcp.recoveries");
	assert_null_at(j, "flows.0.tcp.zero_windows");
	assert_null_at(j, "flows.1.tcp.zero_windows");
	assert_null_at(j, "flows.0.tcp.zero_window_ns");
	assert_null_at(j, "flows.0.tcp.resets_sent");
	json_decref(j);
}

static void figures_have_their_range(void **unused)
{
	struct mg_event e = feed_event(MG_EVENT_tcp_algorithm, 19000, SENDER);
	struct core c;
	json_t *j;

	(void)unused;
	begin(&c, STATE_HOOKS);
	ev_light(&c, 20000, A, 0, 10); /* no round trip measured yet */
	ev_light(&c, 21000, A, 100, 20);
	ev_light(&c, 22000, A, 400, 30);
	e.time_ns = 23000;
	e.tcp_algorithm.sock = A;
	memcpy(e.tcp_algorithm.name, "sixteen-letters!", 16);
	feed(&c, &e);
	j = reported(&c);
	assert_number_at(j, "flows.0.tcp.srtt_us.min", 100);
	assert_number_at(j, "flows.0.tcp.srtt_us.mean", 250);
	assert_number_at(j, "flows.0.tcp.srtt_us.max", 400);
	assert_number_at(j, "flows.0.tcp.rto_us.min", 204000);
	assert_number_at(j, "flows.0.tcp.cwnd.min", 10);
	assert_number_at(j, "flows.0.tcp.cwnd.max", 30);
	assert_number_at(j, "flows.0.tcp.window.max", 30000);
	assert_null_at(j, "flows.0.tcp.ssthresh"); /* none yet */
	assert_string_equal(json_string_value(at(j, "flows.0.tcp.algorithm")), "sixteen-letters!");
	assert_null_at(j, "flows.1.tcp.window");
	json_decref(j);
}

static void no_window_is_offered_before_the_syn_ack(void **unused)
{
	struct mg_event e = feed_event(MG_EVENT_sock_state, 5, SENDER);
	struct core c;
	json_t *j;

	(void)unused;
	feed_begin(&c, STATE_HOOKS);
	e.sock_state =
		(struct mg_sock_state){.sock = A, .old = MG_TCP_CLOSE, .now = MG_TCP_SYN_SENT};
	feed(&c, &e);
	ev_light(&c, 6, A, 0, 0);
	ev_opened(&c, 10, A, 999, 4999);
	transfer(&c, 0, 10000, 10100);
	ev_light(&c, 20000, A, 100, 20);
	j = reported(&c);
	assert_number_at(j, "flows.0.tcp.window.min", 20000);
	assert_number_at(j, "flows.0.tcp.window.mean", 20000);
	json_decref(j);
}

static void ev_ack_in(struct core *c, uint64_t t, uint32_t ack, bool closed)
{
	struct mg_event e = feed_event(MG_EVENT_ip_in, t, 0);

	e.packet = (struct mg_packet){.sock = A,
		.seq = 5000,
		.ack = ack,
		.tcp_flags = 16,
		.proto = 6,
		.zero_window = closed};
	feed(c, &e);
}

/* TCP has no event for segments once an end has closed. */
static void windows_close_after_a_shutdown_too(void **unused)
{
	struct mg_event e = feed_event(MG_EVENT_sock_state, 20000, SENDER);
	struct core c;
	json_t *j;

	(void)unused;
	begin(&c, STATE_HOOKS);
	ev_ack_in(&c, 15000, 1500, true); /* established: TCP's event counts */
	e.sock_state = (struct mg_sock_state){
		.sock = A, .write_seq = 1500, .old = MG_TCP_ESTABLISHED, .now = 4 /* FIN_WAIT1 */};
	feed(&c, &e);
	ev_ack(&c, 20500, A, 1500);
	ev_ack_in(&c, 21000, 1500, true);
	ev_ack_in(&c, 21500, 1500, true);  /* still */
	ev_ack_in(&c, 21600, 1400, false); /* an older one that comes late */
	ev_ack_in(&c, 22000, 1500, false);
	ev_ack_in(&c, 23000, 1501, true);
	ev_ack_in(&c, 23500, 1501, false);
	j = reported(&c);
	assert_number_at(j, "flows.0.tcp.zero_windows", 2);
	assert_number_at(j, "flows.0.tcp.zero_window_ns", 1500);
	json_decref(j);
}

/* Counts begin with the connection, which may be older than the recording. */
static void counters_are_reported_for_the_recording_only(void **unused)
{
	struct core c;
	json_t *j;

	(void)unused;
	begin(&c, STATE_HOOKS);
	ev_full(&c, 20000, A, 5, 1000);
	ev_full(&c, 30000, A, 8, 9000);
	j = reported(&c);
	assert_number_at(j, "flows.0.tcp.lost", 3);
	assert_number_at(j, "flows.0.tcp.delivered", 30);
	assert_number_at(j, "flows.0.tcp.busy_us", 8000);
	assert_number_at(j, "flows.0.tcp.rwnd_limited_us", 4000);
	assert_number_at(j, "flows.0.tcp.sndbuf_limited_us", 2000);
	assert_null_at(j, "flows.0.tcp.pacing_rate"); /* it was not paced */
	json_decref(j);
}

static void zero_windows_are_those_that_limit_the_flow(void **unused)
{
	struct core c;
	json_t *j;

	(void)unused;
	begin(&c, STATE_HOOKS);
	ev_window(&c, 20000, A, false, true);
	ev_window(&c, 20700, A, false, false);
	ev_window(&c, 30000, A, false, true);
	ev_window(&c, 30001, B, true, true);
	ev_closed(&c, 30100, A); /* never opened again */
	ev_window(&c, 40000, A, true, true);
	ev_closed(&c, 40501, B);
	ev_closed(&c, 90000, A);
	j = reported(&c);
	assert_number_at(j, "flows.0.tcp.zero_windows", 2);
	assert_number_at(j, "flows.0.tcp.zero_window_ns", 800);
	assert_number_at(j, "flows.1.tcp.zero_windows", 1);
	assert_number_at(j, "flows.1.tcp.zero_window_ns", 10500);
	json_decref(j);
}

static void a_window_that_stays_closed_counts_until_the_end(void **unused)
{
	struct core c;
	json_t *j;

	(void)unused;
	begin(&c, STATE_HOOKS);
	ev_window(&c, 20000, A, false, true);
	ev_light(&c, 26000, A, 1, 1);
	j = reported(&c);
	assert_number_at(j, "flows.0.tcp.zero_window_ns", 6000);
	json_decref(j);
}

static void record_troubles(struct core *c)
{
	begin(c, STATE_HOOKS);
	ev_cong(c, 20000, A, 0, 3);
	ev_cong(c, 21000, A, 3, 4);
	ev_cong(c, 22000, A, 4, 0);
	ev_timeout(c, 21000, A, 1);
	ev_timeout(c, 23000, A, 2); /* one of them sent nothing */
	ev_reset(c, 24000, A, true, MG_RESET_abort_on_close);
	ev_reset(c, 24001, B, false, MG_RESET_unknown);
	ev_reset(c, 24002, 0, true, MG_RESET_no_socket); /* of no socket */
}

static void troubles_are_counted(void **unused)
{
	struct core c;
	json_t *j;

	(void)unused;
	record_troubles(&c);
	j = reported(&c);
	assert_number_at(j, "flows.0.tcp.congestion_changes", 3);
	assert_number_at(j, "flows.0.tcp.recoveries", 1);
	assert_number_at(j, "flows.0.tcp.timeouts", 3);
	assert_number_at(j, "flows.0.tcp.resets_sent", 1);
	assert_number_at(j, "flows.0.tcp.resets_received", 0);
	assert_string_equal(json_string_value(at(j, "flows.0.tcp.reset_reason")), "abort_on_close");
	assert_number_at(j, "flows.1.tcp.resets_received", 1);
	assert_null_at(j, "flows.1.tcp.reset_reason");
	json_decref(j);
}

static void the_text_says_what_there_is(void **unused)
{
	struct report r;
	struct core c;
	char *text;
	size_t size;
	FILE *f = open_memstream(&text, &size);

	(void)unused;
	record_troubles(&c);
	ev_light(&c, 30000, A, 100, 20);
	ev_full(&c, 31000, A, 0, 0);
	ev_full(&c, 32000, A, 2, 8000);
	ev_window(&c, 33000, A, false, true);
	ev_window(&c, 35000, A, false, false);
	core_finish(&c);
	assert_int_equal(report_init(&r, &c, NULL, "a trace"), 0);
	report_text(&r, f, "1/tx", false);
	fclose(f);
	assert_non_null(strstr(text, "TCP state: smoothed round trip 100 "));
	assert_non_null(strstr(text, "cwnd 20 to 20"));
	assert_non_null(
		strstr(text, "sending for 8.00 ms, of it limited by the peer's window 50 %, by "
			     "its own send buffer 25 %"));
	assert_non_null(strstr(text, "considered lost 2"));
	assert_non_null(strstr(text, "peer's window zero: 1 time, "));
	assert_non_null(strstr(text, "timeouts: 3; recoveries from loss: 1; "));
	assert_non_null(strstr(text, "reset sent (abort_on_close)"));
	free(text);
	report_free(&r);
	feed_end(&c);
}

static void numbers_are_shown_by_their_names(void **unused)
{
	struct show s = {.tsv = true, .setup = true};
	struct core c;
	char *text;
	size_t size;

	(void)unused;
	s.to = open_memstream(&text, &size);
	begin(&c, STATE_HOOKS);
	core_listen(&c, show_event, &s);
	ev_cong(&c, 20000, A, 0, 3);
	ev_full(&c, 21000, A, 0, 0);
	ev_reset(&c, 24000, A, true, MG_RESET_no_socket);
	ev_window(&c, 30000, A, true, true);
	core_finish(&c);
	fclose(s.to);
	assert_non_null(strstr(text, "old=open now=recovery"));
	assert_non_null(strstr(text, "ca_state=open"));
	assert_non_null(strstr(text, "reason=no_socket"));
	assert_non_null(strstr(text, "tcp_window\t1/rx")); /* the own window is the receiver's */
	free(text);
	feed_end(&c);
}

static void unknown_numbers_are_harmless(void **unused)
{
	(void)unused;
	assert_string_equal(mg_level_name(MG_LEVEL_full), "full");
	assert_string_equal(mg_level_name(MG_LEVEL_END), "?");
	assert_string_equal(mg_ca_state_name(4), "loss");
	assert_string_equal(mg_ca_state_name(5), "?");
	assert_string_equal(mg_reset_name(MG_RESET_unknown), "unknown");
	assert_string_equal(mg_reset_name(MG_RESET_END), "?");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(without_a_level_figures_are_null_and_counts_are_not),
		cmocka_unit_test(figures_without_hooks_are_null),
		cmocka_unit_test(figures_have_their_range),
		cmocka_unit_test(windows_close_after_a_shutdown_too),
		cmocka_unit_test(no_window_is_offered_before_the_syn_ack),
		cmocka_unit_test(counters_are_reported_for_the_recording_only),
		cmocka_unit_test(zero_windows_are_those_that_limit_the_flow),
		cmocka_unit_test(a_window_that_stays_closed_counts_until_the_end),
		cmocka_unit_test(troubles_are_counted),
		cmocka_unit_test(the_text_says_what_there_is),
		cmocka_unit_test(numbers_are_shown_by_their_names),
		cmocka_unit_test(unknown_numbers_are_harmless),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
