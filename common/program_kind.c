/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "program_kind.h"

#include <elf.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include "kernel_call.h"

#define SCRIPTS_MAX 5 /* interpreters that are scripts themselves: the kernel's limit */
#define HEADERS_MAX 32
#define NEEDED_MAX  512

#if defined(__x86_64__)
#define OWN_MACHINE EM_X86_64
#else
#define OWN_MACHINE EM_AARCH64
#endif

/* Loaders that do not load libraries linked to glibc. */
static const char *const other_loaders[] = {"ld-musl", "ld-uClibc", "ld64-uClibc", "linker"};
/* Run-time libraries that end the program if another library comes first. */
static const char *const first_runtimes[] = {
	"libasan.so", "libhwasan.so", "libclang_rt.asan", "libclang_rt.hwasan"};

struct elf {
	int fd;
	Elf64_Phdr header[HEADERS_MAX];
	int headers;
};

static bool read_at(int fd, void *to, size_t len, uint64_t at)
{
	return mg_kernel_call(SYS_pread64, fd, (long)to, (long)len, (long)at, 0, 0) == (long)len;
}

/* Reads up to `len` bytes. Returns how many there are, 0 for an error. */
static size_t read_most(int fd, void *to, size_t len, uint64_t at)
{
	long n = mg_kernel_call(SYS_pread64, fd, (long)to, (long)len, (long)at, 0, 0);

	return n > 0 ? (size_t)n : 0;
}

static bool starts_with(const char *s, const char *begin)
{
	return strncmp(s, begin, strlen(begin)) == 0;
}

static bool is_one_of(const char *name, const char *const *begins, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (starts_with(name, begins[i]))
			return true;
	return false;
}

static const Elf64_Phdr *header_of(const struct elf *e, uint32_t type)
{
	for (int i = 0; i < e->headers; i++)
		if (e->header[i].p_type == type)
			return &e->header[i];
	return NULL;
}

/* Returns the file offset of an address, 0 if it has none. */
static uint64_t place_of(const struct elf *e, uint64_t address)
{
	for (int i = 0; i < e->headers; i++) {
		const Elf64_Phdr *h = &e->header[i];

		if (h->p_type == PT_LOAD && address >= h->p_vaddr &&
			address - h->p_vaddr < h->p_filesz)
			return address - h->p_vaddr + h->p_offset;
	}
	return 0;
}

/* Reads the n-th entry of the dynamic section; false after the last. */
static bool entry(const struct elf *e, const Elf64_Phdr *dynamic, uint32_t n, Elf64_Dyn *d)
{
	return (n + 1) * sizeof(*d) <= dynamic->p_filesz &&
	       read_at(e->fd, d, sizeof(*d), dynamic->p_offset + n * sizeof(*d)) &&
	       d->d_tag != DT_NULL;
}

static void look_at_needed(struct mg_program_kind *k, const struct elf *e)
{
	const Elf64_Phdr *dynamic = header_of(e, PT_DYNAMIC);
	uint64_t strings = 0;
	Elf64_Dyn d;

	for (uint32_t n = 0; dynamic && !strings && n < NEEDED_MAX && entry(e, dynamic, n, &d); n++)
		if (d.d_tag == DT_STRTAB)
			strings = place_of(e, d.d_un.d_ptr);
	for (uint32_t n = 0; strings && n < NEEDED_MAX && entry(e, dynamic, n, &d); n++) {
		char name[sizeof(k->runtime)] = "";

		if (d.d_tag != DT_NEEDED)
			continue;
		read_most(e->fd, name, sizeof(name), strings + d.d_un.d_val);
		name[sizeof(name) - 1] = 0;
		if (!is_one_of(name, first_runtimes,
			    sizeof(first_runtimes) / sizeof(first_runtimes[0])))
			continue;
		memcpy(k->runtime, name, sizeof(name));
		k->preload = MG_PRELOAD_AFTER_RUNTIME;
		return;
	}
}

static void look_at_elf(struct mg_program_kind *k, int fd, const Elf64_Ehdr *head)
{
	struct elf e = {.fd = fd, .headers = head->e_phnum};
	const Elf64_Phdr *interp;
	char path[sizeof(k->loader)] = "";
	const char *name;

	if (head->e_ident[EI_CLASS] != ELFCLASS64 || head->e_machine != OWN_MACHINE) {
		k->preload = MG_PRELOAD_REFUSED;
		return;
	}
	if (e.headers > HEADERS_MAX)
		e.headers = HEADERS_MAX;
	if (head->e_phentsize != sizeof(e.header[0]) ||
		!read_at(fd, e.header, (size_t)e.headers * sizeof(e.header[0]), head->e_phoff))
		return;
	interp = header_of(&e, PT_INTERP);
	if (!interp) /* static: nothing is ever preloaded */
		return;
	read_most(fd, path, interp->p_filesz < sizeof(path) ? interp->p_filesz : sizeof(path) - 1,
		interp->p_offset);
	path[sizeof(path) - 1] = 0;
	name = strrchr(path, '/');
	name = name ? name + 1 : path;
	if (is_one_of(name, other_loaders, sizeof(other_loaders) / sizeof(other_loaders[0]))) {
		memmove(k->loader, name, strlen(name) + 1);
		k->preload = MG_PRELOAD_REFUSED;
		return;
	}
	k->loads = true;
	look_at_needed(k, &e);
}

/* Returns the interpreter that a #! line names, NULL if it is none. `line` is changed. */
static char *interpreter(char *line, size_t len, size_t size)
{
	char *name = line + 2;

	if (len < 4 || line[0] != '#' || line[1] != '!')
		return NULL;
	line[len < size ? len : size - 1] = 0;
	name += strspn(name, " \t");
	name[strcspn(name, " \t\n")] = 0;
	return name[0] ? name : NULL;
}

static void look_at(struct mg_program_kind *k, int fd, int scripts)
{
	union {
		Elf64_Ehdr elf;
		char line[256];
	} head;
	size_t len = read_most(fd, &head, sizeof(head), 0);
	char *name;

	if (len >= sizeof(head.elf) && memcmp(head.elf.e_ident, ELFMAG, SELFMAG) == 0) {
		look_at_elf(k, fd, &head.elf);
		return;
	}
	name = interpreter(head.line, len, sizeof(head.line));
	if (!name || scripts == SCRIPTS_MAX)
		return;
	fd = (int)mg_kernel_call(
		SYS_openat, AT_FDCWD, (long)name, O_RDONLY | O_CLOEXEC | O_NONBLOCK, 0, 0, 0);
	if (fd < 0)
		return;
	look_at(k, fd, scripts + 1);
	mg_kernel_call(SYS_close, fd, 0, 0, 0, 0, 0);
}

static void know_nothing(struct mg_program_kind *k)
{
	k->preload = MG_PRELOAD_PLAIN;
	k->loads = false;
	k->loader[0] = k->runtime[0] = 0;
}

void mg_program_look_fd(struct mg_program_kind *k, int fd)
{
	know_nothing(k);
	look_at(k, fd, 0);
}

void mg_program_look(struct mg_program_kind *k, int dir, const char *path)
{
	/* a FIFO must not be waited for */
	int fd = (int)mg_kernel_call(
		SYS_openat, dir, (long)path, O_RDONLY | O_CLOEXEC | O_NONBLOCK, 0, 0, 0);

	know_nothing(k);
	if (fd < 0)
		return;
	mg_program_look_fd(k, fd);
	mg_kernel_call(SYS_close, fd, 0, 0, 0, 0, 0);
}

void mg_program_look_search(struct mg_program_kind *k, const char *file, const char *search)
{
	char path[PATH_MAX];

	know_nothing(k);
	if (strchr(file, '/')) {
		mg_program_look(k, AT_FDCWD, file);
		return;
	}
	if (!search)
		search = "/bin:/usr/bin";
	for (const char *dir = search;; dir++) {
		size_t len = strcspn(dir, ":"), name = strlen(file);

		if (len + 1 + name < sizeof(path)) {
			memcpy(path, dir, len);
			path[len] = '/';
			memcpy(path + len + (len > 0), file, name + 1);
			if (mg_kernel_call(SYS_faccessat, AT_FDCWD, (long)path, X_OK, 0, 0, 0) ==
				0) {
				mg_program_look(k, AT_FDCWD, path);
				return;
			}
		}
		dir += len;
		if (!*dir)
			return;
	}
}
