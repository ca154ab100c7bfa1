/* SPDX-License-Identifier: MIT */
#include "bytes/call_ends.h"
#include "unit.h"

#define MOST 200

/* Model: the offsets, in order. */
struct model {
	uint64_t off[MOST];
	uint32_t n;
};

static void model_add(struct model *m, uint64_t off)
{
	uint32_t i = m->n++;

	for (; i > 0 && m->off[i - 1] > off; i--)
		m->off[i] = m->off[i - 1];
	m->off[i] = off;
}

static void assert_same(struct call_ends *e, const struct model *m)
{
	assert_int_equal(e->len, m->n);
	for (uint32_t i = 0; i < m->n; i++)
		assert_int_equal(*call_ends_at(e, i), m->off[i]);
}

static void they_come_in_order(void **unused)
{
	struct call_ends e = {0};
	struct model m = {.n = 0};
	uint64_t random = 1, next = 0;

	(void)unused;
	for (int i = 0; i < 20000; i++) {
		/* for a while more come than go, then fewer */
		bool adds = unit_random(&random) % 8 < (i / 500 % 2 ? 5 : 3);

		if (adds && m.n < MOST) {
			uint64_t off, back = unit_random(&random) % 5;

			next += 1 + unit_random(&random) % 3;
			off = next > back ? next - back : next;
			call_ends_add(&e, off);
			model_add(&m, off);
		} else if (!adds) {
			uint64_t upto = m.n && unit_random(&random) % 4 ? m.off[0] : 0;
			bool there = m.n && m.off[0] <= upto;

			assert_int_equal(call_ends_take(&e, upto), there);
			if (there)
				memmove(m.off, m.off + 1, --m.n * sizeof(m.off[0]));
		}
		assert_same(&e, &m);
	}
	call_ends_free(&e);
}

static void a_single_one_takes_no_memory(void **unused)
{
	struct call_ends e = {0};

	(void)unused;
	for (uint64_t i = 1; i < 100; i++) {
		call_ends_add(&e, i);
		assert_int_equal(e.cap, 0);
		assert_false(call_ends_take(&e, i - 1));
		assert_true(call_ends_take(&e, i));
	}
	assert_false(call_ends_take(&e, UINT64_MAX));
	call_ends_free(&e);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(they_come_in_order),
		cmocka_unit_test(a_single_one_takes_no_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
