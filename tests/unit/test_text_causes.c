/* SPDX-License-Identifier: MIT */
/* Words for where the time of exchanges went. */
#include <stdlib.h>

#include "feed.h"
#include "render/text_causes.h"

static char *told_of(const struct answer_column_figures *column)
{
	struct causes_told told = {0};
	char *text;
	size_t size;
	FILE *to = open_memstream(&text, &size);

	text_causes_of(column, &told, to);
	fclose(to);
	return text;
}

static struct answer_column_figures column_of(const struct report *r)
{
	struct answer_column_figures c = {.r = r, .role = ROLE_SERVER, .title = "median"};

	c.sum.n = 1;
	c.sum.time = 100;
	return c;
}

/* The first column of a line is the title, also where the words go on in another line. */
static void without_a_main_cause_the_largest_are_listed(void **unused)
{
	struct core core;
	struct report r;
	struct answer_column_figures c;
	char *text;

	(void)unused;
	feed_begin(&core, ALL_HOOKS);
	core_finish(&core);
	assert_int_equal(report_init(&r, &core, NULL, "a trace"), 0);
	c = column_of(&r);
	c.sum.cause[END_OWN][CAUSE_PROGRAM] = 30;
	c.sum.cause[END_OWN][CAUSE_LOST] = 25;
	c.sum.cause[END_FAR][CAUSE_STACK] = 20;
	c.sum.cause[END_OWN][CAUSE_STACK] = 16;
	c.sum.cause[END_OWN][CAUSE_CWND] = 9;
	text = told_of(&c);
	assert_string_equal(text,
		"  median          no single cause: 30 % server: the program itself; 25 % waiting "
		"for a\n"
		"                  retransmission; 20 % client: in the kernel's stack\n");
	free(text);

	c.sum.cause[END_OWN][CAUSE_PROGRAM] = 45;
	c.sum.cause[END_OWN][CAUSE_LOST] = 10;
	text = told_of(&c);
	assert_string_equal(text, "  median          45 % server: the program itself\n");
	free(text);

	/* none of many takes a tenth */
	c = column_of(&r);
	for (int i = 0; i < CAUSES; i++)
		c.sum.cause[END_OWN][i] = 100 / CAUSES;
	text = told_of(&c);
	assert_string_equal(text, "  median          no single cause\n");
	free(text);
	report_free(&r);
	feed_end(&core);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(without_a_main_cause_the_largest_are_listed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
