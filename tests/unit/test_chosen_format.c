/* SPDX-License-Identifier: MIT */
/* Format files as kernels write them, with the oddest fields they have. */
#include <errno.h>

#include "events/chosen_format.h"
#include "unit.h"

#define HEAD                                                                           \
	"name: event\nID: 321\nformat:\n"                                              \
	"\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"         \
	"\tfield:unsigned char common_flags;\toffset:2;\tsize:1;\tsigned:0;\n"         \
	"\tfield:unsigned char common_preempt_count;\toffset:3;\tsize:1;\tsigned:0;\n" \
	"\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n"
#define FIELD(declaration, offset, size, is_signed) \
	"\tfield:" declaration ";\toffset:" #offset ";\tsize:" #size ";\tsigned:" #is_signed ";\n"
#define TAIL "\nprint fmt: \"field:%d;\", REC->x\n"

static struct event_format format;

static const struct event_field *only(const char *text)
{
	assert_int_equal(format_parse(text, &format), 0);
	format_choose_all(&format, false);
	assert_int_equal(format.count, 1);
	return format.field;
}

/* Checks a field's kind; its name is "x". */
static void assert_kind(const char *text, enum field_kind kind, size_t size, size_t element)
{
	const struct event_field *f = only(text);

	assert_string_equal(f->name, "x");
	assert_int_equal(f->kind, kind);
	assert_int_equal(f->size, size);
	assert_int_equal(f->element, element);
	format_free(&format);
}

static void integers_are_of_four_sizes(void **unused)
{
	(void)unused;
	assert_kind(HEAD FIELD("bool x", 8, 1, 0) TAIL, FIELD_INTEGER, 1, 1);
	assert_kind(HEAD FIELD("unsigned short x", 8, 2, 0) TAIL, FIELD_INTEGER, 2, 2);
	assert_kind(HEAD FIELD("enum dma_data_direction x", 8, 4, 0) TAIL, FIELD_INTEGER, 4, 4);
	assert_kind(HEAD FIELD("xfs_ino_t x", 8, 8, 0) TAIL, FIELD_INTEGER, 8, 8);
	assert_true(only(HEAD FIELD("s64 x", 8, 8, 1) TAIL)->is_signed);
	format_free(&format);
}

static void pointers_are_hexadecimal(void **unused)
{
	(void)unused;
	assert_true(only(HEAD FIELD("struct napi_struct * x", 8, 8, 0) TAIL)->hex);
	format_free(&format);
	assert_true(only(HEAD FIELD("const char *const *x", 8, 8, 0) TAIL)->hex);
	format_free(&format);
	assert_false(only(HEAD FIELD("u64 x", 8, 8, 0) TAIL)->hex);
	format_free(&format);
}

/* Arguments occupy whole words, and the upper half of an int's word is undefined. */
static void arguments_of_system_calls_have_their_types_size(void **unused)
{
	const struct event_field *f = only(HEAD FIELD("int x", 16, 8, 0) TAIL);

	(void)unused;
	assert_int_equal(f->size, 4);
	assert_true(f->is_signed);
	format_free(&format);
	f = only(HEAD FIELD("unsigned int x", 16, 8, 0) TAIL);
	assert_int_equal(f->size, 4);
	assert_false(f->is_signed);
	format_free(&format);
	assert_kind(HEAD FIELD("size_t x", 16, 8, 0) TAIL, FIELD_INTEGER, 8, 8);
}

static void arrays_are_text_integers_or_bytes(void **unused)
{
	(void)unused;
	assert_kind(HEAD FIELD("char x[16]", 8, 16, 0) TAIL, FIELD_TEXT, 16, 1);
	assert_kind(HEAD FIELD("__u8 x[28]", 8, 28, 0) TAIL, FIELD_ARRAY, 28, 1);
	assert_kind(HEAD FIELD("__u8 x[sizeof(struct sockaddr_in6)]", 8, 28, 0) TAIL, FIELD_ARRAY,
		28, 1);
	assert_kind(HEAD FIELD("unsigned long x[6]", 8, 48, 0) TAIL, FIELD_ARRAY, 48, 8);
	assert_kind(HEAD FIELD("u32 x[2][3]", 8, 24, 0) TAIL, FIELD_ARRAY, 24, 4);
	assert_kind(HEAD FIELD("unsigned char x[1]", 8, 1, 0) TAIL, FIELD_ARRAY, 1, 1);
	assert_kind(HEAD FIELD("struct in6_addr x", 8, 16, 0) TAIL, FIELD_ARRAY, 16, 1);
	assert_kind(HEAD FIELD("struct odd x[3]", 8, 15, 0) TAIL, FIELD_ARRAY, 15, 1);
}

static void data_elsewhere_is_a_string_or_a_sequence(void **unused)
{
	(void)unused;
	assert_kind(HEAD FIELD("__data_loc char[] x", 8, 4, 0) TAIL, FIELD_STRING, 4, 1);
	assert_kind(HEAD FIELD("__data_loc u64[] x", 8, 4, 0) TAIL, FIELD_SEQUENCE, 4, 8);
	assert_kind(HEAD FIELD("__data_loc unsigned int[] x", 8, 4, 0) TAIL, FIELD_SEQUENCE, 4, 4);
	assert_kind(HEAD FIELD("__data_loc struct odd[] x", 8, 4, 0) TAIL, FIELD_SEQUENCE, 4, 1);
	assert_kind(HEAD FIELD("__data_loc cpumask_t x", 8, 4, 0) TAIL, FIELD_SEQUENCE, 4, 8);
	assert_true(only(HEAD FIELD("__rel_loc char[] x", 8, 4, 0) TAIL)->relative);
	format_free(&format);
}

static void an_array_without_end_is_left_out(void **unused)
{
	(void)unused;
	assert_kind(HEAD FIELD("int x", 8, 4, 1) FIELD("unsigned long rest[]", 16, 0, 0) TAIL,
		FIELD_INTEGER, 4, 4);
}

static void common_fields_are_kept_if_named(void **unused)
{
	(void)unused;
	assert_int_equal(format_parse(HEAD FIELD("int x", 8, 4, 1) TAIL, &format), 0);
	assert_int_equal(format.id, 321);
	assert_int_equal(format.count, 5);
	assert_null(format_choose(&format, "x,common_flags", false));
	assert_int_equal(format.count, 2);
	assert_string_equal(format.field[0].name, "x");
	assert_string_equal(format.field[1].name, "common_flags");
	format_free(&format);
}

static void a_field_that_is_not_there_is_told(void **unused)
{
	(void)unused;
	assert_int_equal(format_parse(HEAD FIELD("int work", 8, 4, 1) TAIL, &format), 0);
	assert_string_equal(format_choose(&format, "work,wor", false), "wor");
	assert_string_equal(format_choose(&format, "works,work", false), "works,work");
	assert_null(format_choose(&format, "works,work", true));
	assert_int_equal(format.count, 1);
	format_free(&format);
}

static void addresses_go_with_anonymize(void **unused)
{
	(void)unused;
	assert_int_equal(format_parse(HEAD FIELD("__u16 sport", 8, 2, 0) FIELD("__u8 saddr[4]", 10,
					      4, 0) FIELD("void * skaddr", 16, 8, 0) TAIL,
				 &format),
		0);
	format_choose_all(&format, true);
	assert_int_equal(format.count, 1);
	assert_string_equal(format.field[0].name, "skaddr");
	format_free(&format);
}

static void invalid_format_is_refused(void **unused)
{
	static const char *const bad[] = {"", "name: x\n", HEAD "\tfield:int x\n",
		HEAD "\tfield:int x;\toffset:8;\n",
		HEAD "\tfield:;\toffset:8;\tsize:4;\tsigned:1;\n", HEAD FIELD("int x]", 8, 4, 1),
		HEAD FIELD("int x", 70000, 4, 1), HEAD FIELD("int x", 8, 70000, 1),
		HEAD FIELD("__data_loc char[] x", 8, 8, 0)};

	(void)unused;
	for (size_t i = 0; i < COUNT(bad); i++)
		assert_int_equal(format_parse(bad[i], &format), -EINVAL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(integers_are_of_four_sizes),
		cmocka_unit_test(pointers_are_hexadecimal),
		cmocka_unit_test(arguments_of_system_calls_have_their_types_size),
		cmocka_unit_test(arrays_are_text_integers_or_bytes),
		cmocka_unit_test(data_elsewhere_is_a_string_or_a_sequence),
		cmocka_unit_test(an_array_without_end_is_left_out),
		cmocka_unit_test(common_fields_are_kept_if_named),
		cmocka_unit_test(a_field_that_is_not_there_is_told),
		cmocka_unit_test(addresses_go_with_anonymize),
		cmocka_unit_test(invalid_format_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
