/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "stacks/elf_symbols.h"

#include <elfutils/libdwelf.h>
#include <elfutils/libdwfl.h>
#include <fcntl.h>
#include <gelf.h>
#include <linux/magic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

struct elf_symbols {
	Dwfl *dwfl;
	Dwfl_Module *module;
	Elf *elf;
	GElf_Addr bias; /* what libdwfl adds to addresses of the file */
	int fd;         /* to read the beginning of functions */
};

static const char no_memory[] = "out of memory";

static bool has_build_id(Elf *elf, const struct mapped_file *mapped)
{
	const void *id;
	ssize_t size = dwelf_elf_gnu_build_id(elf, &id);

	return size == mapped->build_id_size && memcmp(id, mapped->build_id, (size_t)size) == 0;
}

static bool is_inode(int fd, const struct mapped_file *mapped)
{
	struct statfs fs;
	struct stat st;

	if (fstat(fd, &st) != 0 || fstatfs(fd, &fs) != 0 || st.st_ino != mapped->inode)
		return false;
	/* these have a device for each mount or subvolume, which the kernel does not report */
	return st.st_dev == mapped->device || fs.f_type == OVERLAYFS_SUPER_MAGIC ||
	       fs.f_type == BTRFS_SUPER_MAGIC;
}

static bool is_mapped_one(const struct elf_symbols *s, const struct mapped_file *mapped)
{
	return (!mapped->build_id_size || has_build_id(s->elf, mapped)) &&
	       (!mapped->has_inode || is_inode(s->fd, mapped));
}

/* libdwfl would also open what lies beside the program, which its owner may have made a pipe. */
static int find_installed(Dwfl_Module *module, void **user, const char *name, Dwarf_Addr base,
	const char *file, const char *link, GElf_Word crc, char **found)
{
	return dwfl_build_id_find_debuginfo(module, user, name, base, file, link, crc, found);
}

/* libdwfl would also unpack compressed files and archives, of any size. */
static bool is_elf(int fd)
{
	char magic[SELFMAG];

	return pread(fd, magic, sizeof(magic), 0) == sizeof(magic) &&
	       memcmp(magic, ELFMAG, SELFMAG) == 0;
}

struct elf_symbols *elf_symbols_open(int fd, const struct mapped_file *mapped, const char **why)
{
	static char installed[] = "/usr/lib/debug", *path = installed;
	static const Dwfl_Callbacks callbacks = {
		.find_elf = dwfl_build_id_find_elf,
		.find_debuginfo = find_installed,
		.section_address = dwfl_offline_section_address,
		.debuginfo_path = &path,
	};
	struct elf_symbols *s = calloc(1, sizeof(*s));
	int own;

	*why = no_memory;
	if (!s) {
		close(fd);
		return NULL;
	}
	s->fd = fd;
	s->dwfl = dwfl_begin(&callbacks);
	own = s->dwfl ? fcntl(fd, F_DUPFD_CLOEXEC, 3) : -1;
	if (own >= 0) {
		*why = "the file is no program or library";
		dwfl_report_begin(s->dwfl);
		if (is_elf(own))
			s->module = dwfl_report_offline(s->dwfl, mapped->path, mapped->path, own);
		dwfl_report_end(s->dwfl, NULL, NULL);
		if (!s->module)
			close(own);
	}
	s->elf = s->module ? dwfl_module_getelf(s->module, &s->bias) : NULL;
	if (s->elf && is_mapped_one(s, mapped))
		return s;
	if (s->elf)
		*why = "the file is not the one that was mapped";
	elf_symbols_free(s);
	return NULL;
}

/* Converts between offsets in the file and addresses; returns false for what is not loaded. */
static bool convert(const struct elf_symbols *s, uint64_t from, bool to_address, uint64_t *to)
{
	size_t count;

	if (elf_getphdrnum(s->elf, &count) != 0)
		return false;
	for (size_t i = 0; i < count; i++) {
		GElf_Phdr p;
		uint64_t begin;

		if (!gelf_getphdr(s->elf, (int)i, &p) || p.p_type != PT_LOAD)
			continue;
		begin = to_address ? p.p_offset : p.p_vaddr;
		if (from < begin || from - begin >= p.p_filesz)
			continue;
		*to = from - begin + (to_address ? p.p_vaddr : p.p_offset);
		return true;
	}
	return false;
}

/*
 * Returns after how many bytes of a function its frame is the one that the frame pointer names, 0
 * if the first instructions do not make it so; compilers may put others in between.
 */
static size_t frame_begins(const uint8_t *code, size_t size)
{
#if defined(__x86_64__)
	static const uint8_t moves[][3] = {{0x48, 0x89, 0xe5}, {0x48, 0x8b, 0xec}};
	size_t at = size >= 4 && memcmp(code, "\xf3\x0f\x1e\xfa", 4) == 0 ? 4 : 0;

	/* push %rbp, then mov %rsp,%rbp */
	for (int i = 0; i < 2 && at < size && code[at] == 0x55; i++) {
		const uint8_t *move = memmem(code + at, size - at, moves[i], sizeof(moves[i]));

		if (move)
			return (size_t)(move - code) + sizeof(moves[i]);
	}
#elif defined(__aarch64__)
	for (size_t at = 0; at + 4 <= size; at += 4) {
		uint32_t instruction;

		memcpy(&instruction, code + at, sizeof(instruction));
		if ((instruction & 0xffc003ff) == 0x910003fd) /* add x29, sp, #n */
			return at + 4;
	}
#else
	(void)code;
	(void)size;
#endif
	return 0;
}

/* Returns whether the function has set up its frame where it is. */
static bool keeps_frame(const struct elf_symbols *s, const struct elf_function *f, uint64_t offset)
{
	uint8_t code[24];
	ssize_t n = pread(s->fd, code, sizeof(code), (off_t)f->start);
	size_t from = n > 0 ? frame_begins(code, (size_t)n) : 0;

	return from && offset - f->start >= from;
}

bool elf_symbols_find(struct elf_symbols *s, uint64_t offset, struct elf_function *out)
{
	uint64_t address, start;
	GElf_Off into;
	GElf_Sym symbol;

	if (!convert(s, offset, true, &address))
		return false;
	out->name = dwfl_module_addrinfo(
		s->module, address + s->bias, &into, &symbol, NULL, NULL, NULL);
	if (!out->name || !out->name[0] || (symbol.st_size && into >= symbol.st_size))
		return false;
	if (!convert(s, address - into, false, &start))
		return false;
	out->length = strcspn(out->name, "@");
	out->start = start;
	out->keeps_frame = keeps_frame(s, out, offset);
	return true;
}

void elf_symbols_free(struct elf_symbols *s)
{
	if (!s)
		return;
	if (s->dwfl)
		dwfl_end(s->dwfl);
	close(s->fd);
	free(s);
}
