/* SPDX-License-Identifier: MIT */
/* elf_symbols.c on this test's own program; jit_map.c on a list that the test writes. */
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "stacks/elf_symbols.h"
#include "stacks/jit_map.h"
#include "unit.h"

/* A function to be found by its address; it keeps a frame pointer. */
__attribute__((noinline, optimize("no-omit-frame-pointer"))) static int found_by_name(int x)
{
	int local[8];

	for (int i = 0; i < 8; i++)
		local[i] = x + i;
	__asm__ volatile("" ::"r"(local) : "memory");
	return local[x & 7];
}

/* Returns the mapping of an address of this process, as its file and the offset there. */
static uint64_t offset_of(const void *address, char path[256])
{
	FILE *f = fopen("/proc/self/maps", "r");
	unsigned long from, to, offset;
	char line[512];

	assert_non_null(f);
	while (fgets(line, sizeof(line), f)) {
		if (sscanf(line, "%lx-%lx %*s %lx %*s %*s %255s", &from, &to, &offset, path) == 4 &&
			(uintptr_t)address >= from && (uintptr_t)address < to) {
			fclose(f);
			return (uintptr_t)address - from + offset;
		}
	}
	fclose(f);
	fail();
	return 0;
}

static void function_is_found_by_its_offset(void **unused)
{
	char path[256];
	uint64_t offset = offset_of((const void *)(uintptr_t)found_by_name, path);
	struct mapped_file mapped = {.path = path};
	const char *why;
	struct elf_symbols *s = elf_symbols_open(open(path, O_RDONLY), &mapped, &why);
	struct elf_function f;

	(void)unused;
	assert_int_equal(found_by_name(3), 6);
	assert_non_null(s);
	assert_true(elf_symbols_find(s, offset + 24, &f));
	assert_int_equal(f.length, strlen("found_by_name"));
	assert_memory_equal(f.name, "found_by_name", f.length);
	assert_int_equal(f.start, offset);
#if defined(__x86_64__) && !defined(__SANITIZE_ADDRESS__)
	assert_true(f.keeps_frame);
	assert_true(elf_symbols_find(s, offset, &f));
	assert_false(f.keeps_frame); /* its caller's frame pointer is in the register still */
#endif
	assert_false(elf_symbols_find(s, 1ull << 40, &f));
	elf_symbols_free(s);
}

static void another_file_of_the_name_is_refused(void **unused)
{
	char path[256];
	struct mapped_file mapped = {.path = path, .build_id_size = 20, .build_id = {1, 2, 3}};
	const char *why;

	(void)unused;
	offset_of((const void *)(uintptr_t)found_by_name, path);
	assert_null(elf_symbols_open(open(path, O_RDONLY), &mapped, &why));
	assert_string_equal(why, "the file is not the one that was mapped");
	mapped = (struct mapped_file){.path = path, .has_inode = true, .inode = 1};
	assert_null(elf_symbols_open(open(path, O_RDONLY), &mapped, &why));
	assert_string_equal(why, "the file is not the one that was mapped");
}

static void what_is_no_program_is_refused(void **unused)
{
	struct mapped_file mapped = {.path = "/proc/self/maps"};
	const char *why;

	(void)unused;
	assert_null(elf_symbols_open(open("/proc/self/maps", O_RDONLY), &mapped, &why));
	assert_string_equal(why, "the file is no program or library");
}

static void functions_that_a_program_compiled_are_listed(void **unused)
{
	char path[] = "/tmp/magnet-test-XXXXXX";
	int fd = mkstemp(path);
	FILE *f = fdopen(fd, "w");
	struct jit_map *j;

	(void)unused;
	fputs("7f00 20 py::main:/x y.py\nno line of a list\n7f20 10 other\n7f00 8 anew\n", f);
	fclose(f);
	j = jit_map_read(open(path, O_RDONLY));
	unlink(path);
	assert_string_equal(jit_map_find(j, 0x7f10), "py::main:/x y.py");
	assert_string_equal(jit_map_find(j, 0x7f07), "anew");
	assert_string_equal(jit_map_find(j, 0x7f2f), "other");
	assert_null(jit_map_find(j, 0x7f30));
	jit_map_free(j);
}

/* A list that another user has put there may not name this one's functions. */
static void list_of_another_user_is_refused(void **unused)
{
	uint32_t pid = (uint32_t)getpid();
	char path[64];
	int fd;

	(void)unused;
	snprintf(path, sizeof(path), "/tmp/perf-%u.map", pid);
	fd = open(path, O_CREAT | O_EXCL | O_WRONLY, 0600);
	assert_true(fd >= 0);
	close(fd);
	fd = jit_map_open(pid, (uint32_t)getuid());
	assert_true(fd >= 0);
	close(fd);
	if (getuid() != 0)
		assert_true(jit_map_open(pid, (uint32_t)getuid() + 1) < 0);
	else if (chown(path, 12345, 12345) == 0)
		assert_true(jit_map_open(pid, 0) < 0);
	unlink(path);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(function_is_found_by_its_offset),
		cmocka_unit_test(another_file_of_the_name_is_refused),
		cmocka_unit_test(what_is_no_program_is_refused),
		cmocka_unit_test(functions_that_a_program_compiled_are_listed),
		cmocka_unit_test(list_of_another_user_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
