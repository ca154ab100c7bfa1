/* SPDX-License-Identifier: MIT */
/* Times and sizes of writes, for applications of ns-3. */
#include "export/ns3.h"

#include <unistd.h>

#include "export_scene.h"

static void assert_text(const struct scene *s, const char *file, const char *is)
{
	char *text = scene_text(s, file);

	assert_string_equal(text, is);
	free(text);
}

static void writes_are_what_ns3_reads(void **unused)
{
	static struct scene s;

	(void)unused;
	scene_begin(&s, "out", ns3_begin);
	scene_feed(&s);
	assert_true(scene_write(&s, ns3_end));
	/* in ms, from 1 on; 2.999 ms lie between them */
	assert_text(&s, "1-tx.udp", "1 P 1 300\n2 P 4 200\n");
	assert_text(&s, "1-tx.csv", "300,0.002999000\n200,0.000000000\n");
	assert_text(&s, "flows.tsv",
		"flow\tprotocol\tprogram\tlocal\tremote\tstart_s\twrites\tbytes\n"
		"1-tx\ttcp\t" AWKWARD_WORDS "\t\t\t0.000000000\t2\t500\n");
	scene_end(&s);
}

static void writes_are_needed(void **unused)
{
	static struct scene s;

	(void)unused;
	scene_begin(&s, "out", ns3_begin);
	assert_false(scene_write(&s, ns3_end));
	assert_begins(s.e.why, "no call that sends has a flow here");
	assert_false(scene_is_there(&s));
	scene_end(&s);
}

/* The first file fits, the next one does not: nothing is left. */
static void a_full_disk_is_told(void **unused)
{
	static struct scene s;

	(void)unused;
	for (unsigned int room = 1; room < 90; room++) {
		scene_begin(&s, "out", ns3_begin);
		scene_feed(&s);
		scene_limit_files(room);
		assert_false(scene_write(&s, ns3_end));
		scene_limit_files(0);
		assert_non_null(strstr(s.e.why, ": File too large"));
		assert_false(scene_is_there(&s));
		scene_end(&s);
	}
}

static void a_directory_that_was_made_in_vain_is_removed(void **unused)
{
	static struct scene s;

	(void)unused;
	scene_begin(&s, "out", ns3_begin);
	scene_feed(&s);
	core_finish(&s.c);
	assert_false(ns3_end(&s.e, false));
	assert_false(scene_is_there(&s));
	scene_end(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(writes_are_what_ns3_reads),
		cmocka_unit_test(writes_are_needed),
		cmocka_unit_test(a_full_disk_is_told),
		cmocka_unit_test(a_directory_that_was_made_in_vain_is_removed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
