/* SPDX-License-Identifier: MIT */
/*
 * A library to preload: each time the program asks for memory (or a file, or a thread) a child of
 * the program goes on without it, to its end, while the program waits and then goes on with it. One
 * run tries every place where the program can be refused.
 *
 * REFUSE_WHAT     memory, files or threads
 * REFUSE_EXPECTED file with the output when nothing is refused
 * REFUSE_RESULT   file for a line a place where the end was not as it should be, and the counts
 * REFUSE_FIRST    so many places are tried one by one, then
 * REFUSE_EVERY    each so many-th
 * REFUSE_ONLY     the number of one place, where the program itself is refused, and nothing else
 * done REFUSE_LASTING  set: from there on all is refused, not only this one REFUSE_LIBRARIES parts
 * of file names: only what libraries ask for whose name has one of them
 *
 * A child has to print what is expected and exit 0, or less of it and exit 1 with one line on
 * stderr, which names what was short; with REFUSE_LIBRARIES one of some lines names it.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <execinfo.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <malloc.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define FDS        256
#define PATIENCE_S 60
#define TAIL       4 /* bytes by which the end of the whole output is recognised */

enum what { NOTHING, MEMORY, FILES, THREADS };
static enum what what;
static const char *const names[] = {"", "memory", "files", "threads"};
static const char *const words[] = {"", "memory", "open files", "thread"};

static bool in_child, lasting, busy;
static unsigned long place, first, every, only;
static bool has_only;
static unsigned long tried, same, told, bad;
static const char *libraries;
static char *expected;
static size_t expected_size;
static int result = -1;

/* ---- the child's end ---- */

static size_t size_of(int fd)
{
	struct stat st;

	return fstat(fd, &st) == 0 ? (size_t)st.st_size : 0;
}

static const char *content(int fd, size_t size)
{
	return size ? mmap(NULL, size, PROT_READ, MAP_PRIVATE, fd, 0) : "";
}

/* Returns how the end differs from what is expected, NULL if it does not. */
static const char *judge(
	int status, const char *out, size_t out_size, const char *err, size_t err_size)
{
	const char *line_end = memchr(err, '\n', err_size);

	if (WIFSIGNALED(status))
		return "killed by a signal";
	if (WEXITSTATUS(status) == 0) {
		if (out_size != expected_size || memcmp(out, expected, out_size) != 0)
			return "other output, exit 0";
		same++;
		return err_size ? "exit 0 with a message" : NULL;
	}
	if (WEXITSTATUS(status) != 1)
		return "exit status";
	if (!libraries && (!line_end || line_end + 1 != err + err_size))
		return "not one line on stderr";
	if (!memmem(err, err_size, words[what], strlen(words[what])) &&
		!(libraries && memmem(err, err_size, "MEMORY_ERROR", 12)))
		return "the line does not name it";
	/* a component may fail after it has printed all its events */
	if (!libraries && out_size >= expected_size && expected_size >= TAIL &&
		memcmp(out + out_size - TAIL, expected + expected_size - TAIL, TAIL) == 0)
		return "all is printed, exit 1";
	told++;
	return NULL;
}

static void report(const char *why, int status, const char *err, size_t size)
{
	void *frames[24];
	int n = backtrace(frames, 24);

	dprintf(result, "place %lu: %s (status %x): %.*s\n", place, why, status,
		(int)(size < 400 ? size : 400), err);
	if (getenv("REFUSE_WHERE"))
		backtrace_symbols_fd(frames + 3, n - 3, result);
	bad++;
}

/* ---- the fork ---- */

static void go_on_without(int out, int err)
{
	size_t done = (size_t)lseek(STDOUT_FILENO, 0, SEEK_CUR), at = 0;
	char buf[4096];

	while (at < done) {
		ssize_t n = pread(STDOUT_FILENO, buf,
			sizeof(buf) < done - at ? sizeof(buf) : done - at, (off_t)at);

		if (n <= 0 || write(out, buf, (size_t)n) != n)
			_exit(99);
		at += (size_t)n;
	}
	dup2(out, STDOUT_FILENO);
	dup2(err, STDERR_FILENO);
	alarm(PATIENCE_S);
}

/* Returns true in the child in which the request is to be refused. */
static bool try_without(void)
{
	off_t offset[FDS];
	int out = memfd_create("out", MFD_CLOEXEC), err = memfd_create("err", MFD_CLOEXEC), status;
	const char *out_text, *err_text, *why;
	pid_t child;

	for (int fd = 3; fd < FDS; fd++)
		offset[fd] = lseek(fd, 0, SEEK_CUR);
	child = _Fork();
	if (child == 0) {
		go_on_without(out, err);
		in_child = true;
		return true;
	}
	waitpid(child, &status, 0);
	for (int fd = 3; fd < FDS; fd++)
		if (offset[fd] >= 0)
			lseek(fd, offset[fd], SEEK_SET);
	tried++;
	out_text = content(out, size_of(out));
	err_text = content(err, size_of(err));
	why = judge(status, out_text, size_of(out), err_text, size_of(err));
	if (why)
		report(why, status, err_text, size_of(err));
	if (size_of(out))
		munmap((void *)(uintptr_t)out_text, size_of(out));
	if (size_of(err))
		munmap((void *)(uintptr_t)err_text, size_of(err));
	close(out);
	close(err);
	return false;
}

static bool is_of_interest(const void *caller)
{
	const char *all = libraries, *name;
	Dl_info info;

	if (!all)
		return true;
	if (!dladdr(caller, &info) || !info.dli_fname)
		return false;
	name = strrchr(info.dli_fname, '/') ? strrchr(info.dli_fname, '/') : info.dli_fname;
	for (size_t n; *all; all += n + (all[n] == ',')) {
		n = strcspn(all, ",");
		if (memmem(name, strlen(name), all, n))
			return true;
	}
	return false;
}

static bool refused(enum what asked, const void *caller)
{
	bool refuse = false;
	int saved = errno;

	if (what != asked || busy || !is_of_interest(caller))
		return false;
	if (in_child)
		return lasting;
	if (has_only) {
		refuse = place >= only && (lasting || place == only);
		place++;
		return refuse;
	}
	busy = true;
	if (place < first || (place - first) % every == 0)
		refuse = try_without();
	place++;
	busy = false;
	errno = saved;
	return refuse;
}

/* ---- begin and end ---- */

static void read_expected(void)
{
	int fd = open(getenv("REFUSE_EXPECTED"), O_RDONLY | O_CLOEXEC);

	expected_size = size_of(fd);
	expected = (char *)(uintptr_t)content(fd, expected_size);
	close(fd);
}

__attribute__((constructor)) static void begin(void)
{
	const char *wanted = getenv("REFUSE_WHAT");
	void *warm[1];
	enum what w = NOTHING;

	if (!wanted)
		return;
	for (int i = MEMORY; i <= THREADS; i++)
		if (strcmp(wanted, names[i]) == 0)
			w = i;
	unsetenv("REFUSE_WHAT"); /* programs it runs are not affected */
	unsetenv("LD_PRELOAD");
	lasting = getenv("REFUSE_LASTING");
	libraries = getenv("REFUSE_LIBRARIES");
	has_only = getenv("REFUSE_ONLY");
	if (has_only) {
		only = strtoul(getenv("REFUSE_ONLY"), NULL, 10);
		what = w;
		return;
	}
	first = strtoul(getenv("REFUSE_FIRST"), NULL, 10);
	every = strtoul(getenv("REFUSE_EVERY"), NULL, 10);
	result = open(getenv("REFUSE_RESULT"), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	result = fcntl(result, F_DUPFD_CLOEXEC, FDS);
	read_expected();
	backtrace(warm, 1); /* the first call loads a library */
	what = w;
}

__attribute__((destructor)) static void end(void)
{
	if (result < 0 || in_child)
		return;
	what = NOTHING;
	dprintf(result, "places %lu tried %lu same %lu told %lu bad %lu\n", place, tried, same,
		told, bad);
}

/* ---- requests ---- */

/* The function of this name that the program would have called. */
#define NEXT(name) ((__typeof__(name) *)dlsym(RTLD_NEXT, #name))

static void *none(int error)
{
	errno = error;
	return NULL;
}

#define CALLER __builtin_return_address(0)

/* Defines the C library's own names too, which magnet's malloc() calls. */
#define ALLOCATOR(name, prefix, params, ...)                                        \
	void *prefix##name params;                                                  \
	void *prefix##name params                                                   \
	{                                                                           \
		static void *(*next)params;                                         \
		if (!next)                                                          \
			next = (__typeof__(next))dlsym(RTLD_NEXT, "__libc_" #name); \
		return refused(MEMORY, CALLER) ? none(ENOMEM) : next(__VA_ARGS__);  \
	}
ALLOCATOR(malloc, , (size_t size), size)
ALLOCATOR(malloc, __libc_, (size_t size), size)
ALLOCATOR(calloc, , (size_t count, size_t size), count, size)
ALLOCATOR(calloc, __libc_, (size_t count, size_t size), count, size)
ALLOCATOR(realloc, , (void *memory, size_t size), memory, size)
ALLOCATOR(realloc, __libc_, (void *memory, size_t size), memory, size)
ALLOCATOR(memalign, , (size_t alignment, size_t size), alignment, size)
ALLOCATOR(memalign, __libc_, (size_t alignment, size_t size), alignment, size)

static void *aligned(size_t alignment, size_t size, const void *caller)
{
	static void *(*next)(size_t, size_t);

	if (!next)
		next = (__typeof__(next))dlsym(RTLD_NEXT, "__libc_memalign");
	return refused(MEMORY, caller) ? none(ENOMEM) : next(alignment, size);
}

void *aligned_alloc(size_t alignment, size_t size)
{
	return aligned(alignment, size, CALLER);
}

int posix_memalign(void **out, size_t alignment, size_t size)
{
	void *p = aligned(alignment, size, CALLER);

	if (!p)
		return ENOMEM;
	*out = p;
	return 0;
}

void *mmap(void *at, size_t size, int prot, int flags, int fd, off_t offset)
{
	if (refused(MEMORY, CALLER)) {
		errno = ENOMEM;
		return MAP_FAILED;
	}
	return NEXT(mmap)(at, size, prot, flags, fd, offset);
}

FILE *fopen(const char *path, const char *mode)
{
	return refused(FILES, CALLER) ? none(EMFILE) : NEXT(fopen)(path, mode);
}

DIR *opendir(const char *path)
{
	return refused(FILES, CALLER) ? none(EMFILE) : NEXT(opendir)(path);
}

static int open_as(const char *path, int flags, mode_t mode, const void *caller)
{
	if (refused(FILES, caller)) {
		errno = EMFILE;
		return -1;
	}
	return openat(AT_FDCWD, path, flags, mode);
}

int open(const char *path, int flags, ...)
{
	va_list ap;
	mode_t mode;

	va_start(ap, flags);
	mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(ap, mode_t) : 0;
	va_end(ap);
	return open_as(path, flags, mode, CALLER);
}

int pthread_create(pthread_t *thread, const pthread_attr_t *attr, void *(*fn)(void *), void *arg)
{
	return refused(THREADS, CALLER) ? EAGAIN : NEXT(pthread_create)(thread, attr, fn, arg);
}
