/* SPDX-License-Identifier: MIT */
/* Closed sockets are packed: they take little memory, and the report stays the same. */
#include <malloc.h>
#include <string.h>

#include "figures/bound.h"
#include "render/report.h"
#include "reported.h"

#define CLIENT(i) (100000 + 2 * (uint64_t)(i))
#define SERVER(i) (CLIENT(i) + 1)
#define ISN       999
#define IRS(i)    (4999 + 10000 * (i))
#define APART     3000000 /* cycles from one connection to the next */

static size_t in_use(void)
{
	struct mallinfo2 m = mallinfo2();

	return m.uordblks + m.hblkhd;
}

static void open_client(struct core *c, uint32_t i, uint64_t at)
{
	ev_opened(c, at, CLIENT(i), ISN, IRS(i));
}

static void open_server(struct core *c, uint32_t i, uint64_t at)
{
	ev_opened(c, at, SERVER(i), IRS(i), ISN);
}

/* Sends 100 bytes from one end to the other, with a given delay. */
static void pass(
	struct core *c, uint64_t from, uint64_t to, uint32_t first, uint64_t at, uint32_t delay)
{
	feed_send(c, SENDER, from, first, 100, at, 1 + delay);
	feed_segment(c, to, first, 100, at + 40000, 1 + delay / 2);
	feed_recv(c, RECEIVER, to, first, 100, at + 60000 + 7 * delay, 1);
}

/* Feeds a request and its answer. */
static void exchange(struct core *c, uint32_t i, uint64_t at)
{
	pass(c, CLIENT(i), SERVER(i), ISN + 1, at, 100 + i % 301);
	pass(c, SERVER(i), CLIENT(i), IRS(i) + 1, at + 200000, 3000 + i % 77);
	ev_ack(c, at + 400000, SERVER(i), IRS(i) + 101);
	ev_ack(c, at + 400010, CLIENT(i), ISN + 101);
}

/*
 * Feeds the same in the other order, which is no exchange: one is reported when its socket is
 * packed, without the times of a peer that only comes later.
 */
static void greeting(struct core *c, uint32_t i, uint64_t at)
{
	pass(c, SERVER(i), CLIENT(i), IRS(i) + 1, at, 3000 + i % 77);
	pass(c, CLIENT(i), SERVER(i), ISN + 1, at + 200000, 100 + i % 301);
	ev_ack(c, at + 400000, SERVER(i), IRS(i) + 101);
	ev_ack(c, at + 400010, CLIENT(i), ISN + 101);
}

static void close_both(struct core *c, uint32_t i, uint64_t at)
{
	ev_closed(c, at, CLIENT(i));
	ev_closed(c, at + 10, SERVER(i));
}

/* Begins connection `i` with a request and its answer. Returns when that began. */
static uint64_t open_one(struct core *c, uint32_t i)
{
	uint64_t at = 1000000 + i * (uint64_t)APART;

	open_client(c, i, at);
	open_server(c, i, at + 1);
	exchange(c, i, at + 10);
	return at;
}

static void short_one(struct core *c, uint32_t i)
{
	close_both(c, i, open_one(c, i) + 500000);
}

/* Returns the bytes in use after that many short connections. */
static size_t bytes_of(uint32_t connections, bool packed)
{
	size_t before = in_use(), after;
	struct core *c = malloc(sizeof(*c));

	assert_non_null(c);
	feed_begin(c, ALL_HOOKS);
	if (packed)
		core_pack_closed(c);
	for (uint32_t i = 0; i < connections; i++)
		short_one(c, i);
	after = in_use();
	feed_end(c);
	free(c);
	return after - before;
}

/* Unpacked, a connection with a request and an answer took 9 KB. */
static void a_packed_socket_takes_some_hundred_bytes(void **unused)
{
	size_t each = (bytes_of(3048, true) - bytes_of(1000, true)) / 4096;

	(void)unused;
	print_message("bytes a closed socket: %zu, unpacked %zu\n", each,
		(bytes_of(3000, false) - bytes_of(1000, false)) / 4000);
	assert_true(each < 1800);
}

#define AT_A_TIME 1000 /* connections */

/* Opens many connections that stay open. */
static void open_many(struct core *c, uint32_t first)
{
	for (uint32_t i = first; i < first + AT_A_TIME; i++)
		open_one(c, i);
}

static void close_many(struct core *c, uint32_t first)
{
	uint64_t at = 1000000 + (first + AT_A_TIME - 1) * (uint64_t)APART + 500000;

	for (uint32_t i = first; i < first + AT_A_TIME; i++)
		close_both(c, i, at + 20 * (i - first));
}

/* Where many connections were open at a time, as many closed ones take no more memory. */
static void closed_ones_wait_while_fewer_are_open(void **unused)
{
	static struct core c;
	const uint32_t most = 2 * AT_A_TIME, at_once = 2 * CLOSED_AT_ONCE;

	(void)unused;
	feed_begin(&c, ALL_HOOKS);
	core_pack_closed(&c);
	open_many(&c, 0);
	close_many(&c, 0);
	assert_int_equal(HASH_COUNT(c.sockets.socks), most);
	for (uint32_t i = AT_A_TIME; i < 3 * AT_A_TIME; i++) { /* one after the other */
		short_one(&c, i);
		assert_true(HASH_COUNT(c.sockets.socks) <= most + at_once);
	}
	assert_true(HASH_COUNT(c.sockets.socks) >= most - at_once);
	open_many(&c, 3 * AT_A_TIME); /* they need the memory of those that are closed */
	assert_true(HASH_COUNT(c.sockets.socks) <= most + at_once);
	feed_end(&c);
}

/* A view of what happens now hears of a connection's last exchange soon. */
static void where_old_ones_are_forgotten_none_waits_for_long(void **unused)
{
	static struct core c;

	(void)unused;
	feed_begin(&c, ALL_HOOKS);
	core_pack_closed(&c);
	core_forget_closed(&c, 10000);
	open_many(&c, 0);
	close_many(&c, 0);
	assert_true(HASH_COUNT(c.sockets.socks) <= CLOSED_WAIT + 2 * CLOSED_AT_ONCE);
	feed_end(&c);
}

/* A socket with many different times shrinks little when packed: it stays unpacked for longer. */
static void large_ones_wait(void **unused)
{
	static struct core c;

	(void)unused;
	feed_begin(&c, ALL_HOOKS);
	core_pack_closed(&c);
	for (uint32_t i = 0; i < 400; i++) {
		uint64_t at = 1000000 + i * 1000ull * APART, seed = 3;

		open_client(&c, i, at);
		open_server(&c, i, at + 1);
		for (uint32_t nth = 0; nth < (i % 2 ? 1 : 60); nth++)
			pass(&c, CLIENT(i), SERVER(i), ISN + 1 + 100 * nth, at += APART,
				(uint32_t)unit_random_below(&seed, 5000));
		ev_closed(&c, at + 500000, CLIENT(i));
		ev_closed(&c, at + 500010, SERVER(i));
	}
	assert_true(c.sockets.closed.large.len > 0);
	assert_true(HASH_COUNT(c.sockets.closed.all) > 0);
	for (const struct closed_sock *k = c.sockets.closed.all; k; k = k->hh.next)
		assert_int_equal((k->cookie - CLIENT(0)) / 2 % 2, 1);
	feed_end(&c);
}

#define CONNECTIONS 700

/* Feeds the kernel's timestamps of the request, in some connections without the last one. */
static void timestamps(struct core *c, uint32_t i, uint64_t at)
{
	static const uint16_t ids[] = {
		MG_EVENT_stamp_queue, MG_EVENT_stamp_driver, MG_EVENT_stamp_ack};
	struct mg_event e = feed_event(MG_EVENT_stamp_send, at, SENDER);

	e.stamp_send = (struct mg_stamp_send){.sock = CLIENT(i), .end = ISN + 101, .cwnd = 10};
	feed(c, &e);
	for (uint32_t n = 0; n < (i % 29 ? 3 : 2); n++) {
		e = feed_event(ids[n], at + (n + 1) * (700 + i % 53), 0);
		e.stamp = (struct mg_stamp){.sock = CLIENT(i), .end = ISN + 101};
		feed(c, &e);
	}
}

/* Feeds a connection; some lose a segment or events, and some ends are never closed or met late. */
static void connect(struct core *c, uint32_t i, uint64_t at)
{
	open_client(c, i, at);
	if (i % 17)
		open_server(c, i, at + 1);
	(i % 17 ? exchange : greeting)(c, i, at + 10);
	if (i % 2)
		timestamps(c, i, at + 402000);
	if (i % 7 == 0) {
		feed_send(c, SENDER, CLIENT(i), ISN + 101, 50, at + 410000, 20);
		ev_retransmit(c, at + 415000, CLIENT(i), ISN + 101, 50);
		ev_packet(c, at + 416000, 0, MG_EVENT_ip_out, CLIENT(i), ISN + 101, 50);
	}
	if (i % 11 == 0)
		ev_lost(c, at + 420000, 3, at + 100, at + 900);
	if (i % 5 == 0) /* a read that is still waiting */
		ev_enter(c, at + 430000, 50 + i, SERVER(i), MG_SYS_recvfrom, ISN + 101);
	ev_closed(c, at + 500000, CLIENT(i));
	if (i % 13)
		ev_closed(c, at + 500010, SERVER(i));
}

/* Feeds events that come when most sockets have been closed for long. */
static void come_late(struct core *c, uint32_t i, uint64_t at)
{
	if (i % 17 == 0)
		open_server(c, i, at);
	if (i % 5 == 0)
		ev_exit(c, at + 10, 50 + i, SERVER(i), MG_SYS_recvfrom, ISN + 101, 0);
	if (i % 3 == 0)
		ev_ack(c, at + 20, CLIENT(i), ISN + 101);
	if (i % 7 == 0)
		feed_segment(c, SERVER(i), ISN + 101, 50, at + 40, 1);
}

static void record(struct core *c, bool packed)
{
	feed_begin(c, ALL_HOOKS);
	if (packed)
		core_pack_closed(c);
	ev_fork(c, 5, 1, SENDER, "sender");
	ev_fork(c, 6, 1, RECEIVER, "receiver");
	for (uint32_t i = 0; i < CONNECTIONS; i++)
		connect(c, i, 1000000 + i * (uint64_t)APART);
	if (packed) /* both ends of most */
		assert_true(HASH_COUNT(c->sockets.closed.all) > CONNECTIONS);
	for (uint32_t i = 0; i < CONNECTIONS; i++)
		come_late(c, i, 1000000 + (CONNECTIONS + i) * (uint64_t)APART);
	assert_int_equal(core_finish(c), 0);
}

/* Returns text and JSON, one after the other. */
static char *reported_text(struct core *c, bool whole)
{
	struct report r;
	char *text = NULL;
	size_t size;
	FILE *to = open_memstream(&text, &size);

	assert_non_null(to);
	assert_int_equal(report_init(&r, c, NULL, "test"), 0);
	r.whole_flows = whole;
	report_json_print(&r, NULL, REPORT_DIGITS, to);
	report_text(&r, to, NULL, false);
	fclose(to);
	report_free(&r);
	return text;
}

static void the_report_is_that_of_sockets_as_they_are(void **unused)
{
	static struct core plain, packed;

	(void)unused;
	record(&plain, false);
	record(&packed, true);
	assert_true(HASH_COUNT(packed.sockets.closed.all) > CONNECTIONS / 2);
	assert_int_equal(core_sock_count(&packed), HASH_COUNT(plain.sockets.socks));
	for (int whole = 0; whole < 2; whole++) {
		char *wanted = reported_text(&plain, whole), *got = reported_text(&packed, whole);

		assert_non_null(strstr(wanted, "\"transit_ns\""));
		assert_non_null(strstr(wanted, "\"unfinished\":"));
		assert_string_equal(got, wanted);
		free(wanted);
		free(got);
	}
	core_free(&plain);
	core_free(&packed);
}

/* With hardly any memory for distributions their bins become as wide as without packing. */
static void packed_distributions_are_bounded_with_the_others(void **unused)
{
	static struct core c;
	const struct closed_sock *k;
	size_t before, after = 0;

	(void)unused;
	feed_begin(&c, ALL_HOOKS);
	core_pack_closed(&c);
	c.sockets.closed.large_from = SIZE_MAX;
	for (uint32_t i = 0; i < 300; i++) {
		uint64_t at = 1000000 + i * 1000ull * APART, seed = 3;

		open_client(&c, i, at);
		open_server(&c, i, at + 1);
		for (uint32_t nth = 0; nth < (i ? 1 : 60); nth++)
			pass(&c, CLIENT(i), SERVER(i), ISN + 1 + 100 * nth, at += APART,
				(uint32_t)unit_random_below(&seed, 5000));
		ev_closed(&c, at + 500000, CLIENT(i));
		ev_closed(&c, at + 500010, SERVER(i));
	}
	k = c.sockets.closed.all;
	assert_int_equal(k->cookie, CLIENT(0));
	before = k->size;
	memory_of(&c)->dists.limit = memory_of(&c)->dists.used - 1;
	bound_between(memory_of(&c), &c);
	assert_true(memory_of(&c)->dists.coarse > 0);
	for (k = c.sockets.closed.all; k; k = k->hh.next)
		if (k->cookie == CLIENT(0))
			after = k->size;
	assert_true(after > 0 && after < before);
	feed_end(&c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_packed_socket_takes_some_hundred_bytes),
		cmocka_unit_test(closed_ones_wait_while_fewer_are_open),
		cmocka_unit_test(where_old_ones_are_forgotten_none_waits_for_long),
		cmocka_unit_test(large_ones_wait),
		cmocka_unit_test(the_report_is_that_of_sockets_as_they_are),
		cmocka_unit_test(packed_distributions_are_bounded_with_the_others),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
