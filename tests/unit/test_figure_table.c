/* SPDX-License-Identifier: MIT */
/* The table of figures: its rows are complete, and JSON has what it says. */
#include <string.h>

#include "reported/json.h"
#include "reported.h"

#define SCOPE_OF(S, ctype, doc) &scope_##S,
static const struct scope *const scopes[] = {MG_SCOPES(SCOPE_OF)};
#define SCOPES (sizeof(scopes) / sizeof(scopes[0]))

/* Returns whether the unit that the name of a figure ends in is the one its row has. */
static bool name_has_unit(const struct figure *g)
{
	size_t n = strlen(g->name);
	bool is_ns = n > 3 && strcmp(g->name + n - 3, "_ns") == 0;

	return !is_ns || g->unit == IN_NS || g->child;
}

static void each_row_says_what_it_is(void **unused)
{
	(void)unused;
	for (size_t i = 0; i < SCOPES; i++)
		for (int k = 0; k < scopes[i]->figures; k++) {
			const struct figure *g = &scopes[i]->figure[k];

			assert_true(g->known->always != (g->known->when != NULL));
			if (g->type == FIGURE_PART)
				continue;
			if (!g->doc[0] || strchr(g->doc, '\n') || !name_has_unit(g))
				fail_msg("%s.%s: a short text is missing, or its unit is another",
					scopes[i]->name, g->name);
		}
}

static void no_scope_has_a_name_twice(void **unused)
{
	(void)unused;
	for (size_t i = 0; i < SCOPES; i++)
		for (int k = 0; k < scopes[i]->figures; k++) {
			const struct figure *g = &scopes[i]->figure[k];

			if (g->type != FIGURE_PART)
				assert_ptr_equal(figure_of(scopes[i], g->name), g);
		}
}

#define COMPARED(scope, row, figure, words, what, unit, sums, ...) {&scope_##scope, #row},
static void each_compared_figure_has_a_row(void **unused)
{
	static const struct {
		const struct scope *scope;
		const char *row;
	} compared[] = {MG_COMPARED(COMPARED)};

	(void)unused;
	for (size_t i = 0; i < sizeof(compared) / sizeof(compared[0]); i++)
		assert_non_null(figure_of(compared[i].scope, compared[i].row));
}

static void unknown_figures_are_null_and_still_there(void **unused)
{
	struct core c;
	struct report r;
	struct scheduler_figures f;
	json_t *j;

	(void)unused;
	feed_begin(&c, "");
	assert_int_equal(core_finish(&c), 0);
	assert_int_equal(report_init(&r, &c, NULL, "t"), 0);
	f = scheduler_figures_of(&r);
	j = json_of_scheduler(&f);
	assert_int_equal(json_object_size(j), scope_scheduler.figures);
	assert_true(json_is_null(json_object_get(j, "migrations")));
	assert_true(json_is_null(json_object_get(json_object_get(j, "wakeup_ns"), "p50")));
	assert_int_equal(
		json_integer_value(json_object_get(json_object_get(j, "wakeup_ns"), "n")), 0);
	json_decref(j);
	report_free(&r);
	feed_end(&c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_row_says_what_it_is),
		cmocka_unit_test(no_scope_has_a_name_twice),
		cmocka_unit_test(each_compared_figure_has_a_row),
		cmocka_unit_test(unknown_figures_are_null_and_still_there),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
