/* SPDX-License-Identifier: MIT */
#include "run/selection.h"

#include <arpa/inet.h>

#include "calls.h"
#include "recorder_options.h"
#include "unit.h"

static struct mg_bpf_settings s;
static char why[300], text[300];

static int setup(void **unused)
{
	(void)unused;
	memset(&s, 0, sizeof(s));
	return 0;
}

static int set(const char *name, const char *value)
{
	why[0] = 0;
	return selection_set(&s, name, value, why, sizeof(why));
}

static const char *get(const char *name)
{
	selection_text(&s, name, text, sizeof(text));
	return text;
}

static void nothing_is_filtered_at_first(void **unused)
{
	(void)unused;
	for (size_t i = 0; i < recorder_option_count; i++) {
		const struct option_row *row = &recorder_option_rows[i];

		assert_int_equal(selection_is(option_row_name(row)), (row->use & MG_FILTER) != 0);
		if (row->use & MG_FILTER)
			assert_string_equal(get(option_row_name(row)), "any");
	}
	assert_int_equal(s.active, 0);
}

static void settings_are_reported(void **unused)
{
	static const struct {
		const char *name, *value, *told;
	} rows[] = {
		{"port", "80,443", "80,443"},
		{"port", "65535", "65535"},
		{"protocol", "udp,tcp", "tcp,udp"},
		{"protocol", "icmp", "raw"},
		{"protocol", "unix", "unix_stream,unix_dgram,unix_seqpacket"},
		{"address", "10.1.2.3", "10.1.2.3/32"},
		{"address", "10.1.2.3/8", "10.0.0.0/8"},
		{"address", "0.0.0.0/0", "0.0.0.0/0"},
		{"address", "fd00::1/64,10.0.0.0/24", "fd00::/64,10.0.0.0/24"},
		{"address", "::/0", "::/0"},
		{"netns", "4026531833", "4026531833"},
		{"sample", "16", "16"},
		{"interface", "eth0", "eth0"},
	};

	(void)unused;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		memset(&s, 0, sizeof(s));
		assert_int_equal(set(rows[i].name, rows[i].value), 0);
		assert_string_equal(get(rows[i].name), rows[i].told);
		assert_int_equal(set(rows[i].name, "any"), 0);
		assert_string_equal(get(rows[i].name), "any");
		assert_int_equal(s.active, 0);
	}
}

static void a_wrong_value_changes_nothing(void **unused)
{
	static const char *const rows[][2] = {
		{"port", "0"},
		{"port", "65536"},
		{"port", "http"},
		{"port", "1,2,3,4,5,6,7,8,9"},
		{"port", ""},
		{"protocol", "sctp"},
		{"address", "10.0.0.0/33"},
		{"address", "fd00::/129"},
		{"address", "example.org"},
		{"address", "1.1.1.1,2.2.2.2,3.3.3.3,4.4.4.4,5.5.5.5"},
		{"netns", "no-such-namespace"},
		{"netns", "/etc/passwd"}, /* a file, but not of a namespace */
		{"netns", "/proc/self/ns/uts"},
		{"sample", "0"},
		{"sample", "1,2"},
		{"interface", "a-name-that-is-too-long"},
		{"colour", "red"},
	};
	struct mg_bpf_settings before;

	(void)unused;
	assert_int_equal(set("port", "22"), 0);
	before = s;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		assert_true(set(rows[i][0], rows[i][1]) < 0);
		assert_true(why[0] != 0);
		assert_memory_equal(&s, &before, sizeof(s));
	}
}

/* BPF compares a fixed number of entries. */
static void the_last_of_a_list_fills_it(void **unused)
{
	(void)unused;
	assert_int_equal(set("port", "80,443"), 0);
	assert_int_equal(s.ports[0], 80);
	for (int i = 1; i < MG_FILTER_PORTS; i++)
		assert_int_equal(s.ports[i], 443);
	assert_int_equal(set("address", "10.0.0.0/8"), 0);
	for (int i = 0; i < MG_FILTER_PREFIXES; i++) {
		assert_int_equal(s.prefix[i].addr[3], htonl(10u << 24));
		assert_int_equal(s.prefix[i].mask[3], htonl(255u << 24));
		assert_int_equal(s.prefix[i].mask[2], 0xffffffff);
	}
}

static int add(const char *name, const char *value)
{
	why[0] = 0;
	return selection_add(&s, name, value, why, sizeof(why));
}

static void a_list_given_again_is_added_to(void **unused)
{
	(void)unused;
	assert_int_equal(add("port", "80"), 0);
	assert_int_equal(add("port", "443,53"), 0);
	assert_string_equal(get("port"), "80,443,53");
	assert_int_equal(add("address", "10.0.0.0/8"), 0);
	assert_int_equal(add("address", "fd00::/64"), 0);
	assert_string_equal(get("address"), "10.0.0.0/8,fd00::/64");
	assert_int_equal(add("protocol", "icmp"), 0);
	assert_int_equal(add("protocol", "unix"), 0);
	assert_string_equal(get("protocol"), "unix_stream,unix_dgram,unix_seqpacket,raw");
	assert_int_equal(add("sample", "4"), 0);
	assert_int_equal(add("sample", "8"), 0);
	assert_string_equal(get("sample"), "8"); /* no list */
	assert_true(add("port", "1,2,3,4,5,6") < 0);
	assert_string_equal(get("port"), "80,443,53");
	assert_int_equal(add("port", "any"), 0);
	assert_string_equal(get("port"), "any");
}

static void a_path_of_a_namespace_is_one(void **unused)
{
	(void)unused;
	assert_int_equal(set("netns", "/proc/self/ns/net"), 0);
	assert_true(s.netns[0] != 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(nothing_is_filtered_at_first, setup),
		cmocka_unit_test_setup(settings_are_reported, setup),
		cmocka_unit_test_setup(a_wrong_value_changes_nothing, setup),
		cmocka_unit_test_setup(the_last_of_a_list_fills_it, setup),
		cmocka_unit_test_setup(a_list_given_again_is_added_to, setup),
		cmocka_unit_test_setup(a_path_of_a_namespace_is_one, setup),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
