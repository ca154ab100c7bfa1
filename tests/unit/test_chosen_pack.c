/* SPDX-License-Identifier: MIT */
#include "events/chosen_pack.h"
#include "unit.h"

static uint8_t record[64], out[256];

static void put32(size_t at, uint32_t value)
{
	memcpy(record + at, &value, sizeof(value));
}

/* Returns how a field records the position of `size` bytes in the record. */
static uint32_t located(size_t size, size_t at)
{
	return (uint32_t)(size << 16 | at);
}

static int setup(void **unused)
{
	(void)unused;
	memset(record, 0xee, sizeof(record));
	memset(out, 0x77, sizeof(out));
	return 0;
}

static size_t pack(struct event_field *field, size_t count, size_t record_size, size_t room)
{
	struct event_format f = {.field = field, .count = count};

	assert_in_range(format_least(&f), 0, room);
	return format_pack(&f, record, record_size, out, room);
}

static void fields_stand_in_the_order_asked_for(void **unused)
{
	struct event_field f[] = {
		{.offset = 12, .size = 4, .element = 4},
		{.offset = 8, .size = 2, .element = 2},
		{.offset = 16, .size = 8, .element = 8},
	};

	(void)unused;
	for (size_t i = 0; i < sizeof(record); i++)
		record[i] = (uint8_t)i;
	assert_int_equal(pack(f, COUNT(f), sizeof(record), sizeof(out)), 14);
	assert_memory_equal(
		out, ((uint8_t[]){12, 13, 14, 15, 8, 9, 16, 17, 18, 19, 20, 21, 22, 23, 0x77}), 15);
}

static void strings_end_with_a_nul(void **unused)
{
	struct event_field f[] = {{.offset = 8, .size = 4, .kind = FIELD_STRING, .element = 1},
		{.offset = 12, .size = 1, .element = 1}};

	(void)unused;
	record[12] = 9;
	memcpy(record + 20, "eth0\0left over", 15);
	put32(8, located(15, 20));
	assert_int_equal(pack(f, 2, sizeof(record), sizeof(out)), 6);
	assert_memory_equal(out, "eth0\0\x09\x77", 7);
	/* even where the kernel left none */
	put32(8, located(3, 20));
	assert_int_equal(pack(f, 2, sizeof(record), sizeof(out)), 5);
	assert_memory_equal(out, "eth\0\x09", 5);
	put32(8, 0);
	assert_int_equal(pack(f, 2, sizeof(record), sizeof(out)), 2);
	assert_memory_equal(out, "\0\x09", 2);
}

/* The kernel's own record may hold anything behind the end of a name, even an address. */
static void nothing_behind_a_text_is_kept(void **unused)
{
	struct event_field f[] = {{.offset = 8, .size = 16, .kind = FIELD_TEXT, .element = 1},
		{.offset = 24, .size = 4, .kind = FIELD_TEXT, .element = 1}};

	(void)unused;
	memcpy(record + 8, "sh\0from 10.1.2.3", 16);
	memcpy(record + 24, "full", 4);
	assert_int_equal(pack(f, 2, sizeof(record), sizeof(out)), 20);
	assert_memory_equal(out, "sh\0\0\0\0\0\0\0\0\0\0\0\0\0\0full", 20);
}

static void relative_position_counts_from_the_field(void **unused)
{
	struct event_field f = {
		.offset = 8, .size = 4, .kind = FIELD_STRING, .element = 1, .relative = true};

	(void)unused;
	memcpy(record + 20, "lo", 3);
	put32(8, located(3, 8));
	assert_int_equal(pack(&f, 1, sizeof(record), sizeof(out)), 3);
	assert_string_equal((char *)out, "lo");
}

static void sequences_begin_with_their_length(void **unused)
{
	struct event_field f = {.offset = 8, .size = 4, .kind = FIELD_SEQUENCE, .element = 4};

	(void)unused;
	put32(8, located(11, 16)); /* two elements and a rest */
	put32(16, 5);
	put32(20, 6);
	assert_int_equal(pack(&f, 1, sizeof(record), sizeof(out)), 12);
	assert_memory_equal(out, ((uint32_t[]){2, 5, 6}), 12);
}

static void nothing_outside_the_record_is_read(void **unused)
{
	static const uint8_t zeros[8];
	struct event_field f[] = {{.offset = 8, .size = 4, .kind = FIELD_STRING, .element = 1},
		{.offset = 12, .size = 4, .kind = FIELD_SEQUENCE, .element = 1},
		{.offset = 60, .size = 8, .element = 8}};

	(void)unused;
	put32(8, located(2, 63));
	put32(12, located(1, 65535));
	assert_int_equal(pack(f, 3, sizeof(record), sizeof(out)), 1 + 4 + 8);
	assert_int_equal(out[0], 0);
	assert_memory_equal(out + 1, zeros, 4);
	assert_memory_equal(out + 5, zeros, 8);
	/* a record that ends before its fields */
	assert_int_equal(pack(f, 3, 6, sizeof(out)), 1 + 4 + 8);
	assert_memory_equal(out + 5, zeros, 8);
}

static void fields_are_cut_to_the_room(void **unused)
{
	struct event_field f[] = {{.offset = 8, .size = 4, .kind = FIELD_STRING, .element = 1},
		{.offset = 8, .size = 4, .kind = FIELD_SEQUENCE, .element = 2},
		{.offset = 20, .size = 4, .element = 4}};

	(void)unused;
	memcpy(record + 20, "0123456789", 10);
	put32(8, located(10, 20));
	assert_int_equal(pack(f, 3, sizeof(record), 1 + 4 + 4 + 13), 10 + 1 + 4 + 2 + 4);
	assert_memory_equal(out, "0123456789", 11);
	assert_memory_equal(out + 11, ((uint8_t[]){1, 0, 0, 0, '0', '1'}), 6);
	assert_int_equal(pack(f, 3, sizeof(record), 1 + 4 + 4), 9);
	assert_memory_equal(out, ((uint8_t[]){0, 0, 0, 0, 0, '0', '1', '2', '3'}), 9);
}

static void metadata_describes_what_is_packed(void **unused)
{
	struct event_field f[] = {{.name = "a", .size = 2, .element = 2, .is_signed = true},
		{.name = "p", .size = 8, .element = 8, .hex = true},
		{.name = "t", .size = 16, .kind = FIELD_TEXT, .element = 1},
		{.name = "n", .size = 12, .kind = FIELD_ARRAY, .element = 4},
		{.name = "s", .size = 4, .kind = FIELD_STRING, .element = 1},
		{.name = "q", .size = 4, .kind = FIELD_SEQUENCE, .element = 8}};
	struct event_format format = {.field = f, .count = COUNT(f)};
	char *text = NULL;
	size_t size;
	FILE *to = open_memstream(&text, &size);

	(void)unused;
	assert_non_null(to);
	format_describe(&format, to, 1030, "net", "event");
	fclose(to);
	assert_string_equal(text,
		"event {\n\tname = \"net:event\";\n\tid = 1030;\n\tstream_id = 0;\n"
		"\tfields := struct {\n"
		"\t\tinteger { size = 16; align = 8; signed = true; } _a;\n"
		"\t\tinteger { size = 64; align = 8; signed = false; base = x; } _p;\n"
		"\t\tutf8 _t[16];\n"
		"\t\tinteger { size = 32; align = 8; signed = false; } _n[3];\n"
		"\t\tstring { encoding = UTF8; } _s;\n"
		"\t\tu32 _q_length;\n"
		"\t\tinteger { size = 64; align = 8; signed = false; } _q[_q_length];\n"
		"\t};\n};\n");
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(fields_stand_in_the_order_asked_for, setup),
		cmocka_unit_test_setup(strings_end_with_a_nul, setup),
		cmocka_unit_test_setup(nothing_behind_a_text_is_kept, setup),
		cmocka_unit_test_setup(relative_position_counts_from_the_field, setup),
		cmocka_unit_test_setup(sequences_begin_with_their_length, setup),
		cmocka_unit_test_setup(nothing_outside_the_record_is_read, setup),
		cmocka_unit_test_setup(fields_are_cut_to_the_room, setup),
		cmocka_unit_test(metadata_describes_what_is_packed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
