/* SPDX-License-Identifier: MIT */
/* Facts as text: a typed header and rows of as many columns, also where events were lost. */
#include "connection.h"
#include "render/show_facts.h"

static char *text;

static int teardown(void **unused)
{
	(void)unused;
	free(text);
	text = NULL;
	return 0;
}

/* Returns what is shown of a connection and of a loss of the kernel's events. */
static const char *shown(const struct fact_desc *fact)
{
	struct mg_event e = feed_event(MG_EVENT_lost, 10300, 0);
	struct core c;
	struct show_facts s = {.core = &c, .fact = fact};
	size_t size;

	teardown(NULL);
	s.to = open_memstream(&text, &size);
	assert_non_null(s.to);
	connection_begin(&c);
	show_facts_listen(&s);
	transfer(&c, 0, 10000, 10100);
	e.lost = (struct mg_lost){.count = 12,
		.from_ns = 10200,
		.to_ns = 10300,
		.cpu = 1,
		.reason = MG_LOST_RING_FULL};
	feed(&c, &e);
	core_finish(&c);
	show_facts_header(&s);
	fclose(s.to);
	feed_end(&c);
	return text;
}

static int count(const char *from, const char *to, char what)
{
	int n = 0;

	for (; from < to; from++)
		n += *from == what;
	return n;
}

static void each_row_has_the_columns_of_the_header(void **unused)
{
	(void)unused;
	for (int i = 0; i < FACTS; i++) {
		const char *line = shown(&fact_table[i]), *end = strchr(line, '\n');
		int tabs;

		assert_non_null(end);
		tabs = count(line, end, '\t');
		assert_int_equal(count(line, end, ':'), tabs + 1);
		for (line = end + 1; *line; line = end + 1) {
			end = strchr(line, '\n');
			assert_non_null(end);
			assert_int_equal(count(line, end, '\t'), tabs);
		}
	}
}

/* A ring that was full lost events of any kind. */
static void missing_events_are_named(void **unused)
{
	(void)unused;
	assert_non_null(strstr(shown(fact_by_name("flow")), "sys_enter,sys_exit,"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(each_row_has_the_columns_of_the_header, teardown),
		cmocka_unit_test_teardown(missing_events_are_named, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
