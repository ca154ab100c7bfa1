/* SPDX-License-Identifier: MIT */
/* trigger.c: the events that trigger a dump of the flight recorder. */
#include <netinet/in.h>

#include "run/flight.h"
#include "run/trigger.h"
#include "unit.h"

#define MS 1000000ull

static struct run run;
static struct triggers *triggers;
static struct mg_dump fired;
static int times;

void flight_fire(struct run *r, const struct mg_dump *why)
{
	assert_ptr_equal(r, &run);
	fired = *why;
	times++;
}

static int setup(void **unused)
{
	(void)unused;
	memset(&run, 0, sizeof(run));
	run.options.trigger.latency_ns = 100 * MS;
	triggers = triggers_new(&run);
	times = 0;
	return triggers ? 0 : -1;
}

static int teardown(void **unused)
{
	(void)unused;
	triggers_free(triggers);
	return 0;
}

static void see(uint16_t id, uint64_t ts, const void *payload, size_t size)
{
	struct mg_slot s = {.id = id, .ts = ts};

	memcpy(s.payload, payload, size);
	triggers_see(triggers, &s);
}

static void arrives(uint64_t ts, uint64_t sock, uint32_t seq, uint32_t len)
{
	struct mg_packet p = {.sock = sock, .seq = seq, .len = len, .proto = IPPROTO_TCP};

	see(MG_EVENT_dev_recv, ts, &p, MG_PAYLOAD_SIZE(PACKET));
}

static void is_copied(uint64_t ts, uint64_t sock, uint32_t seq, uint32_t len)
{
	struct mg_sock_copy p = {.sock = sock, .seq = seq, .len = len};

	see(MG_EVENT_sock_copy, ts, &p, MG_PAYLOAD_SIZE(SOCK_COPY));
}

static void bytes_that_wait_too_long_fire(void **unused)
{
	(void)unused;
	arrives(1000 * MS, 7, 500, 100);
	arrives(1050 * MS, 7, 600, 100);
	is_copied(1090 * MS, 7, 500, 100);
	assert_int_equal(times, 0);
	is_copied(1200 * MS, 7, 600, 100);
	assert_int_equal(times, 1);
	assert_int_equal(fired.sock, 7);
	assert_int_equal(fired.value_ns, 150 * MS);
	assert_string_equal(fired.why, "latency");
}

static void connections_are_told_apart(void **unused)
{
	(void)unused;
	arrives(1000 * MS, 7, 500, 100);
	is_copied(2000 * MS, 8, 500, 100);
	assert_int_equal(times, 0);
}

/* Rings are read one after the other: the copy may be seen first. */
static void bytes_copied_already_wait_for_nothing(void **unused)
{
	(void)unused;
	arrives(1000 * MS, 7, 400, 100);
	is_copied(1010 * MS, 7, 400, 200);
	arrives(1005 * MS, 7, 500, 100);
	is_copied(5000 * MS, 7, 600, 100);
	assert_int_equal(times, 0);
}

static void sequence_numbers_may_wrap(void **unused)
{
	(void)unused;
	arrives(1000 * MS, 7, 0xffffffc0, 100);
	is_copied(1010 * MS, 7, 0xffffffc0, 100);
	arrives(1020 * MS, 7, 36, 100);
	is_copied(1300 * MS, 7, 36, 100);
	assert_int_equal(times, 1);
	assert_int_equal(fired.value_ns, 280 * MS);
}

static void many_arrivals_keep_the_oldest(void **unused)
{
	(void)unused;
	for (uint32_t i = 0; i < 1000; i++)
		arrives(1000 * MS + i, 7, 100 * i, 100);
	is_copied(1200 * MS, 7, 0, 100000);
	assert_int_equal(times, 1);
	assert_int_equal(fired.value_ns, 200 * MS);
}

static void a_closed_connection_is_forgotten(void **unused)
{
	struct mg_sock_state p = {.sock = 7, .now = 7};

	(void)unused;
	arrives(1000 * MS, 7, 500, 100);
	see(MG_EVENT_sock_state, 1001 * MS, &p, MG_PAYLOAD_SIZE(SOCK_STATE));
	is_copied(5000 * MS, 7, 500, 100);
	assert_int_equal(times, 0);
}

static void retransmissions_fire_if_asked_to(void **unused)
{
	struct mg_tcp_retransmit p = {.sock = 9};

	(void)unused;
	see(MG_EVENT_tcp_retransmit, 1, &p, MG_PAYLOAD_SIZE(TCP_RETRANSMIT));
	assert_int_equal(times, 0);
	run.options.trigger.retransmission = true;
	assert_true(mg_events_have(triggers_events(&run.options), MG_EVENT_tcp_retransmit));
	see(MG_EVENT_tcp_retransmit, 1, &p, MG_PAYLOAD_SIZE(TCP_RETRANSMIT));
	assert_int_equal(times, 1);
	assert_int_equal(fired.sock, 9);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
		TEST(bytes_that_wait_too_long_fire),
		TEST(connections_are_told_apart),
		TEST(bytes_copied_already_wait_for_nothing),
		TEST(sequence_numbers_may_wrap),
		TEST(many_arrivals_keep_the_oldest),
		TEST(a_closed_connection_is_forgotten),
		TEST(retransmissions_fire_if_asked_to),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
