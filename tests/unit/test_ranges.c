/* SPDX-License-Identifier: MIT */
#include "bytes/ranges.h"
#include "unit.h"

#define BYTES  400
#define LAYERS 5

/* Model of ranges.c: a time for each byte, 0 = not known. */
struct model {
	uint64_t t[BYTES];
	uint64_t base;
};

static uint64_t model_add(struct model *m, uint64_t a, uint64_t b, uint64_t t)
{
	uint64_t fresh = 0;

	for (uint64_t i = a > m->base ? a : m->base; i < b; i++)
		if (!m->t[i]) {
			m->t[i] = t;
			fresh++;
		}
	return fresh;
}

static uint64_t model_reach(const struct model *m, uint64_t from)
{
	while (from < BYTES && from >= m->base && m->t[from])
		from++;
	return from;
}

static void assert_in_order(const struct ranges *r)
{
	uint64_t end = r->base;

	for (uint32_t i = 0; i < r->len; i++) {
		const struct range *v = ranges_at(r, i);

		assert_true(v->a >= end && v->b > v->a);
		end = v->b;
	}
}

static void bytes_in_order_are_all_new(void **unused)
{
	struct ranges r = {0};

	(void)unused;
	for (uint64_t i = 0; i < 1000; i++)
		assert_int_equal(ranges_add(&r, i * 10, i * 10 + 10, i), 10);
	assert_int_equal(ranges_reach(&r, 0), 10000);
	ranges_free(&r);
}

static void nothing_is_no_range(void **unused)
{
	struct ranges r = {0};

	(void)unused;
	assert_int_equal(ranges_add(&r, 5, 5, 1), 0);
	assert_int_equal(ranges_add(&r, 6, 5, 1), 0);
	assert_int_equal(r.len, 0);
	assert_int_equal(ranges_reach(&r, 5), 5);
	ranges_free(&r);
}

static void overlap_counts_only_new_bytes(void **unused)
{
	struct ranges r = {0};

	(void)unused;
	ranges_add(&r, 100, 200, 1);
	assert_int_equal(ranges_add(&r, 150, 250, 2), 50);
	assert_int_equal(ranges_add(&r, 50, 260, 3), 60);
	assert_int_equal(ranges_reach(&r, 50), 260);
	ranges_free(&r);
}

static void note_atom(void *arg, uint64_t a, uint64_t b, const uint64_t t[], uint32_t present)
{
	struct model *m = arg;

	for (uint64_t i = a; i < b; i++)
		m->t[i] = present ? t[0] : 0;
}

static void repeated_bytes_keep_their_first_time(void **unused)
{
	const struct ranges *layers[1];
	struct ranges r = {0};
	struct model seen = {0};

	(void)unused;
	layers[0] = &r;
	ranges_add(&r, 0, 100, 11);
	assert_int_equal(ranges_add(&r, 0, 100, 22), 0);
	assert_int_equal(ranges_add(&r, 20, 30, 33), 0);
	ranges_atoms(layers, 1, 0, 100, note_atom, &seen);
	for (int i = 0; i < 100; i++)
		assert_int_equal(seen.t[i], 11);
	ranges_free(&r);
}

static void holes_may_be_filled_in_any_order(void **unused)
{
	uint64_t order[BYTES / 4], seed = 5;
	struct ranges r = {0};

	(void)unused;
	for (uint64_t i = 0; i < COUNT(order); i++)
		order[i] = i;
	for (uint64_t i = COUNT(order) - 1; i > 0; i--) {
		uint64_t j = unit_random_below(&seed, i + 1), x = order[i];

		order[i] = order[j];
		order[j] = x;
	}
	for (uint64_t i = 0; i < COUNT(order); i++) {
		assert_int_equal(ranges_add(&r, order[i] * 4, order[i] * 4 + 4, i + 1), 4);
		assert_in_order(&r);
	}
	assert_int_equal(ranges_reach(&r, 0), BYTES);
	ranges_free(&r);
}

static void dropped_bytes_count_as_seen(void **unused)
{
	struct ranges r = {0};

	(void)unused;
	ranges_add(&r, 0, 100, 1);
	ranges_add(&r, 200, 300, 2);
	ranges_drop(&r, 250);
	assert_int_equal(r.len, 1);
	assert_int_equal(ranges_add(&r, 0, 240, 3), 0);
	assert_int_equal(ranges_add(&r, 240, 310, 3), 10);
	assert_int_equal(ranges_reach(&r, 250), 310);
	ranges_drop(&r, 100); /* a smaller offset has no effect */
	assert_int_equal(r.base, 250);
	ranges_free(&r);
}

static void dropping_what_never_came_keeps_it_out(void **unused)
{
	struct ranges r = {0};

	(void)unused;
	ranges_drop(&r, 1000);
	assert_int_equal(ranges_add(&r, 0, 1000, 1), 0);
	assert_int_equal(ranges_add(&r, 990, 1010, 1), 10);
	ranges_free(&r);
}

/* A long stream takes memory for what is in flight, not for all that passed. */
static void a_window_that_moves_on_takes_no_more_memory(void **unused)
{
	struct ranges r = {0};

	(void)unused;
	for (uint64_t i = 0; i < 100000; i++) {
		assert_int_equal(ranges_add(&r, i * 100, i * 100 + 100, i), 100);
		if (i >= 50)
			ranges_drop(&r, (i - 50) * 100);
	}
	assert_true(r.cap <= 256);
	assert_int_equal(r.len, 51);
	ranges_free(&r);
}

static void reach_ends_at_the_first_hole(void **unused)
{
	struct ranges r = {0};

	(void)unused;
	ranges_add(&r, 0, 10, 1);
	ranges_add(&r, 10, 20, 2);
	ranges_add(&r, 30, 40, 3);
	assert_int_equal(ranges_reach(&r, 0), 20);
	assert_int_equal(ranges_reach(&r, 15), 20);
	assert_int_equal(ranges_reach(&r, 20), 20);
	assert_int_equal(ranges_reach(&r, 25), 25);
	assert_int_equal(ranges_reach(&r, 35), 40);
	assert_int_equal(ranges_reach(&r, 99), 99);
	ranges_free(&r);
}

static void random_step(struct ranges *r, struct model *m, uint64_t *seed, uint64_t t)
{
	uint64_t a = unit_random_below(seed, BYTES);
	uint64_t b = a + unit_random_below(seed, BYTES - a < 40 ? BYTES - a + 1 : 40);

	if (unit_random_below(seed, 12) == 0) {
		uint64_t upto = m->base + unit_random_below(seed, 10);

		upto = upto < BYTES ? upto : BYTES;
		ranges_drop(r, upto);
		m->base = upto > m->base ? upto : m->base;
		return;
	}
	assert_int_equal(ranges_add(r, a, b, t), model_add(m, a, b, t));
}

static void any_sequence_agrees_with_a_byte_by_byte_model(void **unused)
{
	(void)unused;
	for (uint64_t run = 1; run <= 60; run++) {
		struct ranges r = {0};
		struct model m = {0};
		uint64_t seed = run;

		for (uint64_t t = 1; t <= 100; t++) {
			uint64_t from;

			random_step(&r, &m, &seed, t);
			assert_in_order(&r);
			from = m.base + unit_random_below(&seed, BYTES - m.base + 1);
			assert_int_equal(ranges_reach(&r, from), model_reach(&m, from));
		}
		ranges_free(&r);
	}
}

struct check {
	const struct model *m;
	uint64_t at, end;
};

static void check_atom(void *arg, uint64_t a, uint64_t b, const uint64_t t[], uint32_t present)
{
	struct check *c = arg;

	assert_int_equal(a, c->at);
	assert_true(b > a && b <= c->end);
	c->at = b;
	for (uint64_t i = a; i < b; i++)
		for (int l = 0; l < LAYERS; l++) {
			assert_int_equal(present >> l & 1, c->m[l].t[i] != 0);
			assert_int_equal(t[l], c->m[l].t[i]);
		}
	assert_int_equal(present >> LAYERS, 0);
}

/* Every range has one time per layer, and together they cover all bytes once, in order. */
static void atoms_agree_with_the_model_in_every_layer(void **unused)
{
	(void)unused;
	for (uint64_t run = 1; run <= 60; run++) {
		const struct ranges *layers[LAYERS];
		struct ranges r[LAYERS] = {{{{0}}}};
		struct model m[LAYERS] = {{{0}}};
		uint64_t seed = run + 100, a, b;
		struct check c;

		for (uint64_t t = 1; t <= 60; t++) {
			uint64_t l = unit_random_below(&seed, LAYERS - 1);
			uint64_t from = unit_random_below(&seed, BYTES - 20);
			uint64_t to = from + unit_random_below(&seed, 20);

			ranges_add(&r[l], from, to, t);
			model_add(&m[l], from, to, t);
		}
		for (int l = 0; l < LAYERS; l++)
			layers[l] = l == LAYERS - 1 ? NULL : &r[l];
		a = unit_random_below(&seed, BYTES);
		b = a + unit_random_below(&seed, BYTES - a + 1);
		c = (struct check){m, a, b};
		ranges_atoms(layers, LAYERS, a, b, check_atom, &c);
		assert_int_equal(c.at, b);
		for (int l = 0; l < LAYERS; l++)
			ranges_free(&r[l]);
	}
}

static void count_atom(void *arg, uint64_t a, uint64_t b, const uint64_t t[], uint32_t present)
{
	(void)a;
	(void)b;
	(void)t;
	(void)present;
	++*(int *)arg;
}

static void ranges_are_not_cut_finer_than_the_timestamps(void **unused)
{
	const struct ranges *layers[2];
	struct ranges one = {0}, two = {0};
	int atoms = 0;

	(void)unused;
	layers[0] = &one;
	layers[1] = &two;
	ranges_add(&one, 0, 3000, 1);
	for (uint64_t i = 0; i < 3; i++)
		ranges_add(&two, i * 1000, i * 1000 + 1000, i + 2);
	ranges_atoms(layers, 2, 0, 3000, count_atom, &atoms);
	assert_int_equal(atoms, 3);
	ranges_free(&one);
	ranges_free(&two);
}

struct dropping {
	struct ranges *layer;
	uint64_t seen;
};

static void drop_atom(void *arg, uint64_t a, uint64_t b, const uint64_t t[], uint32_t present)
{
	struct dropping *d = arg;

	assert_int_equal(present, 1);
	assert_int_equal(t[0], a + 1);
	d->seen += b - a;
	ranges_drop(d->layer, b);
}

static void atoms_may_be_dropped_as_they_are_handed_over(void **unused)
{
	const struct ranges *layers[1];
	struct ranges r = {0};
	struct dropping d = {&r, 0};

	(void)unused;
	layers[0] = &r;
	for (uint64_t i = 0; i < 100; i += 10)
		ranges_add(&r, i, i + 10, i + 1);
	ranges_atoms(layers, 1, 0, 100, drop_atom, &d);
	assert_int_equal(d.seen, 100);
	assert_int_equal(r.len, 0);
	ranges_free(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(bytes_in_order_are_all_new),
		cmocka_unit_test(nothing_is_no_range),
		cmocka_unit_test(overlap_counts_only_new_bytes),
		cmocka_unit_test(repeated_bytes_keep_their_first_time),
		cmocka_unit_test(holes_may_be_filled_in_any_order),
		cmocka_unit_test(dropped_bytes_count_as_seen),
		cmocka_unit_test(dropping_what_never_came_keeps_it_out),
		cmocka_unit_test(a_window_that_moves_on_takes_no_more_memory),
		cmocka_unit_test(reach_ends_at_the_first_hole),
		cmocka_unit_test(any_sequence_agrees_with_a_byte_by_byte_model),
		cmocka_unit_test(atoms_agree_with_the_model_in_every_layer),
		cmocka_unit_test(ranges_are_not_cut_finer_than_the_timestamps),
		cmocka_unit_test(atoms_may_be_dropped_as_they_are_handed_over),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
