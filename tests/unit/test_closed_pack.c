/* SPDX-License-Identifier: MIT */
/*
 * Closed sockets are packed without addresses and without what is no longer in use: memory is
 * limited by packed bytes, and one trace has one report.
 */
#include "socket/closed_pack.h"

#include <malloc.h>
#include <stdlib.h>
#include <string.h>

#include "why_scenes.h"

/* Opens a connection that has sent three segments; without memory of their own fit two. */
static struct mg_sock *three_in_flight(struct core *c)
{
	struct mg_sock *s;

	open_core(c);
	write_and_send(c, 3 * MSS, MSS);
	out_on(c, 1400, 0, IN(NET_RX), 1000 + MSS, MSS, 1);
	out_on(c, 1500, 0, IN(NET_RX), 1000 + 2 * MSS, MSS, 1);
	s = core_keep_sock(c, SOCK);
	assert_non_null(s);
	assert_int_equal(s->tx.why->len, 3);
	assert_true(s->tx.why->cap);
	return s;
}

static uint32_t packed_size(struct core *c, struct mg_sock *s)
{
	struct closed_sock *k = closed_packed(c, s);
	uint32_t size;

	assert_non_null(k);
	size = k->size;
	free(k);
	return size;
}

static void memory_freed_by_the_close_is_not(void **unused)
{
	static struct core c;
	struct mg_sock *s = three_in_flight(&c);
	struct why *w = s->tx.why;
	uint32_t size;

	(void)unused;
	ack(&c, 2000, 1000 + 3 * MSS, 100000, 10);
	ev_closed(&c, 3000, SOCK);
	assert_int_equal(w->cap, 0);
	size = packed_size(&c, s);
	memset(w->own, 0, sizeof(w->own));
	assert_int_equal(packed_size(&c, s), size);
	feed_end(&c);
}

static void segments_that_were_acknowledged_are_not(void **unused)
{
	static struct core c;
	struct mg_sock *s = three_in_flight(&c);
	uint32_t in_flight = packed_size(&c, s), size;

	(void)unused;
	ack(&c, 2000, 1000 + 3 * MSS, 100000, 10);
	assert_true(s->tx.why->cap);
	size = packed_size(&c, s);
	assert_true(size < in_flight);
	memset(s->tx.why->flight, 0x5a, s->tx.why->cap * sizeof(*s->tx.why->flight));
	assert_int_equal(packed_size(&c, s), size);
	feed_end(&c);
}

static void places_never_used_are_not(void **unused)
{
	static struct core c;
	const struct why *w = three_in_flight(&c)->tx.why;

	(void)unused;
	for (uint32_t i = w->len; i < w->cap; i++)
		assert_int_equal(w->flight[i].end | w->flight[i].segs, 0);
	feed_end(&c);
}

static void a_call_that_ended_is_not(void **unused)
{
	static struct core c;
	struct mg_sock *s = three_in_flight(&c);
	uint32_t size;

	(void)unused;
	ack(&c, 2000, 1000 + 3 * MSS, 100000, 10);
	ev_closed(&c, 3000, SOCK);
	assert_int_equal(s->tx.call_ends.cap + s->tx.call_ends.len, 0);
	s->tx.call_ends.own = 0;
	size = packed_size(&c, s);
	s->tx.call_ends.own = 0x5a5a5a5a5a5a5a5a;
	assert_int_equal(packed_size(&c, s), size);
	feed_end(&c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(memory_freed_by_the_close_is_not),
		cmocka_unit_test(segments_that_were_acknowledged_are_not),
		cmocka_unit_test(places_never_used_are_not),
		cmocka_unit_test(a_call_that_ended_is_not),
	};

	mallopt(M_PERTURB, 0x5a); /* memory is not zero by chance */
	return cmocka_run_group_tests(tests, NULL, NULL);
}
