/* SPDX-License-Identifier: MIT */
/* Whether the hypervisor's steal is enough to explain the tail of a stage. */
#include <jansson.h>

#include "connection.h"
#include "report.h"
#include "reported/steal.h"

#define TID  10
#define SOCK 1
#define MS   1000000
/* of one CPU in ten seconds */
#define DURATION_NS (10000 * (json_int_t)MS)

/* Returns the answer for a stage with 1000 ranges of `usual` and 100 of `high`, in nanoseconds. */
static bool explained(int stage, json_int_t steal_ns, uint64_t usual, uint64_t high)
{
	json_t *session = json_pack(
		"{sI sI si}", "duration_ns", DURATION_NS, "steal_ns", steal_ns, "cpus", 1);
	struct core c;
	struct report r;
	struct flow *f;
	double cycles;
	bool is;

	if (steal_ns < 0)
		json_object_del(session, "steal_ns");
	feed_begin(&c, ALL_HOOKS);
	ev_opened(&c, 10, SOCK, 999, 4999);
	feed_send(&c, TID, SOCK, 1000, 1000, 10000, 10);
	core_finish(&c);
	assert_int_equal(report_init(&r, &c, session, "a trace"), 0);
	f = (struct flow *)tx_of(&c, SOCK);
	cycles = 1 / report_ns(&r, 1);
	for (int i = 0; i < 1100; i++)
		dist_add(&measured(f)->stage[stage],
			(uint64_t)((double)(i < 1000 ? usual : high) * cycles), 1);
	is = stage_tail_may_be_steal(&r, fact_of(&c, f), stage);
	report_free(&r);
	feed_end(&c);
	json_decref(session);
	return is;
}

static void tail_that_steal_covers_is_explained(void **unused)
{
	(void)unused;
	assert_true(explained(TX_STAGE_CALL, 300 * MS, 10000, 5 * MS));
}

static void tail_longer_than_all_steal_is_not(void **unused)
{
	(void)unused;
	assert_false(explained(TX_STAGE_CALL, 300 * MS, 10000, 50 * MS));
}

static void little_or_unknown_steal_explains_nothing(void **unused)
{
	(void)unused;
	assert_false(explained(TX_STAGE_CALL, 60 * MS, 10000, 5 * MS));
	assert_false(explained(TX_STAGE_CALL, -1, 10000, 5 * MS));
}

static void stage_without_a_tail_needs_no_explanation(void **unused)
{
	(void)unused;
	assert_false(explained(TX_STAGE_CALL, 300 * MS, 2 * MS, 5 * MS));
	assert_false(explained(TX_STAGE_CALL, 300 * MS, 1000, 50000));
}

/* Bytes in the send buffer wait for ACKs and windows. */
static void waits_for_something_else_are_not_explained(void **unused)
{
	(void)unused;
	assert_false(explained(TX_STAGE_SNDBUF, 300 * MS, 10000, 5 * MS));
	assert_false(explained(TX_STAGE_QDISC, 300 * MS, 10000, 5 * MS));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(tail_that_steal_covers_is_explained),
		cmocka_unit_test(tail_longer_than_all_steal_is_not),
		cmocka_unit_test(little_or_unknown_steal_explains_nothing),
		cmocka_unit_test(stage_without_a_tail_needs_no_explanation),
		cmocka_unit_test(waits_for_something_else_are_not_explained),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
