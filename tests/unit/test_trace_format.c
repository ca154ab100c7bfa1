/* SPDX-License-Identifier: MIT */
/* Which of magnet's traces are read, and the line that refuses others. */
#include "ctf.h"
#include "events.h"
#include "read/format.h"
#include "read/metadata.h"
#include "trace_file.h"
#include "unit.h"

#include <stdlib.h>
#include <string.h>

static void the_format_is_found_in_the_metadata(void **unused)
{
	struct metadata_facts facts;

	(void)unused;
	metadata_look(&facts, "env {\n\ttracer_name = \"libmagnet\";\n\ttracer_version = \"0.9\";\n"
			      "\ttrace_format = 12;\n};\n");
	assert_int_equal(facts.format, 12);
	assert_string_equal(facts.version, "0.9");
	metadata_look(&facts, "env {\n  trace_format=7;\n};\nevent { name = \"trace_format\"; };");
	assert_int_equal(facts.format, 7);
}

static void a_trace_without_it_is_of_the_first_format(void **unused)
{
	struct metadata_facts facts;

	(void)unused;
	metadata_look(
		&facts, "env {\n\ttracer_name = \"libmagnet\";\n};\nevent { trace_format = 2; };");
	assert_int_equal(facts.format, TRACE_FORMAT_FIRST);
	assert_string_equal(facts.version, "");
}

static void written_traces_have_the_format_that_is_read(void **unused)
{
	char *dir = trace_dir_make(), why[1024];
	struct metadata_facts facts;
	struct ctf_writer *w;
	size_t size;
	char *text;

	(void)unused;
	assert_int_equal(ctf_open(&w, dir, CTF_KERNEL, 1), 0);
	assert_int_equal(ctf_close(w), 0);
	text = metadata_text(dir, &size, why, sizeof(why));
	assert_non_null(text);
	metadata_look(&facts, text);
	assert_int_equal(facts.format, MG_TRACE_FORMAT);
	free(text);
	trace_dir_remove(dir);
}

static void others_are_refused_in_one_line(void **unused)
{
	char why[1024] = "";

	(void)unused;
	assert_true(trace_format_is_read(MG_TRACE_FORMAT, "t", "1.0", why, sizeof(why)));
	assert_string_equal(why, "");
	assert_false(trace_format_is_read(1, "t/kernel", "0.1.0", why, sizeof(why)));
	assert_string_equal(why, "t/kernel: trace format 1, and this magnet reads 3: record again, "
				 "or read it with the magnet that wrote it, version 0.1.0");
	assert_false(trace_format_is_read(4, "t/app", "", why, sizeof(why)));
	assert_string_equal(why, "t/app: trace format 4, and this magnet reads 3: read it with a "
				 "magnet as new as the one that wrote it");
}

static void traces_of_ctf_2_are_told_by_their_first_byte(void **unused)
{
	static const char text[] =
		"\x1e{\"type\":\"preamble\",\"version\":2}\n\x1e{\"type\":\"trace-class\","
		"\"environment\":{\"domain\":\"ust\",\"tracer_name\": \"lttng-ust\"}}\n";
	struct metadata_facts facts;

	(void)unused;
	assert_true(metadata_is_ctf2(text, sizeof(text) - 1));
	assert_false(metadata_is_ctf2("/* CTF 1.8 */", 13));
	assert_false(metadata_is_ctf2("", 0));
	metadata_look(&facts, text);
	assert_true(facts.is_lttng);
	assert_false(facts.is_own);
}

static void ctf_2_needs_babeltrace_2_1(void **unused)
{
	char why[300] = "";

	(void)unused;
	assert_true(ctf2_is_read(2, 1, "t", why, sizeof(why)));
	assert_true(ctf2_is_read(3, 0, "t", why, sizeof(why)));
	assert_false(ctf2_is_read(2, 0, "t", why, sizeof(why)));
	assert_non_null(strstr(why, "from version 2.1 on, and this is 2.0: install a newer"));
	assert_null(strchr(why, '\n'));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_format_is_found_in_the_metadata),
		cmocka_unit_test(a_trace_without_it_is_of_the_first_format),
		cmocka_unit_test(written_traces_have_the_format_that_is_read),
		cmocka_unit_test(others_are_refused_in_one_line),
		cmocka_unit_test(traces_of_ctf_2_are_told_by_their_first_byte),
		cmocka_unit_test(ctf_2_needs_babeltrace_2_1),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
