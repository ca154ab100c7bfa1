/* SPDX-License-Identifier: MIT */
#include "option_table.h"

#include <errno.h>

#include "recorder_options.h"
#include "unit.h"

static struct recorder_options o;
static struct option_list words;

static int setup(void **unused)
{
	(void)unused;
	recorder_options_init(&o);
	return 0;
}

static int teardown(void **unused)
{
	(void)unused;
	recorder_options_free(&o);
	option_list_free(&words);
	return 0;
}

/* Parses a line, whose words are separated by spaces, as a command would. */
static int parse(unsigned int command, const char *line)
{
	const struct option_command c = {.usage = "",
		.rows = recorder_option_rows,
		.count = recorder_option_count,
		.command = command,
		.command_follows = true,
		.collect = MG_TO_TRACER};
	static char text[300], name[] = "test";
	char *argv[40] = {name};
	int argc = 1;

	snprintf(text, sizeof(text), "%s", line);
	for (char *word = strtok(text, " "); word; word = strtok(NULL, " "))
		argv[argc++] = word;
	return options_parse(&c, argc, argv, &o, &words);
}

static const char *printed(const char *name)
{
	static char text[300];
	const struct option_row *row =
		option_find(recorder_option_rows, recorder_option_count, name);

	assert_non_null(row);
	option_text(row, &o, text, sizeof(text));
	return text;
}

static void each_option_has_a_name_and_a_letter_of_its_own(void **unused)
{
	(void)unused;
	for (size_t i = 0; i < recorder_option_count; i++) {
		const struct option_row *row = &recorder_option_rows[i];

		assert_true(strncmp(row->option, "--", 2) == 0 && row->doc[0] && row->commands);
		for (size_t k = 0; k < i; k++) {
			assert_string_not_equal(row->option, recorder_option_rows[k].option);
			assert_true(!row->letter || row->letter != recorder_option_rows[k].letter);
			assert_true(row->at != recorder_option_rows[k].at);
		}
	}
}

/* The tracer would refuse the command line that magnet record makes. */
static void options_handed_to_the_tracer_are_its_own(void **unused)
{
	(void)unused;
	for (size_t i = 0; i < recorder_option_count; i++) {
		const struct option_row *row = &recorder_option_rows[i];

		if (row->use & MG_TO_TRACER)
			assert_int_equal(row->commands, MG_BOTH);
		if (row->use & MG_SETTABLE)
			assert_true(row->commands & MG_TRACER);
		if (row->use & MG_FILTER)
			assert_true(row->type->is_list);
		if (row->use & MG_TO_APP) /* record_options.c copies such values only */
			assert_true(row->type == &option_type_flag ||
				    row->type == &option_type_text ||
				    row->type == &option_type_functions);
	}
}

static void values_of_each_type_are_stored(void **unused)
{
	(void)unused;
	assert_int_equal(
		parse(MG_RECORD, "-o there -d 7 --buffer=2M --layers tcp --level light --waits "
				 "--rotate 30s --event a:b --event c:d --calls send,recv -- x -q"),
		0);
	assert_string_equal(o.output, "there");
	assert_int_equal(o.drain, 7);
	assert_int_equal(o.buffer, 2 << 20);
	assert_int_equal(o.layers, 1u << MG_LAYER_TCP);
	assert_int_equal(o.level, 1);
	assert_true(o.waits && !o.quiet);
	assert_int_equal(o.rotate.ns, 30000000000);
	assert_int_equal(o.event.count, 2);
	assert_string_equal(o.event.text[1], "c:d");
	assert_null(o.event.text[2]);
	assert_string_equal(o.calls, "send,recv");
}

static void values_are_printed_as_they_are_taken(void **unused)
{
	static const char *const rows[][3] = {
		{"--drain 7", "drain", "7"},
		{"--layers ip,tcp", "layers", "tcp,ip"},
		{"--layers none", "layers", "none"},
		{"--level full", "level", "full"},
		{"--max-size 64K", "max-size", "65536"},
		{"--flight 30s", "flight", "30s"},
		{"--flight 1M", "flight", "1048576"},
		{"--duration 1.5", "duration", "1500ms"},
		{"--duration 120s", "duration", "2m"},
		{"--cgroup /", "cgroup", "/"},
		{"--pid 1,2 -p 3", "pid", "1,2,3"},
		{"--control-fd 0", "control-fd", "0"},
		{"--all", "all", "yes"},
	};

	(void)unused;
	for (size_t i = 0; i < COUNT(rows); i++) {
		recorder_options_init(&o);
		if (strcmp(rows[i][1], "layers") != 0 && strcmp(rows[i][1], "level") != 0)
			assert_string_equal(printed(rows[i][1]), "");
		assert_int_equal(parse(MG_TRACER, rows[i][0]), 0);
		assert_string_equal(printed(rows[i][1]), rows[i][2]);
	}
}

static void options_for_the_tracer_are_collected_as_given(void **unused)
{
	static const char *const expected[] = {"--drain", "5", "--anonymize", "--port", "80",
		"--max-size", "64K", "--port", "443"};

	(void)unused;
	assert_int_equal(
		parse(MG_RECORD, "-o d -d5 --anonymize --port=80 --waits --max 64K --duration 3 "
				 "--port 443"),
		0);
	assert_int_equal(words.count, COUNT(expected));
	for (size_t i = 0; i < COUNT(expected); i++)
		assert_string_equal(words.text[i], expected[i]);
	assert_null(words.text[COUNT(expected)]);
}

static void a_command_takes_its_own_options_only(void **unused)
{
	(void)unused;
	assert_int_equal(parse(MG_TRACER, "--quiet"), -EINVAL);
	assert_int_equal(parse(MG_TRACER, "-q"), -EINVAL);
	assert_int_equal(parse(MG_RECORD, "--fresh"), -EINVAL);
	assert_int_equal(parse(MG_RECORD, "--version"), -EINVAL);
	assert_int_equal(parse(MG_TRACER, "--fresh"), 0);
}

static void wrong_values_are_refused(void **unused)
{
	static const char *const bad[] = {"--drain 0", "--drain 10001", "-d", "--drain= 5",
		"--pid 0", "--pid 1,", "--pid 1,x", "--pid ,", "--buffer 4095", "--buffer 513M",
		"--max-size 65535", "--rotate 1s1", "--rotate 65535", "--flight 1023K", "--keep 0",
		"--duration 1000001", "--duration 0", "--duration 0.5ms", "--duration 1e",
		"--duration 0x5", "--duration 5m1", "--duration -1", "--rotate 0.5s",
		"--layers wire", "--level 2", "--calls nonsense", "--all=1", "--nothing", "-x",
		"--control-fd -1"};

	(void)unused;
	for (size_t i = 0; i < COUNT(bad); i++)
		assert_int_equal(parse(MG_BOTH, bad[i]), -EINVAL);
}

static void nothing_is_read_behind_help_and_version(void **unused)
{
	(void)unused;
	assert_int_equal(parse(MG_TRACER, "--version --nothing"), 1);
	assert_true(o.version);
}

static void options_that_exclude_each_other_are_refused(void **unused)
{
	static const char *const bad[] = {"--keep 2", "--keep 2 --rotate 1M --max-size 1M",
		"--flight 1M --rotate 1M", "--flight 2s --max-size 1M", "--pid 1 --all",
		"--all --cgroup /"};

	(void)unused;
	for (size_t i = 0; i < COUNT(bad); i++) {
		recorder_options_init(&o);
		assert_int_equal(parse(MG_BOTH, bad[i]), 0);
		assert_int_equal(recorder_options_check(&o, false), -EINVAL);
	}
	recorder_options_init(&o);
	assert_int_equal(parse(MG_BOTH, "--keep 2 --rotate 1M"), 0);
	assert_int_equal(recorder_options_check(&o, true), 0);
	assert_int_equal(parse(MG_BOTH, "--all"), 0);
	assert_int_equal(recorder_options_check(&o, true), -EINVAL);
}

/* As a terminal of 80 columns shows it. */
static void help_fits_its_lines(void **unused)
{
	const struct option_command c = {
		.rows = recorder_option_rows, .count = recorder_option_count, .command = MG_BOTH};
	char *text = NULL, *line;
	size_t size;
	FILE *f = open_memstream(&text, &size);

	(void)unused;
	options_help(&c, f);
	fclose(f);
	assert_non_null(strstr(text, "  -o, --output DIR  "));
	assert_non_null(strstr(text, "\n      --app-only  "));
	for (line = strtok(text, "\n"); line; line = strtok(NULL, "\n"))
		assert_true(strlen(line) <= 80);
	free(text);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(each_option_has_a_name_and_a_letter_of_its_own),
		TEST(options_handed_to_the_tracer_are_its_own),
		TEST(values_of_each_type_are_stored),
		TEST(values_are_printed_as_they_are_taken),
		TEST(options_for_the_tracer_are_collected_as_given),
		TEST(a_command_takes_its_own_options_only),
		TEST(wrong_values_are_refused),
		TEST(nothing_is_read_behind_help_and_version),
		TEST(options_that_exclude_each_other_are_refused),
		TEST(help_fits_its_lines),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
