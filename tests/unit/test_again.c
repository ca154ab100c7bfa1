/* SPDX-License-Identifier: MIT */
/* Requests that a client sends again, as no reply came in time. */
#include "exchange_scene.h"

#define POLL  7 /* system calls of x86-64 */
#define FUTEX 202

static void begin_datagrams(struct core *c, struct got *g)
{
	memset(g, 0, sizeof(*g));
	dg_begin(c);
	facts_listen(&c->facts, FACT_exchange, keep, g);
	ev_waking(c, 60, SEND);
	ev_waking(c, 60, OTHER);
}

/* SEND waits in a system call until a timer, or a thread, wakes it. */
static void waits(struct core *c, uint64_t from, uint64_t to, int call, uint32_t waker)
{
	struct mg_event e = feed_event(MG_EVENT_sched_switch, from, SEND);

	e.cpu = 0;
	e.sched_switch = (struct mg_sched_switch){
		.prev_tid = SEND, .prev_state = 1, .entry = MG_ENTRY_X86_64, .nr = call};
	feed(c, &e);
	e = feed_event(MG_EVENT_sched_waking, to, waker);
	e.sched_waking.wakee_tid = e.sched_waking.wakee_pid = SEND;
	feed(c, &e);
	ev_switch(c, to + 10, 0, 0, 0, SEND);
}

/* Both ends of a message of a client: it is read 200 after it was sent. */
static void asks(struct core *c, uint64_t t, uint16_t id, uint32_t len)
{
	dg_sends(c, t, 100, id, len);
	dg_arrives(c, t + 100, 100, id, len);
	dg_reads(c, t + 200, len, UINT32_MAX);
}

static const struct fact_exchange *at(const struct got *g, enum fact_role role, uint64_t ordinal)
{
	for (int i = 0; i < g->n; i++)
		if (g->fact[i].role == role && g->fact[i].ordinal == ordinal)
			return &g->fact[i];
	fail_msg("no such exchange");
	return NULL;
}

static void a_request_is_sent_again_after_a_wait_that_a_timer_ended(void **unused)
{
	const struct fact_exchange *f;
	struct core c;
	struct got g;

	(void)unused;
	begin_datagrams(&c, &g);
	asks(&c, 1000, 1, 50);
	waits(&c, 1300, 5000, POLL, 0);
	asks(&c, 5100, 2, 50);
	waits(&c, 5400, 9000, POLL, 0);
	asks(&c, 9100, 3, 50);
	feed_end(&c);

	f = at(&g, ROLE_CLIENT, 0);
	assert_int_equal(f->request_calls, 3);
	assert_int_equal(f->again, 2);
	assert_int_equal(f->no_reply, (5101 - 1010) + (9101 - 5110));
	for (uint64_t i = 0; i < 3; i++) {
		f = at(&g, ROLE_SERVER, i);
		assert_int_equal(f->answer, UNANSWERED);
		assert_int_equal(f->request_calls, 1);
		assert_int_equal(f->again, 0);
		assert_true(f->no_reply == FACT_NONE);
	}
	/* until the client sent again */
	assert_int_equal(at(&g, ROLE_SERVER, 0)->waited, 5101 - 1204);
	assert_int_equal(at(&g, ROLE_SERVER, 1)->waited, 9101 - 5304);
	assert_true(at(&g, ROLE_SERVER, 2)->waited == FACT_NONE);
}

static uint64_t sent_again(int call, uint32_t waker, uint32_t len)
{
	struct core c;
	struct got g;

	begin_datagrams(&c, &g);
	asks(&c, 1000, 1, 50);
	waits(&c, 1300, 5000, call, waker);
	asks(&c, 5100, 2, len);
	feed_end(&c);
	assert_int_equal(at(&g, ROLE_CLIENT, 0)->request_calls, 2);
	return at(&g, ROLE_CLIENT, 0)->again;
}

static void other_calls_of_a_request_are_parts_of_it(void **unused)
{
	(void)unused;
	assert_int_equal(sent_again(POLL, 0, 50), 1);
	assert_int_equal(sent_again(POLL, 0, 60), 0);     /* something else is sent */
	assert_int_equal(sent_again(POLL, OTHER, 50), 0); /* what it waited for came */
	assert_int_equal(sent_again(FUTEX, 0, 50), 0);    /* it did not wait for bytes */
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_request_is_sent_again_after_a_wait_that_a_timer_ended),
		cmocka_unit_test(other_calls_of_a_request_are_parts_of_it),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
