/* SPDX-License-Identifier: MIT */
/* Listeners in a thread of their own: they get every fact, in order, and what they ask for. */
#include "facts/apart.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#define EVENTS      20000
#define FACTS_EACH  3
#define COUNT(a)    (sizeof(a) / sizeof((a)[0]))
#define DUE_AT_ONCE 1000 /* a listener asks at each thousandth fact */

struct seen {
	uint64_t facts; /* that listeners got */
	uint64_t asked; /* number of facts when a listener asked last, 0: it has been answered */
	uint64_t answers;
	bool due;
	uint8_t addr[16]; /* of the last wait */
};

static void on_packet(void *arg, const void *fact)
{
	struct seen *s = arg;
	const struct fact_packet *p = fact;

	assert_int_equal(p->offset, s->facts);
	if (++s->facts % DUE_AT_ONCE == 0) {
		s->asked = s->facts;
		s->due = true;
	}
}

static void on_wait(void *arg, const void *fact)
{
	struct seen *s = arg;
	const struct fact_wait *w = fact;

	memcpy(s->addr, w->remote.addr, sizeof(s->addr));
}

/* Is called after the event of the fact at which was asked, before any of the next event. */
static void between(void *arg)
{
	struct seen *s = arg;

	assert_int_equal(s->facts, (s->asked + FACTS_EACH - 1) / FACTS_EACH * FACTS_EACH);
	s->answers++;
}

static void on_ended(void *state, uint64_t now)
{
	*(uint64_t *)state += now;
}

static struct facts_apart *begun(struct facts *f, struct seen *s)
{
	struct facts_apart *a;

	assert_true(facts_listen(f, FACT_packet, on_packet, s));
	assert_true(facts_listen(f, FACT_wait, on_wait, s));
	a = facts_apart_begin(f, &(struct facts_due){&s->due, between, s}, on_ended);
	if (!a) /* a single CPU */
		skip();
	return a;
}

static void emit_event(const struct facts *f, struct facts_apart *a, uint64_t *n)
{
	for (int i = 0; i < FACTS_EACH; i++)
		emit_packet(f, &(struct fact_packet){.offset = (*n)++});
	facts_apart_event(a);
}

static void facts_come_in_order_and_what_is_due_comes_between_events(void **unused)
{
	struct facts f = {0};
	struct seen s = {0};
	struct facts_apart *a = begun(&f, &s);
	uint64_t n = 0;

	(void)unused;
	for (int i = 0; i < EVENTS; i++)
		emit_event(&f, a, &n);
	facts_apart_await(a);
	facts_apart_event(a);
	assert_int_equal(s.facts, n);
	assert_int_equal(s.answers, n / DUE_AT_ONCE);
	facts_apart_end(a);
	emit_packet(&f, &(struct fact_packet){.offset = n});
	assert_int_equal(s.facts, n + 1); /* directly */
}

static void waiting_for_the_listeners_all_the_time_ends_it_without_a_loss(void **unused)
{
	struct facts f = {0};
	struct seen s = {0};
	struct facts_apart *a = begun(&f, &s);
	uint64_t n = 0;

	(void)unused;
	for (int i = 0; i < EVENTS; i++) {
		emit_event(&f, a, &n);
		facts_apart_await(a);
		assert_int_equal(s.facts, n);
	}
	facts_apart_event(a);
	assert_int_equal(s.answers, n / DUE_AT_ONCE);
	facts_apart_end(a);
}

static void an_address_may_change_after_the_fact(void **unused)
{
	struct facts f = {0};
	struct seen s = {0};
	struct facts_apart *a = begun(&f, &s);
	uint8_t addr[16] = {1, 2, 3};

	(void)unused;
	emit_wait(&f, &(struct fact_wait){.remote = {addr, 80}});
	addr[0] = 9;
	facts_apart_event(a);
	facts_apart_await(a);
	assert_int_equal(s.addr[0], 1);
	facts_apart_end(a);
}

/* Notes the last packet. */
static void note_packet(void *arg, const void *fact)
{
	memcpy(arg, fact, sizeof(struct fact_packet));
}

static void a_packet_arrives_as_it_was_however_large_its_numbers(void **unused)
{
	static const uint64_t numbers[] = {0, 1, (1u << 26) - 2, (1u << 26) - 1, UINT32_MAX,
		1ull << 32, FACT_NONE - 1, FACT_NONE};
	static void *state[2];
	struct facts f = {0};
	struct seen s = {0};
	struct fact_packet got;
	struct facts_apart *a;

	(void)unused;
	assert_true(facts_listen(&f, FACT_packet, note_packet, &got));
	a = facts_apart_begin(&f, &(struct facts_due){&s.due, between, &s}, on_ended);
	if (!a) /* a single CPU */
		skip();
	for (uint32_t i = 0; i < 5 * COUNT(numbers); i++) {
		uint64_t n = numbers[i / 5], at[5] = {7, 8, 9, 10, 11};
		struct fact_packet p;

		at[i % 5] = n;
		p = (struct fact_packet){.time = 1ull << 60,
			.flow = {.sock = FACT_NONE - i,
				.rx = i % 2,
				.state = i % 3 ? &state[1] : NULL},
			.layer = FACT_LAYER(i % 2, (i % 2 ? RX_LAYERS : TX_LAYERS) - 1),
			.offset = at[0],
			.payload = at[1],
			.fresh = at[2],
			.packets = at[3],
			.wire = at[4]};
		emit_packet(&f, &p);
		facts_apart_event(a);
		facts_apart_await(a);
		assert_true(got.time == p.time && got.flow.sock == p.flow.sock);
		assert_true(got.flow.rx == p.flow.rx && got.flow.state == p.flow.state);
		assert_int_equal(got.layer, p.layer);
		assert_true(got.offset == p.offset && got.payload == p.payload);
		assert_true(got.fresh == p.fresh && got.packets == p.packets);
		assert_true(got.wire == p.wire);
	}
	facts_apart_end(a);
}

static void a_connection_ends_behind_the_facts_before(void **unused)
{
	struct facts f = {0};
	struct seen s = {0};
	struct facts_apart *a = begun(&f, &s);
	void *none = NULL, *state = &s.facts;
	uint64_t n = 0;

	(void)unused;
	for (int i = 0; i < 50; i++) {
		emit_event(&f, a, &n);
		facts_apart_ended(a, &state, 7);
		facts_apart_ended(a, &none, 7);
		n += 7; /* the next packet has this number, or on_packet() fails */
		facts_apart_event(a);
	}
	facts_apart_await(a);
	assert_int_equal(s.facts, n);
	facts_apart_end(a);
}

struct slow {
	uint64_t calls;
	pthread_t thread; /* that got the last one */
	bool is_slow;
};

static void on_call_slowly(void *arg, const void *fact)
{
	struct slow *s = arg;

	assert_int_equal(((const struct fact_call *)fact)->bytes, s->calls);
	s->calls++;
	s->thread = pthread_self();
	for (volatile int i = 0; s->is_slow && i < 2000; i++)
		;
}

static void on_range(void *arg, const void *fact)
{
	(void)fact;
	++*(uint64_t *)arg;
}

#define CALLS_AT_ONCE 20000 /* more than the buffers hold */
#define CALLS_MOST    10000000

/* Makes calls until they are summed up by this thread, or by the other one. */
static void call_until(bool by_this, struct facts *f, struct facts_apart *a, uint64_t *calls,
	const struct slow *slow)
{
	do {
		for (int i = 0; i < CALLS_AT_ONCE; i++) {
			struct call_told told = {.fact = {.bytes = (*calls)++}};

			emit_call(f, &told.fact);
			emit_range(f, &(struct fact_range){.flow = {0}});
			facts_apart_event(a);
			for (volatile int k = 0; !slow->is_slow && k < 2000; k++)
				;
		}
		facts_apart_await(a);
		assert_int_equal(slow->calls, *calls);
	} while (!pthread_equal(slow->thread, pthread_self()) == by_this && *calls < CALLS_MOST);
	assert_true(!pthread_equal(slow->thread, pthread_self()) != by_this);
}

static void calls_go_in_order_to_the_thread_that_has_less_to_do(void **unused)
{
	struct facts f = {0};
	struct seen s = {0};
	struct slow slow = {.is_slow = true};
	uint64_t calls = 0, ranges = 0;
	struct facts_apart *a;

	(void)unused;
	assert_true(facts_listen(&f, FACT_call, on_call_slowly, &slow));
	assert_true(facts_listen(&f, FACT_range, on_range, &ranges));
	a = facts_apart_begin(&f, &(struct facts_due){&s.due, between, &s}, on_ended);
	if (!a) /* a single CPU */
		skip();
	call_until(false, &f, a, &calls, &slow);
	call_until(true, &f, a, &calls, &slow);
	slow.is_slow = false;
	call_until(false, &f, a, &calls, &slow);
	slow.is_slow = true;
	call_until(true, &f, a, &calls, &slow);
	facts_apart_end(a);
	assert_int_equal(ranges, calls);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(facts_come_in_order_and_what_is_due_comes_between_events),
		cmocka_unit_test(waiting_for_the_listeners_all_the_time_ends_it_without_a_loss),
		cmocka_unit_test(an_address_may_change_after_the_fact),
		cmocka_unit_test(calls_go_in_order_to_the_thread_that_has_less_to_do),
		cmocka_unit_test(a_connection_ends_behind_the_facts_before),
		cmocka_unit_test(a_packet_arrives_as_it_was_however_large_its_numbers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
