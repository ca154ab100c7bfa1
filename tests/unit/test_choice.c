/* SPDX-License-Identifier: MIT */
#include <errno.h>

#include "demand/demand.h"
#include "unit.h"

static bool has(const struct demand *d, enum demand_figure f)
{
	return d->figures >> f & 1;
}

static void names_choose_figures(void **unused)
{
	struct demand d;
	char why[400];

	(void)unused;
	assert_int_equal(demand_parse(&d, "ks", why, sizeof(why)), 0);
	assert_int_equal(d.figures, 1u << DEMAND_KS);
	assert_int_equal(demand_parse(&d, "idc,variance-time,jain", why, sizeof(why)), 0);
	assert_true(has(&d, DEMAND_IDC) && has(&d, DEMAND_VARIANCE_TIME) && has(&d, DEMAND_JAIN));
	assert_false(has(&d, DEMAND_KS));
	assert_int_equal(demand_parse(&d, "variance_time", why, sizeof(why)), 0);
	assert_true(has(&d, DEMAND_VARIANCE_TIME));
	assert_int_equal(demand_parse(&d, "all", why, sizeof(why)), 0);
	assert_int_equal(d.figures, (1u << DEMAND_FIGURES) - 1);
	for (int i = 0; i < DEMAND_FIGURES; i++)
		for (int p = 0; p < DEMAND_PARAMETERS_END; p++)
			assert_true(isnan(d.parameter[i][p]));
}

static void parameters_are_of_their_figure(void **unused)
{
	struct demand d;
	char why[400];

	(void)unused;
	assert_int_equal(demand_parse(&d, "all,bursts:gap=5,idc:bin=0.5ms", why, sizeof(why)), 0);
	assert_near(d.parameter[DEMAND_BURSTS][DEMAND_GAP], 5, 0);
	assert_near(d.parameter[DEMAND_IDC][DEMAND_BIN], 0.5, 0);
	assert_true(isnan(d.parameter[DEMAND_HURST][DEMAND_BIN]));
	assert_int_equal(demand_parse(&d, "gcra:scr=1000:pcr=2e3:link=0", why, sizeof(why)), 0);
	assert_near(d.parameter[DEMAND_GCRA][DEMAND_SCR], 1000, 0);
	assert_near(d.parameter[DEMAND_GCRA][DEMAND_PCR], 2000, 0);
	assert_near(d.parameter[DEMAND_GCRA][DEMAND_LINK], 0, 0);
}

static void rates_and_sizes_have_units(void **unused)
{
	static const struct {
		const char *text;
		double rate, bucket;
	} cases[] = {
		{"contract:rate=10Mbit:bucket=3200", 10e6, 3200},
		{"contract:rate=1.5gbit/s:bucket=64KiB", 1.5e9, 65536},
		{"contract:rate=800k:bucket=2MB", 800e3, 2e6},
		{"contract:bucket=1MiB:rate=96kibit", 98304, 1048576},
		{"contract:rate=5:bucket=7B", 5, 7},
	};

	(void)unused;
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct demand d;
		char why[400];

		assert_int_equal(demand_parse(&d, cases[i].text, why, sizeof(why)), 0);
		assert_near(d.parameter[DEMAND_CONTRACT][DEMAND_RATE], cases[i].rate, 1e-6);
		assert_near(d.parameter[DEMAND_CONTRACT][DEMAND_BUCKET], cases[i].bucket, 0);
	}
}

static void errors_are_reported(void **unused)
{
	static const char *const cases[][2] = {
		{"", "no figure ``"},
		{"foo", "no figure `foo`"},
		{"ks,", "no figure ``"},
		{"ks,,idc", "no figure ``"},
		{"list,ks", "no figure `list`"},
		{"all:bin=1", "no figure `all`"},
		{"k", "no figure `k`"},
		{"ks:bin=1", "ks has no parameter `bin`"},
		{"bursts:", "bursts has no parameter ``"},
		{"bursts:rate=1", "bursts has no parameter `rate`"},
		{"bursts:gap", "`gap` is no value"},
		{"bursts:gap=", "`gap=` is no value"},
		{"bursts:gap=x", "`gap=x` is no value"},
		{"bursts:gap=-1", "`gap=-1` is no value"},
		{"bursts:gap=nan", "`gap=nan` is no value"},
		{"bursts:gap=inf", "`gap=inf` is no value"},
		{"bursts:gap=1s", "`gap=1s` is no value"},
		{"idc:bin=0", "`bin=0` is no value"},
		{"contract:rate=10Mbyte", "`rate=10Mbyte` is no value"},
		{"contract:bucket=10kbit", "`bucket=10kbit` is no value"},
	};

	(void)unused;
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct demand d;
		char why[400] = "";

		assert_int_equal(demand_parse(&d, cases[i][0], why, sizeof(why)), -EINVAL);
		if (!strstr(why, cases[i][1]))
			print_error("%s: %s\n", cases[i][0], why);
		assert_non_null(strstr(why, cases[i][1]));
		assert_null(strchr(why, '\n'));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_choose_figures),
		cmocka_unit_test(parameters_are_of_their_figure),
		cmocka_unit_test(rates_and_sizes_have_units),
		cmocka_unit_test(errors_are_reported),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
