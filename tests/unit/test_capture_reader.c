/* SPDX-License-Identifier: MIT */
/* Captures in both byte orders are read as they were written; damaged ones are refused. */
#include "capture/reader.h"

#include "unit.h"

struct file {
	char *bytes;
	size_t size;
	FILE *to;
};

static void begin(struct file *f)
{
	f->to = open_memstream(&f->bytes, &f->size);
	assert_non_null(f->to);
}

static void add(struct file *f, struct block *b)
{
	block_finish(b);
	assert_true(block_write(b, f->to));
}

/* Makes a capture with an interface of milliseconds and one of 2^-10 s, and a packet of each. */
static void make(struct file *f, bool swapped)
{
	struct block b = {.swapped = swapped};
	const uint8_t milliseconds = 3, binary = 0x80 | 10;
	uint64_t offset = 100;

	begin(f);
	block_begin_section(&b);
	block_text(&b, OPTION_COMMENT, "a section");
	add(f, &b);
	block_begin_interface(&b, 1, 0);
	block_option(&b, OPTION_RESOLUTION, &milliseconds, 1);
	add(f, &b);
	block_begin_interface(&b, 101, 64);
	block_option(&b, OPTION_RESOLUTION, &binary, 1);
	offset = swapped ? __builtin_bswap64(offset) : offset;
	block_option(&b, OPTION_OFFSET, &offset, 8);
	add(f, &b);
	block_begin_packet(&b, 0, 12345, "abcde", 5, 1500);
	block_text(&b, OPTION_COMMENT, "first");
	add(f, &b);
	block_begin_packet(&b, 1, 1536, "ab", 2, 2);
	add(f, &b);
	block_free(&b);
	fclose(f->to);
}

static void opened(struct capture_reader *r, const struct file *f, size_t size)
{
	assert_int_equal(capture_open_stream(r, fmemopen(f->bytes, size, "rb")), 0);
}

/* Reads all of it. Returns what capture_next() or capture_packet() returned last. */
static int read_all(struct capture_reader *r)
{
	struct captured p;
	int got;

	while ((got = capture_next(r)) > 0)
		if (capture_packet(r, &p) < 0)
			return -1;
	return got;
}

static void packets_are_read_in_both_byte_orders(void **unused)
{
	(void)unused;
	for (int swapped = 0; swapped < 2; swapped++) {
		struct capture_reader r;
		struct captured p;
		struct file f;

		make(&f, swapped);
		opened(&r, &f, f.size);
		for (int i = 0; i < 3; i++) {
			assert_int_equal(capture_next(&r), 1);
			assert_int_equal(capture_packet(&r, &p), 0);
		}
		assert_int_equal(capture_next(&r), 1);
		assert_int_equal(capture_packet(&r, &p), 1);
		assert_true(p.has_time);
		assert_int_equal(p.ns, 12345000000ull);
		assert_int_equal(p.length, 5);
		assert_int_equal(p.original, 1500);
		assert_memory_equal(p.data, "abcde", 5);
		assert_int_equal(p.interface->link_type, 1);
		assert_int_equal(capture_next(&r), 1);
		assert_int_equal(capture_packet(&r, &p), 1);
		assert_int_equal(p.ns, 101500000000ull);
		assert_int_equal(p.interface->link_type, 101);
		assert_int_equal(capture_next(&r), 0);
		capture_close(&r);
		free(f.bytes);
	}
}

static void copies_keep_their_options(void **unused)
{
	(void)unused;
	for (int swapped = 0; swapped < 2; swapped++) {
		struct capture_reader r;
		struct captured p;
		struct block b = {0};
		struct file f;

		make(&f, swapped);
		opened(&r, &f, f.size);
		for (int i = 0; i < 4; i++)
			assert_int_equal(capture_next(&r), 1);
		assert_int_equal(capture_packet(&r, &p), 1);
		capture_copy(&r, &p, &b);
		block_finish(&b);
		assert_int_equal(b.n, r.size);
		assert_memory_equal(b.v, r.block, r.size);
		capture_copy(&r, &p, &b);
		block_text(&b, OPTION_COMMENT, "more");
		block_finish(&b);
		assert_int_equal(b.n, r.size + 8);
		block_free(&b);
		capture_close(&r);
		free(f.bytes);
	}
}

static void cut_files_are_refused(void **unused)
{
	struct file f;
	size_t whole = 0;

	(void)unused;
	make(&f, false);
	for (size_t size = 28; size < f.size; size++) {
		struct capture_reader r;
		int got;

		opened(&r, &f, size);
		got = read_all(&r);
		whole += got == 0; /* it ends between two blocks */
		assert_true(got == 0 || strstr(r.why, "ends within a block"));
		capture_close(&r);
	}
	assert_int_equal(whole, 4);
	free(f.bytes);
}

/* Every 32-bit word is set to what may do harm; whatever comes, reading ends. */
static void damaged_files_come_to_an_end(void **unused)
{
	static const uint32_t words[] = {
		0, 1, 3, 11, 0x7fffffff, 0xfffffffc, 0xffffffff, 0x04000004};

	(void)unused;
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		struct file f;

		make(&f, i & 1);
		for (size_t at = 4; at + 4 <= f.size; at += 4) {
			struct capture_reader r;
			uint32_t kept;

			memcpy(&kept, f.bytes + at, 4);
			memcpy(f.bytes + at, &words[i], 4);
			if (capture_open_stream(&r, fmemopen(f.bytes, f.size, "rb")) == 0)
				read_all(&r);
			capture_close(&r);
			memcpy(f.bytes + at, &kept, 4);
		}
		free(f.bytes);
	}
}

static void old_files_are_read(void **unused)
{
	static const uint32_t magics[] = {0xa1b2c3d4, 0xa1b23c4d, 0xd4c3b2a1};

	(void)unused;
	for (int i = 0; i < 3; i++) {
		uint32_t file[] = {
			magics[i], 2 | 4 << 16, 0, 0, 65535, 1, 7, 500, 4, 60, 0x64636261};
		struct file f = {(char *)file, sizeof(file), NULL};
		struct capture_reader r;
		struct captured p;

		if (i == 2)
			for (int k = 1; k < 10; k++)
				file[k] = __builtin_bswap32(file[k]);
		opened(&r, &f, f.size);
		assert_int_equal(capture_next(&r), 1);
		assert_int_equal(capture_packet(&r, &p), 1);
		assert_int_equal(p.ns, 7000000000ull + (i == 1 ? 500 : 500000));
		assert_int_equal(p.length, 4);
		assert_int_equal(p.original, 60);
		assert_memory_equal(p.data, "abcd", 4);
		assert_int_equal(capture_next(&r), 0);
		capture_close(&r);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(packets_are_read_in_both_byte_orders),
		cmocka_unit_test(copies_keep_their_options),
		cmocka_unit_test(cut_files_are_refused),
		cmocka_unit_test(damaged_files_come_to_an_end),
		cmocka_unit_test(old_files_are_read),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
