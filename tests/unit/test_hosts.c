/* SPDX-License-Identifier: MIT */
/* Two clocks with a known relation, recovered from the packets that pass between them. */
#include "clock/hosts.h"
#include "unit.h"

#define BEGIN  5000000000000ull /* A's clock, ns */
#define SECOND 1000000000ull

/* Relation of B's clock to A's. */
struct truth {
	double skew, offset;
	uint64_t step_at; /* A's clock; 0 = never */
	double step;
};

static uint64_t shown(const struct truth *t, uint64_t x)
{
	double ahead = (double)(x - BEGIN) * t->skew + t->offset;

	if (t->step_at && x >= t->step_at)
		ahead += t->step;
	return x + (uint64_t)(int64_t)llround(ahead);
}

static double uniform(uint64_t *state)
{
	return ((double)(unit_random(state) >> 11) + 0.5) / 9007199254740992.0;
}

/* Returns a transit time of at least 20 us, at times much longer. */
static uint64_t delay(uint64_t *seed)
{
	return (uint64_t)(20000 - 30000 * log(uniform(seed)));
}

/* Feeds passings over ten seconds: `n` each way. */
static void exchange(struct hosts *h, const struct truth *t, int to_b, int to_a, uint64_t seed)
{
	hosts_init(h, 0);
	for (int i = 0; i < to_b; i++) {
		uint64_t sent = BEGIN + unit_random_below(&seed, 10 * SECOND);

		assert_int_equal(hosts_add(h, true, sent, shown(t, sent + delay(&seed))), 0);
	}
	for (int i = 0; i < to_a; i++) {
		uint64_t sent = BEGIN + unit_random_below(&seed, 10 * SECOND);

		assert_int_equal(hosts_add(h, false, sent + delay(&seed), shown(t, sent)), 0);
	}
	assert_int_equal(hosts_solve(h), 0);
}

static double ahead(const struct truth *t, uint64_t x)
{
	return (double)(int64_t)(shown(t, x) - x);
}

static void clocks_are_recovered_within_their_bound(void **unused)
{
	static const struct truth truths[] = {{0, 0, 0, 0}, {50e-6, 1e9, 0, 0},
		{-50e-6, -1e9, 0, 0}, {200e-6, 3.6e12, 0, 0}, {1e-9, 12345, 0, 0}};

	(void)unused;
	for (size_t i = 0; i < COUNT(truths); i++)
		for (uint64_t seed = 1; seed <= 10; seed++) {
			struct hosts h;

			exchange(&h, &truths[i], 500, 300, seed);
			assert_int_equal(h.windows, 1);
			assert_int_equal(h.window[0].state, HOSTS_RELATED);
			for (uint64_t x = BEGIN; x <= BEGIN + 10 * SECOND; x += SECOND / 2) {
				struct host_bounds b;

				assert_true(hosts_at(&h, x, &b));
				/* half a nanosecond, as times are whole ones */
				assert_true(b.low - 0.5 <= ahead(&truths[i], x));
				assert_true(ahead(&truths[i], x) <= b.high + 0.5);
				/* the least delay both ways is 40 us, and some more */
				assert_true(b.high - b.low < 60000);
			}
			assert_near(hosts_skew(&h, BEGIN), truths[i].skew, 5e-6);
			hosts_free(&h);
		}
}

/* Compares with all pairs of passings: each vertex of the feasible region lies on two of them. */
static void bounds_are_those_of_the_linear_programme(void **unused)
{
	const struct truth t = {20e-6, 5e6, 0, 0};

	(void)unused;
	for (uint64_t seed = 1; seed <= 20; seed++) {
		enum { N = 12 };
		struct host_passing *p[2 * N];
		uint64_t at = BEGIN + 3 * SECOND;
		double low = INFINITY, high = -INFINITY;
		struct host_bounds b;
		struct hosts h;

		exchange(&h, &t, N, N, seed);
		for (int i = 0; i < N; i++) {
			p[i] = &h.to_b.v[i];
			p[N + i] = &h.to_a.v[i];
		}
		for (int i = 0; i < 2 * N; i++)
			for (int k = i + 1; k < 2 * N; k++) {
				double u1 = (double)(p[i]->x - BEGIN),
				       v1 = (double)(int64_t)(p[i]->y - p[i]->x),
				       u2 = (double)(p[k]->x - BEGIN),
				       v2 = (double)(int64_t)(p[k]->y - p[k]->x);
				double skew = (v2 - v1) / (u2 - u1), offset = v1 - skew * u1, v;
				bool fits = fabs(skew) <= 1e-3;

				for (int j = 0; j < 2 * N && fits; j++) {
					double line = skew * (double)(p[j]->x - BEGIN) + offset;
					double is = (double)(int64_t)(p[j]->y - p[j]->x);

					fits = j < N ? line <= is + 1e-3 : line >= is - 1e-3;
				}
				if (!fits)
					continue;
				v = skew * (double)(at - BEGIN) + offset;
				low = fmin(low, v);
				high = fmax(high, v);
			}
		assert_true(hosts_at(&h, at, &b));
		assert_near(b.low, low, 0.01);
		assert_near(b.high, high, 0.01);
		hosts_free(&h);
	}
}

/* A clock that is set is one line before and another after. */
static void a_step_halves_the_window(void **unused)
{
	const struct truth t = {10e-6, 0, BEGIN + 4 * SECOND, 5e6};
	struct host_bounds b;
	struct hosts h;
	int known = 0;

	(void)unused;
	exchange(&h, &t, 2000, 2000, 3);
	assert_true(h.windows > 1);
	for (size_t i = 1; i < h.windows; i++)
		assert_true(h.window[i].from == h.window[i - 1].to);
	for (uint64_t x = BEGIN; x <= BEGIN + 10 * SECOND; x += SECOND / 10) {
		if (llabs((int64_t)(x - t.step_at)) < (int64_t)SECOND / 20 || !hosts_at(&h, x, &b))
			continue;
		assert_true(b.low - 0.5 <= ahead(&t, x) && ahead(&t, x) <= b.high + 0.5);
		known++;
	}
	assert_true(known > 90);
	hosts_free(&h);
}

static void few_in_one_direction_are_bounds_too(void **unused)
{
	(void)unused;
	for (uint64_t seed = 1; seed <= 200; seed++) {
		struct truth t = {.skew = 20e-6, .offset = 3e6};
		int few = 1 + (int)(seed % 3);
		struct hosts h;

		exchange(&h, &t, seed % 2 ? 100 : few, seed % 2 ? few : 100, seed);
		assert_int_equal(h.windows, 1);
		assert_int_equal(h.window[0].state, HOSTS_RELATED);
		for (uint64_t x = h.window[0].from; x < h.window[0].to; x += SECOND) {
			double ahead = (double)((int64_t)shown(&t, x) - (int64_t)x);
			struct host_bounds b;

			assert_true(hosts_at(&h, x, &b));
			assert_true(b.low <= ahead + 1 && ahead - 1 <= b.high);
		}
		hosts_free(&h);
	}
}

static void one_direction_alone_gives_only_the_skew(void **unused)
{
	(void)unused;
	for (int to_b = 0; to_b < 2; to_b++) {
		const struct truth t = {50e-6, 1e9, 0, 0};
		struct host_bounds b;
		struct hosts h;

		exchange(&h, &t, to_b ? 2000 : 0, to_b ? 0 : 2000, 4);
		assert_int_equal(h.windows, 1);
		assert_int_equal(h.window[0].state, HOSTS_SKEW_ONLY);
		assert_near(hosts_skew(&h, BEGIN), 50e-6, 1e-6);
		assert_false(hosts_at(&h, BEGIN, &b));
		hosts_free(&h);
	}
}

static void nothing_relates_nothing(void **unused)
{
	const struct truth t = {0, 0, 0, 0};
	struct host_bounds b;
	struct hosts h;

	(void)unused;
	exchange(&h, &t, 0, 0, 1);
	assert_false(hosts_at(&h, BEGIN, &b));
	assert_true(isnan(hosts_skew(&h, BEGIN)));
	hosts_free(&h);
	exchange(&h, &t, 2, 2, 1);
	assert_false(hosts_at(&h, BEGIN, &b));
	hosts_free(&h);
}

/* The error of the clock readings allows passings that seem impossible. */
static void uncertain_readings_widen_the_bounds(void **unused)
{
	struct host_bounds b;
	struct hosts h;

	(void)unused;
	for (int slack = 0; slack < 2; slack++) {
		hosts_init(&h, slack ? 1000 : 0);
		for (int i = 0; i < 10; i++) { /* received 500 ns before it was sent */
			uint64_t x = BEGIN + (uint64_t)i * 1000000;

			hosts_add(&h, true, x, x - 500);
			hosts_add(&h, false, x, x);
		}
		assert_int_equal(hosts_solve(&h), 0);
		assert_true(hosts_at(&h, BEGIN + 5000000, &b) == slack);
		if (slack) {
			assert_near(b.low, -1000, 1e-6);
			assert_near(b.high, 500, 1e-6);
		}
		hosts_free(&h);
	}
}

static void an_interval_has_its_half_width(void **unused)
{
	const struct truth t = {50e-6, 1e9, 0, 0};
	double ns, half;
	struct hosts h;
	uint64_t x = BEGIN + 2 * SECOND;

	(void)unused;
	exchange(&h, &t, 500, 500, 7);
	assert_true(hosts_interval(&h, true, x, shown(&t, x + 100000), &ns, &half));
	assert_near(ns, 100000, half + 10); /* and 50 ppm of it */
	assert_true(hosts_interval(&h, false, x, shown(&t, x - 100000), &ns, &half));
	assert_near(ns, 100000, half + 10);
	assert_true(half > 10000 && half < 30000);
	hosts_free(&h);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(clocks_are_recovered_within_their_bound),
		cmocka_unit_test(bounds_are_those_of_the_linear_programme),
		cmocka_unit_test(a_step_halves_the_window),
		cmocka_unit_test(few_in_one_direction_are_bounds_too),
		cmocka_unit_test(one_direction_alone_gives_only_the_skew),
		cmocka_unit_test(nothing_relates_nothing),
		cmocka_unit_test(uncertain_readings_widen_the_bounds),
		cmocka_unit_test(an_interval_has_its_half_width),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
