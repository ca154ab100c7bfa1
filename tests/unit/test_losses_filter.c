/* SPDX-License-Identifier: MIT */
/* Losses with a filter: those of flows that it refuses are none of them. */
#include <string.h>

#include "feed.h"
#include "figures/figures.h"
#include "filter/filter.h"
#include "reported.h"

#define TID  10
#define SOCK 1

static struct filter f;

static int teardown(void **unused)
{
	(void)unused;
	filter_free(&f);
	memset(&f, 0, sizeof(f));
	return 0;
}

static void ev_drop(struct core *c, uint64_t t, bool rx)
{
	struct mg_event e = feed_event(MG_EVENT_drop, t, 0);

	e.drop = (struct mg_drop){.sock = SOCK, .len = 300, .segs = 1, .proto = 6, .rx = rx};
	memcpy(e.drop.reason, "QDISC_DROP", 10);
	memcpy(e.drop.location, "__dev_queue_xmit", 16);
	feed(c, &e);
}

/* Sends bytes, loses some and sends them again until 20,400, and receives some at 70,000. */
static void lose(struct core *c)
{
	ev_fork(c, 1, 1, TID, "sender");
	ev_opened(c, 10, SOCK, 999, 4999);
	feed_send(c, TID, SOCK, 1000, 300, 10000, 100);
	ev_drop(c, 20200, false);
	ev_packet(c, 20300, 0, MG_EVENT_ip_out, SOCK, 1000, 300);
	ev_retransmit(c, 20400, SOCK, 1000, 300);
	feed_segment(c, SOCK, 5000, 50, 70000, 1);
	feed_recv(c, TID, SOCK, 5000, 50, 71000, 1);
}

/* Returns the report with the filter. */
static json_t *filtered(void)
{
	struct core c;

	feed_begin(&c, ALL_HOOKS ",drop");
	assert_true(filter_learn(&f, &c));
	lose(&c);
	core_finish(&c);
	assert_true(filter_learned(&f, &c));
	feed_end(&c);
	feed_begin(&c, ALL_HOOKS ",drop");
	figures_filter(&c, &f);
	lose(&c);
	return reported(&c);
}

static void assert_losses(double retransmits, double bytes, double dropped, double hit)
{
	json_t *j = filtered();

	assert_number_at(j, "losses.retransmits", retransmits);
	assert_number_at(j, "losses.retransmitted_bytes", bytes);
	assert_number_at(j, "losses.dropped", dropped);
	assert_number_at(j, "losses.connections", 1);
	assert_number_at(j, "losses.connections_hit", hit);
	json_decref(j);
}

static void a_window_has_its_own(void **unused)
{
	(void)unused;
	f.to_ns = 60000;
	assert_losses(1, 300, 1, 1);
	teardown(NULL);
	f.from_ns = 60000; /* the received flow alone is in it */
	assert_losses(0, 0, 0, 0);
}

static void a_direction_has_its_own(void **unused)
{
	(void)unused;
	f.directions = 1u << false;
	assert_losses(1, 300, 1, 1);
	teardown(NULL);
	f.directions = 1u << true;
	assert_losses(0, 0, 0, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(a_window_has_its_own, teardown),
		cmocka_unit_test_teardown(a_direction_has_its_own, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
