/* SPDX-License-Identifier: MIT */
/* Kinds of programs: files made here, as small as possible. */
#define _GNU_SOURCE
#include "program_kind.h"

#include <elf.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "unit.h"

#if defined(__x86_64__)
#define MACHINE EM_X86_64
#else
#define MACHINE EM_AARCH64
#endif

/* A program: one segment in memory at 0x1000 holds all of the file; a needed library, if any. */
struct program {
	Elf64_Ehdr head;
	Elf64_Phdr header[3];
	Elf64_Dyn dynamic[4];
	char loader[64];
	char strings[128];
};

#define BASE 0x1000

static struct program program(const char *loader, const char *needed)
{
	struct program p = {0};

	memcpy(p.head.e_ident, ELFMAG, SELFMAG);
	p.head.e_ident[EI_CLASS] = ELFCLASS64;
	p.head.e_machine = MACHINE;
	p.head.e_phoff = offsetof(struct program, header);
	p.head.e_phentsize = sizeof(Elf64_Phdr);
	p.head.e_phnum = 3;
	p.header[0] = (Elf64_Phdr){.p_type = PT_LOAD, .p_vaddr = BASE, .p_filesz = sizeof(p)};
	p.header[1] = (Elf64_Phdr){.p_type = PT_DYNAMIC,
		.p_offset = offsetof(struct program, dynamic),
		.p_filesz = sizeof(p.dynamic)};
	if (loader)
		p.header[2] = (Elf64_Phdr){.p_type = PT_INTERP,
			.p_offset = offsetof(struct program, loader),
			.p_filesz = strlen(loader) + 1};
	strcpy(p.loader, loader ? loader : "");
	p.dynamic[0] = (Elf64_Dyn){.d_tag = DT_NEEDED, .d_un = {.d_val = 1}};
	p.dynamic[1] = (Elf64_Dyn){.d_tag = DT_NEEDED, .d_un = {.d_val = 20}};
	p.dynamic[2] = (Elf64_Dyn){
		.d_tag = DT_STRTAB, .d_un = {.d_ptr = BASE + offsetof(struct program, strings)}};
	strcpy(p.strings + 1, "libc.so.6");
	strcpy(p.strings + 20, needed);
	return p;
}

static struct mg_program_kind look_at(const void *bytes, size_t len)
{
	struct mg_program_kind k = {.preload = MG_PRELOAD_REFUSED};
	int fd = memfd_create("program", 0);

	assert_int_equal(write(fd, bytes, len), len);
	mg_program_look_fd(&k, fd);
	close(fd);
	return k;
}

static struct mg_program_kind look(const char *loader, const char *needed)
{
	struct program p = program(loader, needed);

	return look_at(&p, sizeof(p));
}

static void the_loader_tells_whether_it_preloads(void **unused)
{
	struct mg_program_kind k = look("/lib/ld-musl-x86_64.so.1", "libm.so");

	(void)unused;
	assert_int_equal(k.preload, MG_PRELOAD_REFUSED);
	assert_string_equal(k.loader, "ld-musl-x86_64.so.1");
	assert_int_equal(look("/system/bin/linker64", "libm.so").preload, MG_PRELOAD_REFUSED);
	assert_int_equal(look("/lib64/ld-linux-x86-64.so.2", "libm.so").preload, MG_PRELOAD_PLAIN);
	assert_int_equal(look("/opt/glibc/lib/ld-2.31.so", "libm.so").preload, MG_PRELOAD_PLAIN);
	assert_int_equal(look(NULL, "libasan.so.8").preload, MG_PRELOAD_PLAIN); /* static */
}

static void a_runtime_that_wants_to_be_first_is_named(void **unused)
{
	struct mg_program_kind k = look("/lib64/ld-linux-x86-64.so.2", "libasan.so.8");

	(void)unused;
	assert_int_equal(k.preload, MG_PRELOAD_AFTER_RUNTIME);
	assert_string_equal(k.runtime, "libasan.so.8");
	assert_int_equal(look("/lib64/ld-linux-x86-64.so.2", "libclang_rt.asan-x86_64.so").preload,
		MG_PRELOAD_AFTER_RUNTIME);
	assert_int_equal(
		look("/lib64/ld-linux-x86-64.so.2", "libtsan.so.2").preload, MG_PRELOAD_PLAIN);
}

static void another_machine_is_refused(void **unused)
{
	struct program p = program("/lib/ld-linux.so.2", "libm.so");

	(void)unused;
	p.head.e_ident[EI_CLASS] = ELFCLASS32;
	assert_int_equal(look_at(&p, sizeof(p)).preload, MG_PRELOAD_REFUSED);
	p.head.e_ident[EI_CLASS] = ELFCLASS64;
	p.head.e_machine = EM_RISCV;
	assert_int_equal(look_at(&p, sizeof(p)).preload, MG_PRELOAD_REFUSED);
}

static void damaged_files_are_left_alone(void **unused)
{
	struct program p = program("/lib/ld-musl-x86_64.so.1", "libm.so");

	(void)unused;
	for (size_t len = 0; len < offsetof(struct program, dynamic); len++)
		assert_int_equal(look_at(&p, len).preload, MG_PRELOAD_PLAIN);
	assert_int_equal(look_at("echo hello\n", 11).preload, MG_PRELOAD_PLAIN);
	assert_int_equal(look_at("#!", 2).preload, MG_PRELOAD_PLAIN);
	assert_int_equal(look_at("#! \n", 4).preload, MG_PRELOAD_PLAIN);
	p = program("/lib64/ld-linux-x86-64.so.2", "libasan.so.8");
	p.dynamic[2].d_un.d_ptr = 0; /* its strings are nowhere */
	assert_int_equal(look_at(&p, sizeof(p)).preload, MG_PRELOAD_PLAIN);
}

/* A script counts as its interpreter, whether or not its first line ends. */
static void a_script_is_its_interpreter(void **unused)
{
	struct program p = program("/lib/ld-musl-x86_64.so.1", "libm.so");
	char top[] = "/tmp/magnet-test-XXXXXX", path[64], script[128], search[128];
	struct mg_program_kind k;
	int fd;

	(void)unused;
	assert_non_null(mkdtemp(top));
	snprintf(path, sizeof(path), "%s/program", top);
	fd = open(path, O_WRONLY | O_CREAT, 0755);
	assert_int_equal(write(fd, &p, sizeof(p)), sizeof(p));
	close(fd);
	for (int way = 0; way < 3; way++) {
		snprintf(script, sizeof(script),
			way == 0   ? "#!%s"
			: way == 1 ? "#! \t%s -x\necho\n"
				   : "#!%s\n",
			path);
		assert_int_equal(look_at(script, strlen(script)).preload, MG_PRELOAD_REFUSED);
	}
	snprintf(search, sizeof(search), "/nowhere::%s", top);
	mg_program_look_search(&k, "program", search);
	assert_int_equal(k.preload, MG_PRELOAD_REFUSED);
	mg_program_look_search(&k, "program", "/nowhere");
	assert_int_equal(k.preload, MG_PRELOAD_PLAIN);
	mg_program_look_search(&k, path, "/nowhere");
	assert_int_equal(k.preload, MG_PRELOAD_REFUSED);
	mg_program_look(&k, AT_FDCWD, "/nowhere/program");
	assert_int_equal(k.preload, MG_PRELOAD_PLAIN);
	unlink(path);
	rmdir(top);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_loader_tells_whether_it_preloads),
		cmocka_unit_test(a_runtime_that_wants_to_be_first_is_named),
		cmocka_unit_test(another_machine_is_refused),
		cmocka_unit_test(damaged_files_are_left_alone),
		cmocka_unit_test(a_script_is_its_interpreter),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
