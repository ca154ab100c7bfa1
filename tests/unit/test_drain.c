/* SPDX-License-Identifier: MIT */
/* The drain on rings that the test fills as the BPF programs do. */
#include <errno.h>

#include "clock.h"
#include "trace_file.h"
#include "tracer.h"

#define CPUS  2
#define SLOTS 8

static char *dir;
static struct hooks hooks;
static struct ctf_writer *writer;
static struct drain *drain;
static uint64_t misses; /* what hooks_new_misses() tells next */
static uint64_t now;    /* time of the last event; later ones count up from it */

uint64_t hooks_new_misses(struct hooks *h, char producer[32])
{
	uint64_t n = misses;

	(void)h;
	misses = 0;
	if (n)
		memcpy(producer, "on_tcp_send", 12);
	return n;
}

static int setup(void **unused)
{
	(void)unused;
	memset(&hooks, 0, sizeof(hooks));
	hooks.cpus = CPUS;
	hooks.ring_slots = SLOTS;
	hooks.ring_stride = (sizeof(struct mg_ring) + SLOTS * sizeof(struct mg_slot) + 63) & ~63ull;
	hooks.ring_memory = aligned_alloc(64, CPUS * hooks.ring_stride);
	if (!hooks.ring_memory)
		return -1;
	memset(hooks.ring_memory, 0, CPUS * hooks.ring_stride);
	dir = trace_dir_make();
	misses = 0;
	now = mg_monotonic_ns();
	return ctf_open(&writer, dir, CPUS);
}

static int teardown(void **unused)
{
	(void)unused;
	free(hooks.ring_memory);
	trace_dir_remove(dir);
	return 0;
}

static void begin(void)
{
	assert_int_equal(drain_new(&drain, &hooks, writer), 0);
}

/* The stream of a CPU, or the tracer's own, when all is over. */
static void finish(struct trace_file *t, const char *stream)
{
	drain_free(drain);
	assert_int_equal(ctf_close(writer), 0);
	trace_read(t, dir, stream);
}

static struct mg_slot *slot_at(int cpu, uint64_t position)
{
	return &hooks_ring(&hooks, cpu)->slot[position & (SLOTS - 1)];
}

/* Take a slot, as take() does; NULL if the ring is full, and the loss is counted. */
static struct mg_slot *take(int cpu, uint64_t *word)
{
	struct mg_ring *r = hooks_ring(&hooks, cpu);
	struct mg_slot *s;

	if (r->head - r->tail > SLOTS - 1) {
		r->lost++;
		return NULL;
	}
	s = slot_at(cpu, r->head);
	s->ts = now += 10;
	s->tid = s->pid = 5;
	*word = (uint32_t)r->lost | ((r->head / SLOTS + 1) & 0xffff) << 32 |
		(uint64_t)MG_EVENT_tcp_ready << 48;
	r->head++;
	return s;
}

static void publish(struct mg_slot *s, uint64_t word)
{
	memcpy(s, &word, sizeof(word));
}

/* An event that tells its number; false if there was no room. */
static bool produce(int cpu, uint64_t number)
{
	struct mg_tcp_ready e = {.sock = number};
	struct mg_slot *s;
	uint64_t word;

	s = take(cpu, &word);
	if (!s)
		return false;
	memcpy(s->payload, &e, MG_PAYLOAD_SIZE(TCP_READY));
	publish(s, word);
	return true;
}

static void produce_many(int cpu, uint64_t from, uint64_t count)
{
	for (uint64_t i = 0; i < count; i++)
		produce(cpu, from + i);
}

static void assert_number(const struct trace_event *e, uint64_t number)
{
	uint64_t sock;

	assert_int_equal(e->id, MG_EVENT_tcp_ready);
	memcpy(&sock, e->payload, sizeof(sock));
	assert_int_equal(sock, number);
}

static struct mg_lost lost_event(const struct trace_event *e)
{
	struct mg_lost l;

	assert_int_equal(e->id, MG_EVENT_lost);
	memcpy(&l, e->payload, MG_PAYLOAD_SIZE(LOST));
	return l;
}

static void events_come_out_in_the_order_they_went_in(void **unused)
{
	struct trace_file t;

	(void)unused;
	begin();
	produce_many(0, 100, 5);
	produce_many(1, 200, 3);
	assert_int_equal(drain_pass(drain), 5 * 100 / SLOTS);
	assert_int_equal(drain_pass(drain), 0);
	assert_int_equal(drain_lost(drain), 0);
	finish(&t, "cpu0");
	assert_int_equal(t.events, 5);
	for (uint64_t i = 0; i < 5; i++)
		assert_number(&t.event[i], 100 + i);
	trace_free(&t);
	trace_read(&t, dir, "cpu1");
	assert_int_equal(t.events, 3);
	trace_free(&t);
}

static void the_ring_is_used_round_and_round(void **unused)
{
	struct trace_file t;
	uint64_t next = 0;

	(void)unused;
	begin();
	for (int pass = 0; pass < 100; pass++) {
		produce_many(0, next, (uint64_t)pass % SLOTS + 1);
		next += (uint64_t)pass % SLOTS + 1;
		assert_true(drain_pass(drain) >= 0);
	}
	finish(&t, "cpu0");
	assert_int_equal(t.events, next);
	for (uint64_t i = 0; i < next; i++)
		assert_number(&t.event[i], i);
	trace_free(&t);
}

/* A lap is 16 bits: at 65,536 laps it begins again, and 0 is a lap like any other. */
static void laps_may_begin_again(void **unused)
{
	struct mg_ring *r = hooks_ring(&hooks, 0);
	struct trace_file t;

	(void)unused;
	r->head = r->tail = 65533ull * SLOTS; /* lap 65,534 is next */
	begin();
	for (uint64_t i = 0; i < 5 * SLOTS; i++) {
		assert_true(produce(0, i));
		if (i % 3 == 2)
			drain_pass(drain);
	}
	drain_pass(drain);
	finish(&t, "cpu0");
	assert_int_equal(t.events, 5 * SLOTS);
	for (uint64_t i = 0; i < t.events; i++)
		assert_number(&t.event[i], i);
	trace_free(&t);
}

static void a_loss_stands_between_its_neighbours(void **unused)
{
	struct trace_file t;
	struct mg_lost l;

	(void)unused;
	begin();
	produce_many(0, 0, SLOTS + 3); /* the last three find no room */
	drain_pass(drain);
	produce_many(0, 50, 2);
	drain_pass(drain);
	assert_int_equal(drain_lost(drain), 3);
	finish(&t, "cpu0");
	assert_int_equal(t.events, SLOTS + 1 + 2);
	assert_number(&t.event[SLOTS - 1], SLOTS - 1);
	l = lost_event(&t.event[SLOTS]);
	assert_number(&t.event[SLOTS + 1], 50);
	assert_int_equal(l.count, 3);
	assert_int_equal(l.cpu, 0);
	assert_int_equal(l.reason, 1);
	assert_string_equal(l.producer, "ring");
	assert_int_equal(l.from_ns, t.event[SLOTS - 1].ts);
	assert_int_equal(l.to_ns, t.event[SLOTS + 1].ts);
	assert_int_equal(t.packet[0].discarded, 3);
	trace_free(&t);
}

static void each_loss_has_its_own_place(void **unused)
{
	struct trace_file t;
	uint64_t sum = 0;
	size_t places = 0;

	(void)unused;
	begin();
	for (uint64_t i = 0; i < 10; i++) { /* SLOTS fit, i do not */
		produce_many(0, 100 * i, SLOTS + i);
		drain_pass(drain);
	}
	assert_int_equal(drain_finish(drain), 0);
	assert_int_equal(drain_lost(drain), 45);
	finish(&t, "cpu0");
	for (size_t i = 0; i < t.events; i++) {
		if (t.event[i].id != MG_EVENT_lost)
			continue;
		sum += lost_event(&t.event[i]).count;
		places++;
	}
	assert_int_equal(sum, 45);
	assert_int_equal(places, 9);
	assert_int_equal(t.events, 10 * SLOTS + 9);
	trace_free(&t);
}

/* A full ring loses events in the middle too, as soon as a reader makes room for some. */
static void a_loss_in_the_middle_of_a_pass_is_placed_as_well(void **unused)
{
	struct mg_ring *r = hooks_ring(&hooks, 1);
	struct trace_file t;
	struct mg_lost l;

	(void)unused;
	begin();
	produce_many(1, 0, 4);
	r->lost += 7;
	produce_many(1, 4, 3);
	drain_pass(drain);
	finish(&t, "cpu1");
	assert_int_equal(t.events, 8);
	l = lost_event(&t.event[4]);
	assert_int_equal(l.count, 7);
	assert_int_equal(l.cpu, 1);
	assert_int_equal(l.from_ns, t.event[3].ts);
	assert_int_equal(l.to_ns, t.event[5].ts);
	trace_free(&t);
}

/* The count in a slot has 32 bits. */
static void the_count_of_losses_may_wrap(void **unused)
{
	struct mg_ring *r = hooks_ring(&hooks, 0);
	struct trace_file t;

	(void)unused;
	r->lost = 0xfffffffe;
	begin();
	r->lost += 5;
	produce(0, 1);
	drain_pass(drain);
	r->lost += 2;
	assert_int_equal(drain_finish(drain), 0);
	assert_int_equal(drain_lost(drain), 7);
	finish(&t, "cpu0");
	assert_int_equal(lost_event(&t.event[0]).count, 5);
	assert_number(&t.event[1], 1);
	assert_int_equal(lost_event(&t.event[2]).count, 2);
	trace_free(&t);
}

static void a_slot_that_is_not_published_stops_the_reader(void **unused)
{
	struct mg_tcp_ready e = {.sock = 2};
	struct trace_file t;
	struct mg_slot *s;
	uint64_t word;

	(void)unused;
	begin();
	produce_many(0, 0, 2);
	s = take(0, &word);    /* a program that was interrupted before it was done ... */
	produce_many(0, 3, 2); /* ... by others that are */
	drain_pass(drain);
	assert_int_equal(hooks_ring(&hooks, 0)->tail, 2);
	assert_int_equal(ctf_events(writer), 2);
	memcpy(s->payload, &e, MG_PAYLOAD_SIZE(TCP_READY));
	publish(s, word);
	drain_pass(drain);
	finish(&t, "cpu0");
	assert_int_equal(t.events, 5);
	for (uint64_t i = 0; i < 5; i++)
		assert_number(&t.event[i], i);
	trace_free(&t);
}

/* What the slot held a lap ago is complete, but not what is asked for. */
static void a_slot_of_the_lap_before_stops_it_too(void **unused)
{
	struct trace_file t;
	uint64_t word;

	(void)unused;
	begin();
	produce_many(0, 0, SLOTS);
	drain_pass(drain);
	assert_non_null(take(0, &word));
	drain_pass(drain);
	assert_int_equal(ctf_events(writer), SLOTS);
	finish(&t, "cpu0");
	assert_int_equal(t.events, SLOTS);
	trace_free(&t);
}

/* Losses after which nothing was recorded show in no slot. */
static void trailing_losses_are_told_at_the_end(void **unused)
{
	struct trace_file t;
	struct mg_lost l;

	(void)unused;
	begin();
	produce_many(0, 0, SLOTS + 6);
	drain_pass(drain);
	assert_int_equal(drain_lost(drain), 0);
	assert_int_equal(drain_finish(drain), 0);
	assert_int_equal(drain_lost(drain), 6);
	finish(&t, "cpu0");
	assert_int_equal(t.events, SLOTS + 1);
	l = lost_event(&t.event[SLOTS]);
	assert_int_equal(l.count, 6);
	assert_int_equal(l.from_ns, t.event[SLOTS - 1].ts);
	assert_true(l.to_ns >= l.from_ns);
	trace_free(&t);
}

static void a_cpu_that_lost_everything_has_a_place_for_it(void **unused)
{
	uint64_t before = mg_monotonic_ns();
	struct trace_file t;
	struct mg_lost l;

	(void)unused;
	begin();
	hooks_ring(&hooks, 1)->lost += 4;
	assert_int_equal(drain_finish(drain), 0);
	finish(&t, "cpu1");
	assert_int_equal(t.events, 1);
	l = lost_event(&t.event[0]);
	assert_int_equal(l.count, 4);
	assert_in_range(l.from_ns, before, l.to_ns);
	trace_free(&t);
}

/* Calibration uses the rings before the recording begins. */
static void what_was_there_before_is_not_part_of_it(void **unused)
{
	struct trace_file t;

	(void)unused;
	produce_many(0, 1000, SLOTS + 5);
	begin();
	produce_many(0, 0, 3);
	assert_int_equal(drain_finish(drain), 0);
	assert_int_equal(drain_lost(drain), 0);
	finish(&t, "cpu0");
	assert_int_equal(t.events, 3);
	assert_number(&t.event[0], 0);
	assert_int_equal(t.packet[0].discarded, 0);
	trace_free(&t);
}

static void skipped_programs_become_a_loss_of_the_tracer(void **unused)
{
	struct trace_file t;
	struct mg_lost l;

	(void)unused;
	begin();
	assert_int_equal(drain_check_misses(drain), 0);
	misses = 9;
	assert_int_equal(drain_check_misses(drain), 0);
	assert_int_equal(drain_lost(drain), 9);
	finish(&t, "tracer");
	assert_int_equal(t.events, 1);
	l = lost_event(&t.event[0]);
	assert_int_equal(l.count, 9);
	assert_int_equal(l.cpu, -1);
	assert_int_equal(l.reason, 2);
	assert_string_equal(l.producer, "on_tcp_send");
	assert_true(l.from_ns <= l.to_ns);
	trace_free(&t);
}

static void the_fullest_ring_is_told_in_percent(void **unused)
{
	struct trace_file t;

	(void)unused;
	begin();
	produce_many(0, 0, 2);
	produce_many(1, 0, SLOTS);
	assert_int_equal(drain_pass(drain), 100);
	produce_many(0, 0, SLOTS / 2);
	assert_int_equal(drain_pass(drain), 50);
	finish(&t, "cpu0");
	trace_free(&t);
}

static void a_note_has_the_time_of_now(void **unused)
{
	struct mg_trace_end e = {.events = 3};
	uint64_t before = mg_monotonic_ns();
	struct trace_file t;

	(void)unused;
	begin();
	assert_int_equal(drain_note(drain, MG_EVENT_trace_end, &e, MG_PAYLOAD_SIZE(TRACE_END)), 0);
	finish(&t, "tracer");
	assert_in_range(t.event[0].ts, before, mg_monotonic_ns());
	assert_memory_equal(t.event[0].payload, &e, MG_PAYLOAD_SIZE(TRACE_END));
	trace_free(&t);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
		TEST(events_come_out_in_the_order_they_went_in),
		TEST(the_ring_is_used_round_and_round),
		TEST(laps_may_begin_again),
		TEST(a_loss_stands_between_its_neighbours),
		TEST(each_loss_has_its_own_place),
		TEST(a_loss_in_the_middle_of_a_pass_is_placed_as_well),
		TEST(the_count_of_losses_may_wrap),
		TEST(a_slot_that_is_not_published_stops_the_reader),
		TEST(a_slot_of_the_lap_before_stops_it_too),
		TEST(trailing_losses_are_told_at_the_end),
		TEST(a_cpu_that_lost_everything_has_a_place_for_it),
		TEST(what_was_there_before_is_not_part_of_it),
		TEST(skipped_programs_become_a_loss_of_the_tracer),
		TEST(the_fullest_ring_is_told_in_percent),
		TEST(a_note_has_the_time_of_now),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
