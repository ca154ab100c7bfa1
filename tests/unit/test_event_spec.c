/* SPDX-License-Identifier: MIT */
#include "event_spec.h"
#include "unit.h"

static void assert_spec(const char *text, const char *category, const char *name,
	const char *filter, const char *fields)
{
	const char *expected[] = {category, name, filter, fields};
	struct event_spec s;
	const char *got[4];

	assert_null(spec_parse(text, &s));
	memcpy(got, (const char *[]){s.category, s.name, s.filter, s.fields}, sizeof(got));
	for (size_t i = 0; i < COUNT(got); i++) {
		if (expected[i])
			assert_string_equal(got[i], expected[i]);
		else
			assert_null(got[i]);
	}
	spec_free(&s);
}

static void an_event_is_a_category_and_a_name(void **unused)
{
	(void)unused;
	assert_spec("napi:napi_poll", "napi", "napi_poll", NULL, NULL);
	assert_spec("x86-fpu_1:a-b", "x86-fpu_1", "a-b", NULL, NULL);
}

static void fields_follow_the_second_colon(void **unused)
{
	(void)unused;
	assert_spec("napi:napi_poll:work", "napi", "napi_poll", NULL, "work");
	assert_spec("napi:napi_poll:budget,work,dev_name", "napi", "napi_poll", NULL,
		"budget,work,dev_name");
}

static void a_filter_ends_with_the_last_slash(void **unused)
{
	(void)unused;
	assert_spec("irq:irq_handler_entry/irq==24/", "irq", "irq_handler_entry", "irq==24", NULL);
	assert_spec("skb:kfree_skb/reason>2/:reason,protocol", "skb", "kfree_skb", "reason>2",
		"reason,protocol");
	assert_spec("a:b/filename ~ \"/usr/bin/*\" && x == \":\"/:c", "a", "b",
		"filename ~ \"/usr/bin/*\" && x == \":\"", "c");
}

static void a_name_may_be_a_pattern(void **unused)
{
	struct event_spec s;

	(void)unused;
	assert_null(spec_parse("tcp:tcp_[rs]*:sport", &s));
	assert_true(spec_is_pattern(&s));
	spec_free(&s);
	assert_null(spec_parse("tcp:tcp_probe/saddr == \"*\"/", &s));
	assert_false(spec_is_pattern(&s));
	spec_free(&s);
}

static void anything_else_is_refused(void **unused)
{
	static const char *const bad[] = {"", ":", "napi", "napi:", ":napi_poll",
		"napi:napi_poll:", "napi:napi_poll:,", "napi:napi_poll:a,", "napi:napi_poll:,a",
		"napi:napi_poll:a,,b", "napi:napi_poll:a:b", "napi:napi_poll:a b",
		"na pi:napi_poll", "*:napi_poll", "napi:napi_poll/", "napi:napi_poll//",
		"napi:napi_poll/a>0", "napi:napi_poll/a>0/b",
		"napi:napi_poll/a>0/:", "napi:../napi_poll", "../napi:x", "napi:/a/",
		"napi:napi_poll:a,b,a", "napi:napi_poll:a,a"};
	struct event_spec s;

	(void)unused;
	for (size_t i = 0; i < COUNT(bad); i++) {
		if (!spec_parse(bad[i], &s))
			fail_msg("'%s' was taken", bad[i]);
		assert_null(s.category);
	}
}

static void a_field_that_begins_like_another_is_another(void **unused)
{
	(void)unused;
	assert_spec("a:b:work,wor,works", "a", "b", NULL, "work,wor,works");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_event_is_a_category_and_a_name),
		cmocka_unit_test(fields_follow_the_second_colon),
		cmocka_unit_test(a_filter_ends_with_the_last_slash),
		cmocka_unit_test(a_name_may_be_a_pattern),
		cmocka_unit_test(anything_else_is_refused),
		cmocka_unit_test(a_field_that_begins_like_another_is_another),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
