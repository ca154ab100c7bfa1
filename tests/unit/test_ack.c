/* SPDX-License-Identifier: MIT */
/* Acknowledgements that advance, at the sender of the bytes and at their receiver. */
#include "facts/facts.h"
#include "feed.h"

#define A       1
#define SENDER  10
#define FIRST   1000 /* number of A's first byte */
#define THEIRS  5000 /* number of its peer's first byte */
#define ACK     16
#define FIN     1
#define PROGRAM 1000 /* bytes that A has sent */

static struct told {
	struct fact_ack fact[20];
	uint32_t n;
} told;

static void on_ack(void *arg, const void *fact)
{
	struct told *t = arg;

	assert_in_range(t->n, 0, 19);
	t->fact[t->n++] = *(const struct fact_ack *)fact;
}

static void begin(struct core *c, const char *hooks)
{
	feed_begin(c, hooks);
	memset(&told, 0, sizeof(told));
	facts_listen(core_facts(c), FACT_ack, on_ack, &told);
	ev_opened(c, 10, A, FIRST - 1, THEIRS - 1);
	feed_send(c, SENDER, A, FIRST, PROGRAM, 100, 1);
}

static void packet(
	struct core *c, uint16_t id, uint64_t t, uint32_t seq, uint32_t len, uint32_t ack)
{
	struct mg_event e = feed_event(id, t, 0);

	e.packet = (struct mg_packet){
		.sock = A, .seq = seq, .len = len, .ack = ack, .tcp_flags = ACK, .segs = 1};
	feed(c, &e);
}

/* A segment is at the device and at IP, at t and t + 1. */
static void arrives(struct core *c, uint64_t t, uint32_t seq, uint32_t len, uint32_t ack)
{
	packet(c, MG_EVENT_dev_recv, t, seq, len, ack);
	packet(c, MG_EVENT_ip_in, t + 1, seq, len, ack);
}

static void processed(struct core *c, uint64_t t, uint32_t seq, uint32_t len, uint32_t snd_una)
{
	struct mg_event e = feed_event(MG_EVENT_tcp_recv, t, 0);

	e.tcp_recv = (struct mg_tcp_recv){.sock = A, .seq = seq, .len = len, .snd_una = snd_una};
	feed(c, &e);
}

static void assert_told(uint32_t i, bool rx, uint64_t offset, uint64_t length, uint64_t device,
	uint64_t ip, uint64_t tcp)
{
	const struct fact_ack *f = &told.fact[i];

	assert_in_range(i, 0, told.n - 1);
	assert_int_equal(f->flow.sock, A);
	assert_int_equal(f->flow.rx, rx);
	assert_int_equal(f->offset, offset);
	assert_int_equal(f->length, length);
	assert_int_equal(f->device, device);
	assert_int_equal(f->ip, ip);
	assert_int_equal(f->tcp, tcp);
}

static void end(struct core *c)
{
	core_finish(c);
	core_free(c);
}

static void those_that_advance_have_three_times(void **unused)
{
	static struct core c;

	(void)unused;
	begin(&c, ALL_HOOKS);
	arrives(&c, 1000, THEIRS, 0, FIRST + 300);
	processed(&c, 1002, THEIRS, 0, FIRST);
	arrives(&c, 2000, THEIRS, 0, FIRST + 300); /* a duplicate */
	processed(&c, 2002, THEIRS, 0, FIRST + 300);
	arrives(&c, 3000, THEIRS, 50, FIRST + 1000); /* with data */
	processed(&c, 3002, THEIRS, 50, FIRST + 300);
	arrives(&c, 4000, THEIRS, 0, FIRST + 300); /* overtaken */
	processed(&c, 4002, THEIRS, 0, FIRST + 1000);
	end(&c);
	assert_int_equal(told.n, 2);
	assert_told(0, false, 300, 300, 1000, 1001, 1002);
	assert_told(1, false, 1000, 700, 3000, 3001, 3002);
}

/* While a thread has the socket, pure acknowledgements wait, and TCP merges those that may be. */
static void merged_ones_were_processed_together(void **unused)
{
	static struct core c;

	(void)unused;
	begin(&c, ALL_HOOKS);
	arrives(&c, 1000, THEIRS, 0, FIRST + 100);
	arrives(&c, 1010, THEIRS, 0, FIRST + 200);
	arrives(&c, 1020, THEIRS, 0, FIRST + 200); /* a duplicate among them */
	arrives(&c, 1030, THEIRS, 0, FIRST + 300);
	processed(&c, 1100, THEIRS, 0, FIRST);
	assert_int_equal(told.n, 1);
	arrives(&c, 2000, THEIRS, 0, FIRST + 400);
	processed(&c, 2100, THEIRS, 0, FIRST + 300);
	end(&c);
	assert_int_equal(told.n, 4);
	assert_told(0, false, 100, 100, 1000, 1001, 1100);
	assert_told(1, false, 200, 100, 1010, 1011, 1100);
	assert_told(2, false, 300, 100, 1030, 1031, 1100);
	assert_told(3, false, 400, 100, 2000, 2001, 2100);
}

static void those_that_waited_apart_have_times_apart(void **unused)
{
	static struct core c;

	(void)unused;
	begin(&c, ALL_HOOKS);
	arrives(&c, 1000, THEIRS, 0, FIRST + 100);
	arrives(&c, 1010, THEIRS, 0, FIRST + 100); /* a duplicate */
	arrives(&c, 1020, THEIRS, 0, FIRST + 200);
	processed(&c, 1100, THEIRS, 0, FIRST);
	processed(&c, 1110, THEIRS, 0, FIRST + 100);
	processed(&c, 1120, THEIRS, 0, FIRST + 100);
	end(&c);
	assert_int_equal(told.n, 2);
	assert_told(0, false, 100, 100, 1000, 1001, 1100);
	assert_told(1, false, 200, 100, 1020, 1021, 1120);
}

static void a_dropped_one_does_not_count(void **unused)
{
	static struct core c;

	(void)unused;
	begin(&c, ALL_HOOKS);
	packet(&c, MG_EVENT_dev_recv, 1000, THEIRS, 0, FIRST + 300); /* by a firewall */
	arrives(&c, 2000, THEIRS + 90, 9, FIRST + 500);              /* by TCP */
	arrives(&c, 3000, THEIRS, 10, FIRST + 500);
	processed(&c, 3002, THEIRS, 10, FIRST);
	end(&c);
	assert_int_equal(told.n, 1);
	assert_told(0, false, 500, 500, 3000, 3001, 3002);
}

static void a_fin_is_no_byte(void **unused)
{
	static struct core c;

	(void)unused;
	begin(&c, ALL_HOOKS);
	ev_shut(&c, 900, A, FIRST + PROGRAM);
	/* TCP has no event for it in this state */
	arrives(&c, 1000, THEIRS, 0, FIRST + PROGRAM + 1);
	end(&c);
	assert_int_equal(told.n, 1);
	assert_told(0, false, PROGRAM, PROGRAM, 1000, 1001, 0);
}

static void what_tcp_processed_before_a_close_is_known(void **unused)
{
	static struct core c;

	(void)unused;
	begin(&c, ALL_HOOKS);
	arrives(&c, 1000, THEIRS, 0, FIRST + 100);
	arrives(&c, 1010, THEIRS, 0, FIRST + 200);
	arrives(&c, 1020, THEIRS, 0, FIRST + 300);
	processed(&c, 1100, THEIRS, 0, FIRST);
	feed(&c, &(struct mg_event){.id = MG_EVENT_sock_state,
			 .time_ns = 1200,
			 .sock_state = {.sock = A,
				 .write_seq = FIRST + PROGRAM,
				 .snd_una = FIRST + 200,
				 .old = MG_TCP_ESTABLISHED,
				 .now = MG_TCP_FIN_WAIT1}});
	end(&c);
	assert_int_equal(told.n, 3);
	assert_told(1, false, 200, 100, 1010, 1011, 1100);
	assert_told(2, false, 300, 100, 1020, 1021, 0);
}

static void a_lost_event_leaves_the_time_open(void **unused)
{
	static struct core c;

	(void)unused;
	begin(&c, ALL_HOOKS);
	arrives(&c, 1000, THEIRS, 0, FIRST + 100);
	arrives(&c, 1010, THEIRS, 0, FIRST + 200);
	processed(&c, 1100, THEIRS, 0, FIRST);
	ev_lost(&c, 1150, 1, 1050, 1150);
	arrives(&c, 2000, THEIRS, 0, FIRST + 300);
	processed(&c, 2100, THEIRS, 0, FIRST + 200);
	end(&c);
	assert_int_equal(told.n, 3);
	assert_told(1, false, 200, 100, 1010, 1011, 0);
}

static void layers_that_are_not_recorded_have_no_time(void **unused)
{
	static struct core c;

	(void)unused;
	begin(&c, "sys_enter,sys_exit,dev_recv");
	packet(&c, MG_EVENT_dev_recv, 1000, THEIRS, 0, FIRST + 300);
	end(&c);
	assert_int_equal(told.n, 1);
	assert_told(0, false, 300, 300, 1000, 0, 0);
	begin(&c, "sys_enter,sys_exit,ip_in ipv4");
	packet(&c, MG_EVENT_ip_in, 1000, THEIRS, 0, FIRST + 300);
	end(&c);
	assert_int_equal(told.n, 1);
	assert_told(0, false, 300, 300, 0, 1000, 0);
}

/* A damaged number acknowledges more than was ever sent. */
static void a_damaged_one_does_not_count(void **unused)
{
	static struct core c;

	(void)unused;
	begin(&c, "sys_enter,sys_exit,ip_out ipv4,dev_recv");
	packet(&c, MG_EVENT_dev_recv, 1000, THEIRS, 0, FIRST + PROGRAM + 70000);
	packet(&c, MG_EVENT_dev_recv, 1010, THEIRS, 0, FIRST + PROGRAM);
	end(&c);
	assert_int_equal(told.n, 1);
	assert_told(0, false, PROGRAM, PROGRAM, 1010, 0, 0);
}

static void its_receiver_has_two_times(void **unused)
{
	static struct core c;
	uint32_t mine = FIRST + PROGRAM;

	(void)unused;
	begin(&c, ALL_HOOKS);
	packet(&c, MG_EVENT_ip_out, 1000, mine, 0, THEIRS + 100);
	packet(&c, MG_EVENT_dev_queue, 1001, mine, 0, THEIRS + 100);
	packet(&c, MG_EVENT_ip_out, 1002, mine, 0, THEIRS + 150);
	packet(&c, MG_EVENT_dev_xmit, 1005, mine, 0, THEIRS + 100);
	packet(&c, MG_EVENT_dev_xmit, 1006, mine, 0, THEIRS + 150);
	/* with 300 bytes, which are cut in two before the driver */
	packet(&c, MG_EVENT_ip_out, 2000, mine, 300, THEIRS + 400);
	packet(&c, MG_EVENT_dev_xmit, 2005, mine, 150, THEIRS + 400);
	packet(&c, MG_EVENT_dev_xmit, 2006, mine + 150, 150, THEIRS + 400);
	end(&c);
	assert_int_equal(told.n, 3);
	assert_told(0, true, 100, 100, 1005, 1000, 0);
	assert_told(1, true, 150, 50, 1006, 1002, 0);
	assert_told(2, true, 400, 250, 2005, 2000, 0);
}

/* A copy that the queue dropped has no second time, unless a later one acknowledges as much. */
static void one_that_never_left_is_told_at_the_end(void **unused)
{
	static struct core c;
	uint32_t mine = FIRST + PROGRAM;

	(void)unused;
	begin(&c, ALL_HOOKS);
	packet(&c, MG_EVENT_ip_out, 1000, mine, 0, THEIRS + 100);
	packet(&c, MG_EVENT_ip_out, 1010, mine, 0, THEIRS + 200);
	packet(&c, MG_EVENT_dev_xmit, 1015, mine, 0, THEIRS + 200);
	packet(&c, MG_EVENT_ip_out, 1020, mine, 0, THEIRS + 300);
	assert_int_equal(told.n, 1);
	end(&c);
	assert_int_equal(told.n, 2);
	assert_told(0, true, 200, 200, 1015, 1010, 0);
	assert_told(1, true, 300, 100, 0, 1020, 0);
}

static void nothing_is_kept_if_nobody_listens(void **unused)
{
	static struct core c;

	(void)unused;
	feed_begin(&c, ALL_HOOKS);
	ev_opened(&c, 10, A, FIRST - 1, THEIRS - 1);
	feed_send(&c, SENDER, A, FIRST, PROGRAM, 100, 1);
	arrives(&c, 1000, THEIRS, 0, FIRST + 300);
	assert_null(tx_of(&c, A)->ack.on_way);
	assert_null(rx_of(&c, A)->ack.on_way);
	end(&c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(those_that_advance_have_three_times),
		cmocka_unit_test(merged_ones_were_processed_together),
		cmocka_unit_test(those_that_waited_apart_have_times_apart),
		cmocka_unit_test(a_dropped_one_does_not_count),
		cmocka_unit_test(a_fin_is_no_byte),
		cmocka_unit_test(what_tcp_processed_before_a_close_is_known),
		cmocka_unit_test(a_lost_event_leaves_the_time_open),
		cmocka_unit_test(layers_that_are_not_recorded_have_no_time),
		cmocka_unit_test(a_damaged_one_does_not_count),
		cmocka_unit_test(its_receiver_has_two_times),
		cmocka_unit_test(one_that_never_left_is_told_at_the_end),
		cmocka_unit_test(nothing_is_kept_if_nobody_listens),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
