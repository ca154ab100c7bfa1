/* SPDX-License-Identifier: MIT */
#include "filter_options.h"

#include <string.h>

#include "event_table.h"
#include "filter/text.h"
#include "options.h"
#include "unit.h"

struct values {
	struct filter filter;
};
static struct values v;

static int parse(const char *line)
{
	static const struct option_row rows[] = {
		FILTER_ROWS(struct values), FILTER_EVENT_ROWS(struct values)};
	const struct option_command c = {.usage = "",
		.rows = rows,
		.count = sizeof(rows) / sizeof(rows[0]),
		.command = OPTION_ONLY_COMMAND};
	static char text[300], name[] = "test";
	char *argv[40] = {name};
	int argc = 1;

	memset(&v, 0, sizeof(v));
	snprintf(text, sizeof(text), "%s", line);
	for (char *word = strtok(text, " "); word; word = strtok(NULL, " "))
		argv[argc++] = word;
	return options_parse(&c, argc, argv, &v, NULL);
}

/* Parses a line, and checks how it is understood. */
static void reads(const char *line, const char *understood)
{
	char text[FILTER_TEXT];

	assert_int_equal(parse(line), 0);
	filter_text(&v.filter, text, sizeof(text));
	assert_string_equal(text, understood);
}

static void refused(const char *line, const char *with)
{
	assert_true(parse(line) < 0);
	assert_non_null(strstr(option_takes(), with));
}

static void lists_are_joined(void **unused)
{
	(void)unused;
	reads("--port 80,443 --port 8080", "--port 80,443,8080");
	reads("--process 12,nginx --thread 7", "--process 12,nginx --thread 7");
	reads("--protocol tcp,unix", "--protocol tcp,unix_stream,unix_dgram,unix_seqpacket");
	reads("--layer tcp --event drop,tcp_send --layer ip",
		"--layer tcp,ip --event tcp_send,drop");
	reads("--event sched:sched_switch", "--event sched:sched_switch");
	reads("", "");
}

static void a_peer_may_have_a_port_or_a_prefix(void **unused)
{
	(void)unused;
	reads("--peer 10.0.0.7", "--peer 10.0.0.7");
	reads("--peer 10.0.0.7:80", "--peer 10.0.0.7:80");
	reads("--peer 10.1.2.3/8,fd00::/8", "--peer 10.0.0.0/8,fd00::/8");
	reads("--peer [fd00::1]:80,fd00::1,[fd00::2]", "--peer [fd00::1]:80,fd00::1,fd00::2");
	assert_int_equal(v.filter.peer.of[0].port, 80);
	refused("--peer 10.0.0", "10.0.0.0/8");
	refused("--peer 10.0.0.1:", "10.0.0.7:80");
	refused("--peer [fd00::1]x", "[fd00::1]:80");
	refused("--peer 10.0.0.1:70000", "10.0.0.7:80");
}

static void times_have_units(void **unused)
{
	(void)unused;
	reads("--from 10s --to 0.5", "--from 10s --to 500ms");
	assert_false(filter_is_valid(&v.filter));
	reads("--from 250ms --to 2", "--from 250ms --to 2s");
	assert_true(filter_is_valid(&v.filter));
	assert_int_equal(v.filter.from_ns, 250000000);
	refused("--from -1", "10s");
	refused("--to 3x", "10s");
}

static void unknown_names_are_refused_with_those_there_are(void **unused)
{
	size_t count;
	const struct mg_event_desc *all = mg_event_table(&count);

	(void)unused;
	refused("--event nothing", "nothing");
	for (size_t i = 0; i < count; i++)
		assert_non_null(strstr(option_takes(), all[i].name));
	refused("--layer nothing", "netfilter");
	refused("--protocol nothing", "netlink");
	refused("--process 0", "nginx");
	refused("--thread x", "threads");
	refused("--port 0", "65535");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lists_are_joined),
		cmocka_unit_test(a_peer_may_have_a_port_or_a_prefix),
		cmocka_unit_test(times_have_units),
		cmocka_unit_test(unknown_names_are_refused_with_those_there_are),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
