/* SPDX-License-Identifier: MIT */
/* tx.c again: which bytes a call wrote (method, "Call->bytes"); byte 0 is number 1000. */
#include "feed.h"

#define TID  10
#define SOCK 1

static void open_core(struct core *c, const char *hooks)
{
	feed_begin(c, hooks);
	ev_opened(c, 10, SOCK, 999, 4999);
}

static void assert_bytes(const struct core *c, uint64_t complete, uint64_t incomplete)
{
	assert_int_equal(tx_of(c, SOCK)->complete, complete);
	assert_int_equal(tx_of(c, SOCK)->incomplete, incomplete);
}

static void partial_write_counts_only_accepted_bytes(void **unused)
{
	struct core c;

	(void)unused;
	open_core(&c, "tcp_send");
	ev_enter(&c, 1100, TID, SOCK, MG_SYS_sendto, 1000);
	ev_send(&c, 1200, TID, SOCK, 1000, 5000, 1000);
	ev_exit(&c, 1300, TID, SOCK, MG_SYS_sendto, 3000, 2000);
	ev_app(&c, TID, MG_FN_send, 1000, 1400, 2000);
	assert_bytes(&c, 2000, 0);
	assert_int_equal(tx_of(&c, SOCK)->total, 2000);
	feed_end(&c);
}

static void eagain_moves_no_bytes(void **unused)
{
	struct core c;

	(void)unused;
	open_core(&c, "tcp_send");
	ev_enter(&c, 1100, TID, SOCK, MG_SYS_sendto, 1000);
	ev_send(&c, 1200, TID, SOCK, 1000, 5000, 1000);
	ev_exit(&c, 1300, TID, SOCK, MG_SYS_sendto, 1000, -11);
	ev_app(&c, TID, MG_FN_send, 1000, 1400, -1);
	assert_bytes(&c, 0, 0);
	assert_int_equal(tx_of(&c, SOCK)->use.calls, 0);
	assert_int_equal(measures_in(tx_of(&c, SOCK))->units[TX_CALL].n, 0);
	assert_int_equal(calls_of(&c, MG_FN_send)->failed, 1);
	feed_send(&c, TID, SOCK, 1000, 5000, 9000, 100); /* the retry */
	assert_int_equal(tx_of(&c, SOCK)->use.calls, 1);
	assert_bytes(&c, 5000, 0);
	feed_end(&c);
}

static void attempt(struct core *c, uint64_t at, int64_t ret)
{
	ev_enter(c, at + 100, TID, SOCK, MG_SYS_sendto, 1000);
	if (ret > 0)
		ev_send(c, at + 200, TID, SOCK, 1000, 5000, 1000);
	ev_exit(c, at + 300, TID, SOCK, MG_SYS_sendto, ret > 0 ? 1000 + (uint32_t)ret : 1000, ret);
	ev_app(c, TID, MG_FN_send, at, at + 400, ret > 0 ? ret : -1);
}

/* The gap runs from the return of the first refused call until bytes are copied again. */
static void the_gap_until_the_retry_is_told(void **unused)
{
	const struct refusals *r;
	const struct flow *f;
	struct core c;

	(void)unused;
	open_core(&c, "tcp_send");
	attempt(&c, 1000, -11);
	attempt(&c, 2000, -11);
	attempt(&c, 5000, 3000);
	f = tx_of(&c, SOCK);
	r = &f->refusals;
	assert_int_equal(r->n, 2);
	assert_int_equal(measures_in(f)->retry.n, 1);
	assert_true(measures_in(f)->retry.sum == 5200 - 1400);
	attempt(&c, 7000, -32); /* EPIPE is no refusal of this kind */
	assert_int_equal(r->n, 2);
	attempt(&c, 8000, -11); /* and a call that is never retried has no gap */
	assert_int_equal(r->n, 3);
	assert_int_equal(measures_in(f)->retry.n, 1);
	feed_end(&c);
}

static void splice_starts_over_with_each_batch_of_pages(void **unused)
{
	struct core c;

	(void)unused;
	open_core(&c, "tcp_send");
	ev_enter(&c, 1000, TID, SOCK, MG_SYS_splice, 1000);
	ev_send(&c, 1100, TID, SOCK, 1000, 65536, 1000);
	ev_send(&c, 1200, TID, SOCK, 66536, 65536, 1000);
	ev_exit(&c, 1300, TID, SOCK, MG_SYS_splice, 101000, 100000); /* the second was cut short */
	core_finish(&c);
	assert_bytes(&c, 100000, 0);
	assert_int_equal(stage_sum(tx_of(&c, SOCK), TX_STAGE_CALL), 100 * 65536 + 200 * 34464);
	feed_end(&c);
}

/* Byte ranges of each application call, as passed to listeners. */
struct told {
	uint64_t off[2][4], len[2][4];
	uint32_t pieces[2];
};

static void listen_pieces(void *arg, const struct mg_event *e, const struct annotation *a)
{
	struct told *t = arg;
	uint32_t who = e->tid - TID;

	if (!MG_IS_APP(e->id))
		return;
	t->pieces[who] = a->pieces;
	for (uint32_t i = 0; i < a->pieces; i++) {
		t->off[who][i] = a->piece[i].off;
		t->len[who][i] = a->piece[i].len;
	}
}

/* Waiting for memory drops the socket's lock: then another thread's bytes come in between. */
static void two_threads_writing(struct core *c)
{
	ev_enter(c, 1100, TID, SOCK, MG_SYS_sendto, 1000);
	ev_send(c, 1200, TID, SOCK, 1000, 3000, 1000);
	ev_enter(c, 2100, TID + 1, SOCK, MG_SYS_sendto, 2000);
	ev_send(c, 2200, TID + 1, SOCK, 2000, 500, 1000);
	ev_exit(c, 2300, TID + 1, SOCK, MG_SYS_sendto, 2500, 500);
	ev_app(c, TID + 1, MG_FN_send, 2000, 2400, 500);
	ev_send(c, 3200, TID, SOCK, 2500, 2000, 1000);
	ev_exit(c, 3300, TID, SOCK, MG_SYS_sendto, 4500, 3000);
	ev_app(c, TID, MG_FN_send, 1000, 3400, 3000);
}

static void threads_may_interleave_on_one_socket(void **unused)
{
	struct told t = {0};
	const struct flow *f;
	struct core c;

	(void)unused;
	open_core(&c, "tcp_send");
	core_listen(&c, listen_pieces, &t);
	two_threads_writing(&c);
	assert_int_equal(t.pieces[0], 2);
	assert_int_equal(t.off[0][0], 0);
	assert_int_equal(t.len[0][0], 1000);
	assert_int_equal(t.off[0][1], 1500);
	assert_int_equal(t.len[0][1], 2000);
	assert_int_equal(t.pieces[1], 1);
	assert_int_equal(t.off[1][0], 1000);
	assert_int_equal(t.len[1][0], 500);
	f = tx_of(&c, SOCK);
	assert_bytes(&c, 3500, 0);
	assert_int_equal(stage_sum(f, TX_STAGE_CALL), 200 * 1000 + 200 * 500 + 2200 * 2000);
	assert_int_equal(measures_in(f)->units[TX_CALL].n, 2);
	feed_end(&c);
}

/* sendfile() hands over some pages at a time: the remaining length starts over with each. */
static void a_call_may_consist_of_several_sends(void **unused)
{
	const struct flow *f;
	struct core c;

	(void)unused;
	open_core(&c, "tcp_send");
	ev_enter(&c, 1000, TID, SOCK, MG_SYS_sendfile, 1000);
	ev_send(&c, 1100, TID, SOCK, 1000, 65536, 1000);
	ev_send(&c, 1200, TID, SOCK, 66160, 376, 1000);
	ev_send(&c, 1300, TID, SOCK, 66536, 40000, 1000);
	ev_exit(&c, 1400, TID, SOCK, MG_SYS_sendfile, 106536, 105536);
	core_finish(&c);
	f = tx_of(&c, SOCK);
	assert_bytes(&c, 105536, 0);
	/* from the call's entry, since no wrapper saw it */
	assert_int_equal(stage_sum(f, TX_STAGE_CALL), 100 * 65160 + 200 * 376 + 300 * 40000);
	feed_end(&c);
}

static void its_sends_may_be_of_equal_size(void **unused)
{
	struct core c;

	(void)unused;
	open_core(&c, "tcp_send");
	ev_enter(&c, 1000, TID, SOCK, MG_SYS_sendfile, 1000);
	ev_send(&c, 1100, TID, SOCK, 1000, 4096, 1000);
	ev_send(&c, 1200, TID, SOCK, 5096, 4096, 1000);
	ev_exit(&c, 1300, TID, SOCK, MG_SYS_sendfile, 9192, 8192);
	core_finish(&c);
	assert_bytes(&c, 8192, 0);
	assert_int_equal(stage_sum(tx_of(&c, SOCK), TX_STAGE_CALL), 100 * 4096 + 200 * 4096);
	feed_end(&c);
}

/* Waiting for memory may also end without anything copied. */
static void a_send_may_be_tried_twice(void **unused)
{
	struct core c;

	(void)unused;
	open_core(&c, "tcp_send");
	ev_enter(&c, 1000, TID, SOCK, MG_SYS_sendto, 1000);
	ev_send(&c, 1100, TID, SOCK, 1000, 500, 1000);
	ev_send(&c, 1200, TID, SOCK, 1000, 500, 1000);
	ev_exit(&c, 1300, TID, SOCK, MG_SYS_sendto, 1500, 500);
	core_finish(&c);
	assert_bytes(&c, 500, 0);
	assert_int_equal(stage_sum(tx_of(&c, SOCK), TX_STAGE_CALL), 200 * 500);
	feed_end(&c);
}

/* sendmmsg() returns a number of messages, not bytes. */
static void several_messages_in_one_call_are_all_sent(void **unused)
{
	struct core c;

	(void)unused;
	open_core(&c, "tcp_send");
	ev_enter(&c, 1000, TID, SOCK, MG_SYS_sendmmsg, 1000);
	ev_send(&c, 1100, TID, SOCK, 1000, 300, 1000);
	ev_send(&c, 1200, TID, SOCK, 1300, 200, 1000);
	ev_exit(&c, 1300, TID, SOCK, MG_SYS_sendmmsg, 1500, 2);
	core_finish(&c);
	assert_bytes(&c, 500, 0);
	assert_int_equal(stage_sum(tx_of(&c, SOCK), TX_STAGE_CALL), 100 * 300 + 200 * 200);
	feed_end(&c);
}

/* A call whose tcp_send was not recorded is placed by the stream's position around it. */
static void without_its_own_event_a_send_is_placed_by_position(void **unused)
{
	struct core c;

	(void)unused;
	open_core(&c, "dev_xmit");
	ev_enter(&c, 1100, TID, SOCK, MG_SYS_sendto, 1000);
	ev_exit(&c, 1500, TID, SOCK, MG_SYS_sendto, 1700, 700);
	ev_app(&c, TID, MG_FN_send, 1000, 1600, 700);
	ev_packet(&c, 2000, 0, MG_EVENT_dev_xmit, SOCK, 1000, 700);
	core_finish(&c);
	assert_bytes(&c, 700, 0);
	assert_true(measures_in(tx_of(&c, SOCK))->shift.sum == 1000 * 700);
	feed_end(&c);
}

/* If another thread wrote meanwhile, the position moved by more than the call returned. */
static void a_position_that_does_not_agree_is_not_believed(void **unused)
{
	struct core c;

	(void)unused;
	open_core(&c, "dev_xmit");
	ev_enter(&c, 1100, TID, SOCK, MG_SYS_sendto, 1000);
	ev_exit(&c, 1500, TID, SOCK, MG_SYS_sendto, 1800, 700);
	ev_app(&c, TID, MG_FN_send, 1000, 1600, 700);
	assert_int_equal(tx_of(&c, SOCK)->total, 0);
	feed_end(&c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(partial_write_counts_only_accepted_bytes),
		cmocka_unit_test(eagain_moves_no_bytes),
		cmocka_unit_test(the_gap_until_the_retry_is_told),
		cmocka_unit_test(splice_starts_over_with_each_batch_of_pages),
		cmocka_unit_test(threads_may_interleave_on_one_socket),
		cmocka_unit_test(a_call_may_consist_of_several_sends),
		cmocka_unit_test(its_sends_may_be_of_equal_size),
		cmocka_unit_test(a_send_may_be_tried_twice),
		cmocka_unit_test(several_messages_in_one_call_are_all_sent),
		cmocka_unit_test(without_its_own_event_a_send_is_placed_by_position),
		cmocka_unit_test(a_position_that_does_not_agree_is_not_believed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
