/* SPDX-License-Identifier: MIT */
/* The facts table, and that each fact is emitted once with all that is known of it. */
#include "feed.h"

#define KEPT 16

/* Facts that a listener got, in order. */
struct got {
	int n;
	union {
		struct fact_call call;
		struct fact_range range;
		struct fact_packet packet;
		struct fact_wait wait;
		struct fact_mark mark;
		struct fact_loss loss;
	} fact[KEPT];
	size_t size;
	char name[KEPT][25]; /* of marks: what a fact points to is gone afterwards */
};

static void keep(void *arg, const void *fact)
{
	struct got *g = arg;

	assert_true(g->n < KEPT);
	memcpy(&g->fact[g->n++], fact, g->size);
}

static void keep_mark(void *arg, const void *fact)
{
	struct got *g = arg;
	const struct fact_mark *m = fact;

	snprintf(g->name[g->n], sizeof(g->name[0]), "%s", m->name);
	keep(arg, fact);
}

static void names_and_columns_are_unique(void **unused)
{
	(void)unused;
	for (int i = 0; i < FACTS; i++) {
		const struct fact_desc *f = &fact_table[i];

		assert_ptr_equal(fact_by_name(f->name), f);
		assert_true(f->columns > 0 && f->doc[0]);
		for (int a = 0; a < f->columns; a++) {
			assert_true(f->column[a].doc[0]);
			for (int b = 0; b < a; b++)
				assert_string_not_equal(f->column[a].name, f->column[b].name);
		}
	}
	assert_null(fact_by_name("atoms"));
}

static void listeners_beyond_the_limit_are_refused(void **unused)
{
	struct facts f = {0};
	struct got g = {.size = sizeof(struct fact_loss)};

	(void)unused;
	for (int i = 0; i < FACT_LISTENERS; i++)
		assert_true(facts_listen(&f, FACT_loss, keep, &g));
	assert_false(facts_listen(&f, FACT_loss, keep, &g));
	emit_loss(&f, &(struct fact_loss){.events = 3});
	assert_int_equal(g.n, FACT_LISTENERS);
	assert_false(facts_wanted(&f, FACT_call));
}

static void a_send_is_a_call_a_range_and_a_packet_at_each_layer(void **unused)
{
	struct got calls = {.size = sizeof(struct fact_call)},
		   ranges = {.size = sizeof(struct fact_range)},
		   packets = {.size = sizeof(struct fact_packet)};
	const struct fact_range *r = &ranges.fact[0].range;
	const struct fact_call *k = &calls.fact[0].call;
	struct core c;

	(void)unused;
	feed_begin(&c, ALL_HOOKS);
	facts_listen(&c.facts, FACT_call, keep, &calls);
	facts_listen(&c.facts, FACT_range, keep, &ranges);
	facts_listen(&c.facts, FACT_packet, keep, &packets);
	ev_opened(&c, 50, 7, 1000, 2000);
	feed_send(&c, 10, 7, 1001, 100, 1000, 10);
	feed_end(&c);

	assert_int_equal(calls.n, 1);
	assert_int_equal(k->begin, 1000);
	assert_int_equal(k->end, 1090);
	assert_int_equal(k->kernel_begin, 1010);
	assert_int_equal(k->kernel_end, 1080);
	assert_int_equal(k->function, MG_FN_send);
	assert_int_equal(k->seen_by, SEEN_BOTH);
	assert_int_equal(k->bytes, 100);
	assert_int_equal(k->offset, 0);
	assert_int_equal(k->flow.sock, 7);
	assert_false(k->flow.rx);
	/* nothing tells the states of the socket's lock */
	assert_true(k->state[STATE_LOCK] == FACT_NONE);

	assert_int_equal(ranges.n, 1);
	assert_int_equal(r->outcome, OUTCOME_FOLLOWED);
	assert_int_equal(r->length, 100);
	assert_int_equal(r->begin, 1000);
	assert_int_equal(r->total, 70);
	assert_int_equal(r->stage[TX_STAGE_CALL], 20);
	assert_int_equal(r->stage[TX_STAGE_SNDBUF], 10);
	assert_true(r->stage[TX_STAGES + RX_STAGE_COPY] == FACT_NONE);
	assert_int_equal(r->held[WHY_IMMEDIATE] + r->held[WHY_NOT_KNOWN], 10);

	assert_int_equal(packets.n, TX_LAYERS);
	for (int i = 0; i < packets.n; i++) {
		assert_int_equal(packets.fact[i].packet.payload, 100);
		assert_int_equal(packets.fact[i].packet.fresh, 100);
		assert_int_equal(packets.fact[i].packet.offset, 0);
	}
}

static void a_range_without_every_time_has_no_stages(void **unused)
{
	struct got ranges = {.size = sizeof(struct fact_range)};
	struct core c;

	(void)unused;
	feed_begin(&c, ALL_HOOKS);
	facts_listen(&c.facts, FACT_range, keep, &ranges);
	ev_opened(&c, 50, 7, 1000, 2000);
	ev_enter(&c, 1000, 10, 7, MG_SYS_sendto, 1001);
	ev_send(&c, 1010, 10, 7, 1001, 100, 1001);
	ev_packet(&c, 1020, 10, MG_EVENT_ip_out, 7, 1001, 100); /* the device is not seen */
	ev_exit(&c, 1030, 10, 7, MG_SYS_sendto, 1101, 100);
	ev_ack(&c, 2000, 7, 1101);
	ev_closed(&c, 6000, 7);
	feed_end(&c);
	assert_int_equal(ranges.n, 1);
	assert_int_equal(ranges.fact[0].range.outcome, OUTCOME_INCOMPLETE);
	assert_int_equal(ranges.fact[0].range.length, 100);
	assert_true(ranges.fact[0].range.total == FACT_NONE &&
		    ranges.fact[0].range.stage[TX_STAGE_CALL] == FACT_NONE);
}

static void a_wait_says_who_woke_it_and_when(void **unused)
{
	struct got waits = {.size = sizeof(struct fact_wait)};
	const struct fact_wait *w = &waits.fact[0].wait;
	struct core c;

	(void)unused;
	feed_begin(&c, ALL_HOOKS);
	facts_listen(&c.facts, FACT_wait, keep, &waits);
	ev_enter(&c, 100, 10, 7, MG_SYS_recvfrom, 2001);
	ev_switch(&c, 200, 0, 10, SLEEPING, 0);
	ev_waking(&c, 500, 10);
	ev_switch(&c, 600, 0, 0, RUNNABLE, 10);
	ev_preempt(&c, 700, 0, 10, 99);
	ev_switch(&c, 900, 0, 99, SLEEPING, 10);
	feed_end(&c);
	assert_int_equal(waits.n, 2);
	assert_int_equal(w->why, WAIT_BLOCKED);
	assert_int_equal(w->begin, 200);
	assert_int_equal(w->woken, 500);
	assert_int_equal(w->end, 600);
	assert_true(w->in_call && w->complete);
	assert_int_equal(w[0].tid, 10);
	w = &waits.fact[1].wait;
	assert_int_equal(w->why, WAIT_PREEMPTED);
	assert_int_equal(w->woken, 0);
	assert_int_equal(w->end - w->begin, 200);
}

/* Feeds a block of thread 10 in the call `nr`, of 100 cycles from `t` on. */
static void blocks(struct core *c, uint64_t t, uint8_t entry, int32_t nr, uint64_t arg)
{
	struct mg_event e = feed_event(MG_EVENT_sched_switch, t, 10);

	e.cpu = 0;
	e.sched_switch = (struct mg_sched_switch){.prev_tid = 10,
		.prev_state = entry == MG_ENTRY_UNKNOWN ? 4 : SLEEPING,
		.entry = entry == MG_ENTRY_UNKNOWN ? MG_ENTRY_X86_64 : entry,
		.nr = nr,
		.arg = arg};
	feed(c, &e);
	ev_waking(c, t + 100, 10);
	ev_switch(c, t + 150, 0, 0, RUNNABLE, 10);
}

static void a_block_says_in_which_call_it_was(void **unused)
{
	struct got waits = {.size = sizeof(struct fact_wait)};
	const struct fact_wait *w[8];
	struct core c;

	(void)unused;
	for (int i = 0; i < 8; i++)
		w[i] = &waits.fact[i].wait;
	feed_begin(&c, ALL_HOOKS);
	facts_listen(&c.facts, FACT_wait, keep, &waits);
	ev_waking(&c, 50, 10);
	blocks(&c, 1000, MG_ENTRY_X86_64, 202, 0x7f0000001000);
	blocks(&c, 2000, MG_ENTRY_I386, 3, 7); /* read() there */
	blocks(&c, 3000, MG_ENTRY_AARCH64, 82, 9);
	blocks(&c, 4000, MG_ENTRY_EXCEPTION, 0, 0);
	blocks(&c, 5000, MG_ENTRY_X86_64, 1999, 0);
	blocks(&c, 6000, MG_ENTRY_X86_64, 1000000, 0);
	blocks(&c, 7000, MG_ENTRY_UNKNOWN, 202, 0); /* stopped in it */
	blocks(&c, 8000, 200, 1, 0);
	assert_int_equal(waits.n, 8);
	assert_string_equal(w[0]->call, "futex");
	assert_true(w[0]->descriptor == FACT_NONE && w[0]->blocked_in == BLOCKED_IN_CALL);
	assert_string_equal(w[1]->call, "read");
	assert_int_equal(w[1]->descriptor, 7);
	assert_string_equal(w[2]->call, "fsync");
	assert_int_equal(w[2]->descriptor, 9);
	assert_int_equal(w[3]->blocked_in, BLOCKED_IN_FAULT);
	assert_null(w[3]->call);
	assert_string_equal(w[4]->call, "system call 1999");
	assert_string_equal(w[5]->call, "system call");
	assert_int_equal(w[6]->blocked_in, BLOCKED_STOPPED);
	assert_int_equal(w[7]->blocked_in, FACT_NO_WORD);
	assert_true(w[0]->woken - w[0]->begin == 100);
	feed_end(&c);
}

/* A thread that makes no recorded call has only its waits; its process is known from others. */
static void a_wait_names_the_program_of_a_thread_without_calls(void **unused)
{
	struct got waits = {.size = sizeof(struct fact_wait)};
	struct mg_event e;
	struct core c;

	(void)unused;
	feed_begin(&c, ALL_HOOKS);
	facts_listen(&c.facts, FACT_wait, keep, &waits);
	ev_fork(&c, 50, 1, 10, "server");
	e = feed_event(MG_EVENT_sched_waking, 100, 0);
	e.sched_waking.wakee_tid = 11;
	e.sched_waking.wakee_pid = 10;
	feed(&c, &e);
	ev_switch(&c, 150, 0, 0, RUNNABLE, 11);
	ev_switch(&c, 200, 0, 11, SLEEPING, 0);
	e.cycles = 300;
	feed(&c, &e);
	ev_switch(&c, 400, 0, 0, RUNNABLE, 11);
	assert_int_equal(waits.n, 2);
	assert_int_equal(waits.fact[1].wait.tid, 11);
	assert_non_null(waits.fact[1].wait.program);
	assert_string_equal(waits.fact[1].wait.program, "server");
	feed_end(&c);
}

static void a_block_on_a_socket_names_it(void **unused)
{
	struct got waits = {.size = sizeof(struct fact_wait)};
	const struct fact_wait *w = &waits.fact[0].wait;
	struct core c;

	(void)unused;
	feed_begin(&c, ALL_HOOKS);
	facts_listen(&c.facts, FACT_wait, keep, &waits);
	ev_waking(&c, 50, 10);
	ev_enter(&c, 900, 10, 7, MG_SYS_recvfrom, 2001);
	blocks(&c, 1000, MG_ENTRY_X86_64, 45, 5);
	feed_end(&c);
	assert_int_equal(waits.n, 1);
	assert_int_equal(w->socket, 7);
	assert_int_equal(w->descriptor, 5);
}

static void a_wait_across_a_loss_is_not_complete(void **unused)
{
	struct got waits = {.size = sizeof(struct fact_wait)};
	struct core c;

	(void)unused;
	feed_begin(&c, ALL_HOOKS);
	facts_listen(&c.facts, FACT_wait, keep, &waits);
	ev_enter(&c, 100, 10, 7, MG_SYS_recvfrom, 2001);
	ev_switch(&c, 200, 0, 10, SLEEPING, 0);
	ev_lost(&c, 450, 1, 300, 400);
	ev_waking(&c, 500, 10);
	ev_switch(&c, 600, 0, 0, RUNNABLE, 10);
	feed_end(&c);
	assert_int_equal(waits.n, 1);
	assert_false(waits.fact[0].wait.complete);
}

static void a_thread_does_not_wait_since_the_death_of_one_of_its_number(void **unused)
{
	struct got waits = {.size = sizeof(struct fact_wait)};
	struct mg_event e = feed_event(MG_EVENT_task_exit, 190, 10);
	struct core c;

	(void)unused;
	feed_begin(&c, ALL_HOOKS);
	facts_listen(&c.facts, FACT_wait, keep, &waits);
	ev_enter(&c, 100, 10, 7, MG_SYS_recvfrom, 2001);
	ev_exit(&c, 110, 10, 7, MG_SYS_recvfrom, 2001, 0);
	feed(&c, &e);
	ev_switch(&c, 210, 0, 10, SLEEPING, 0);
	ev_fork(&c, 5000000, 11, 10, "again");
	ev_switch(&c, 5000100, 0, 0, RUNNABLE, 10);
	feed_end(&c);
	for (int i = 0; i < waits.n; i++)
		assert_int_equal(waits.fact[i].wait.begin, 0);
}

static void a_stage_that_no_hook_ends_is_not_known(void **unused)
{
	struct got ranges = {.size = sizeof(struct fact_range)};
	const struct fact_range *r = &ranges.fact[0].range;
	struct core c;

	(void)unused;
	feed_begin(&c, "sys_enter,sys_exit,tcp_send,ip_out ipv4,ip_post ipv4");
	facts_listen(&c.facts, FACT_range, keep, &ranges);
	ev_opened(&c, 50, 7, 1000, 2000);
	feed_send(&c, 10, 7, 1001, 100, 1000, 10);
	feed_end(&c);
	assert_int_equal(ranges.n, 1);
	assert_int_equal(r->outcome, OUTCOME_FOLLOWED);
	assert_int_equal(r->total, 30);
	assert_int_equal(r->stage[TX_STAGE_SNDBUF], 10);
	assert_true(r->stage[TX_STAGE_IP] == FACT_NONE);
	assert_true(r->stage[TX_STAGE_DRIVER] == FACT_NONE);
}

static void ev_mark(struct core *c, uint64_t t, const char *name)
{
	struct mg_event e = feed_event(MG_EVENT_mark, t, 10);

	e.mark = (struct mg_mark){.at = t, .tid = 10, .pid = 10, .id = 3, .value = -4};
	memcpy(e.mark.name, name, strlen(name));
	feed(c, &e);
}

static void a_mark_is_emitted_when_its_thread_sends_or_at_the_end(void **unused)
{
	struct got marks = {.size = sizeof(struct fact_mark)};
	const struct fact_mark *m = &marks.fact[0].mark;
	struct core c;

	(void)unused;
	feed_begin(&c, ALL_HOOKS);
	facts_listen(&c.facts, FACT_mark, keep_mark, &marks);
	ev_opened(&c, 50, 7, 1000, 2000);
	ev_mark(&c, 500, "request");
	assert_int_equal(marks.n, 0);
	feed_send(&c, 10, 7, 1001, 100, 1000, 10);
	assert_int_equal(marks.n, 1);
	assert_string_equal(marks.name[0], "request");
	assert_int_equal(m->time, 500);
	assert_int_equal(m->value, -4);
	assert_int_equal(m->sent.sock, 7);
	assert_int_equal(m->sent_length, 100);
	assert_true(m->received_offset == FACT_NONE);
	ev_mark(&c, 2000, "last");
	feed_end(&c);
	assert_int_equal(marks.n, 2);
	assert_string_equal(marks.name[1], "last");
	assert_int_equal(marks.fact[1].mark.sent.sock, 0);
}

static void a_loss_has_its_time_and_layers(void **unused)
{
	struct got losses = {.size = sizeof(struct fact_loss)};
	struct mg_event e = feed_event(MG_EVENT_lost, 900, 0);
	struct core c;

	(void)unused;
	feed_begin(&c, ALL_HOOKS);
	facts_listen(&c.facts, FACT_loss, keep, &losses);
	e.lost = (struct mg_lost){
		.count = 12, .from_ns = 300, .to_ns = 800, .cpu = 1, .reason = MG_LOST_RING_FULL};
	feed(&c, &e);
	feed_end(&c);
	assert_int_equal(losses.n, 1);
	assert_int_equal(losses.fact[0].loss.begin, 300);
	assert_int_equal(losses.fact[0].loss.end, 800);
	assert_int_equal(losses.fact[0].loss.events, 12);
	assert_int_equal(losses.fact[0].loss.reason, MG_LOST_RING_FULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_and_columns_are_unique),
		cmocka_unit_test(listeners_beyond_the_limit_are_refused),
		cmocka_unit_test(a_send_is_a_call_a_range_and_a_packet_at_each_layer),
		cmocka_unit_test(a_range_without_every_time_has_no_stages),
		cmocka_unit_test(a_wait_says_who_woke_it_and_when),
		cmocka_unit_test(a_block_says_in_which_call_it_was),
		cmocka_unit_test(a_wait_names_the_program_of_a_thread_without_calls),
		cmocka_unit_test(a_block_on_a_socket_names_it),
		cmocka_unit_test(a_wait_across_a_loss_is_not_complete),
		cmocka_unit_test(a_thread_does_not_wait_since_the_death_of_one_of_its_number),
		cmocka_unit_test(a_stage_that_no_hook_ends_is_not_known),
		cmocka_unit_test(a_mark_is_emitted_when_its_thread_sends_or_at_the_end),
		cmocka_unit_test(a_loss_has_its_time_and_layers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
