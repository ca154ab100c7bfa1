/* SPDX-License-Identifier: MIT */
/* Calls of which it is known late how they ended, or to which program's call they belong. */
#include "feed.h"

#define TID  10
#define SOCK 1

static void open_core(struct core *c)
{
	feed_begin(c, ALL_HOOKS);
	ev_opened(c, 10, SOCK, 999, 4999);
}

static void an_interrupted_call_counts_once_it_is_known_how_it_ended(void **unused)
{
	const struct call_stats *s;
	struct core c;

	(void)unused;
	open_core(&c);
	ev_enter(&c, 1000, TID, SOCK, MG_SYS_recvfrom, 0);
	ev_exit(&c, 2000, TID, SOCK, MG_SYS_recvfrom, 0, -512); /* ERESTARTSYS */
	ev_enter(&c, 3000, TID, SOCK, MG_SYS_recvfrom, 0);
	ev_exit(&c, 4000, TID, SOCK, MG_SYS_recvfrom, 0, -512);
	ev_exit(&c, 5000, TID, SOCK, MG_SYS_recvfrom, 0, -4); /* EINTR, as the handler returns */
	core_finish(&c);
	s = calls_of(&c, CALL_KERNEL_ONLY | MG_SYS_recvfrom);
	assert_int_equal(s->n, 1);
	assert_int_equal(s->failed, 1);
	feed_end(&c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_interrupted_call_counts_once_it_is_known_how_it_ended),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
