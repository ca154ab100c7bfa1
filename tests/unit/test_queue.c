/* SPDX-License-Identifier: MIT */
#include "clock/queue.h"

#include "event_table.h"
#include "unit.h"

static struct mg_event event(uint16_t id, uint64_t n)
{
	const struct mg_event_desc *d = mg_event_by_id(id);
	struct mg_event e = {.id = id, .time_ns = n, .tid = (uint32_t)n};

	memset(&e.sys_enter, (int)(n & 0xff), d ? d->size : sizeof(struct mg_other));
	return e;
}

static void assert_event(const struct mg_event *e, uint16_t id, uint64_t n)
{
	struct mg_event expected = event(id, n);
	const struct mg_event_desc *d = mg_event_by_id(id);

	assert_non_null(e);
	expected.queued = e->queued;
	assert_memory_equal(e, &expected,
		offsetof(struct mg_event, sys_enter) + (d ? d->size : sizeof(struct mg_other)));
}

static void put(struct event_queue *q, const struct mg_event *e)
{
	struct mg_event *room = queue_room(q);

	assert_non_null(room);
	memcpy(room, e, queue_size_of(e));
	queue_put(q, queue_written(q));
}

static void events_come_out_in_order(void **unused)
{
	static const uint16_t ids[] = {MG_EVENT_sys_enter, MG_EVENT_hook, MG_APP_BASE + 3,
		MG_EVENT_mark, MG_EVENT_other, MG_EVENT_task_exit, MG_EVENT_lost};
	struct event_queue q = {0};
	uint64_t in = 0, out = 0, seed = 1;

	(void)unused;
	assert_null(queue_first(&q));
	for (int round = 0; round < 300; round++) {
		for (uint64_t n = unit_random_below(&seed, 200); n; n--, in++) {
			struct mg_event e = event(ids[in % COUNT(ids)], in);

			put(&q, &e);
		}
		for (uint64_t n = unit_random_below(&seed, 199); n && out < in; n--, out++) {
			assert_event(queue_first(&q), ids[out % COUNT(ids)], out);
			queue_drop_first(&q, queue_first(&q));
		}
	}
	for (struct mg_event *e = queue_first(&q); e; e = queue_after(&q, e), out++)
		assert_event(e, ids[out % COUNT(ids)], out);
	assert_int_equal(out, in);
	queue_free(&q);
}

/* Memory depends on what is in flight, not on what has passed. */
static void memory_does_not_grow_with_the_events_passed(void **unused)
{
	struct mg_event e = event(MG_EVENT_dev_xmit, 1);
	struct event_queue q = {0};
	size_t cap = 0;

	(void)unused;
	for (int i = 0; i < 1000; i++)
		put(&q, &e);
	for (int i = 0; i < 1000000; i++) {
		put(&q, &e);
		queue_drop_first(&q, queue_first(&q));
		if (i == 100000)
			cap = q.cap;
	}
	assert_int_equal(q.cap, cap);
	queue_free(&q);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(events_come_out_in_order),
		cmocka_unit_test(memory_does_not_grow_with_the_events_passed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
