/* SPDX-License-Identifier: MIT */
/* Children whose thread-local storage is not the C library's: they have no errno. */
#define _GNU_SOURCE
#include "lives.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#define BLOCK 4096
#define PAGE  4096

static char stack[65536] __attribute__((aligned(16)));
static int socket_there, file_there;

/* Makes calls that touch no thread-local data of the C library, so that they work without it. */
static int by_number(void)
{
	long copy = syscall(SYS_dup, file_there);
	char c;

	return syscall(SYS_getpid) > 0 && copy > 0 &&
	       syscall(SYS_write, copy, "by number", 9) == 9 &&
	       syscall(SYS_pread64, copy, &c, 1, 0) == 1 && syscall(SYS_close, copy) == 0 &&
	       syscall(SYS_sendto, socket_there, "x", 1, 0, NULL, 0) == 1;
}

static int by_name(void)
{
	int fd = open("/dev/zero", O_RDWR), pair[2];
	char c;

	return fd >= 0 && write(fd, "x", 1) == 1 && read(fd, &c, 1) == 1 && dup2(fd, 400) == 400 &&
	       fcntl(fd, F_DUPFD, 401) == 401 && close(fd) == 0 && close_range(400, 500, 0) == 0 &&
	       write(file_there, "by name", 7) == 7 && send(socket_there, "x", 1, 0) == 1 &&
	       socketpair(AF_UNIX, SOCK_STREAM, 0, pair) == 0 && write(pair[0], "x", 1) == 1 &&
	       recv(pair[1], &c, 1, 0) == 1 && dup2(file_there, socket_there) == socket_there &&
	       write(socket_there, "file", 4) == 4;
}

static int child_by_number(void *unused)
{
	(void)unused;
	return by_number() ? 0 : 1;
}

static int child_by_both(void *unused)
{
	(void)unused;
	return by_number() && by_name() ? 0 : 1;
}

static int child_becomes(void *unused)
{
	static char *const args[] = {(char *)"true", NULL};

	(void)unused;
	execve("/bin/true", args, environ);
	return 1;
}

static void child(int (*run)(void *), void *block)
{
	int flags = CLONE_VM | CLONE_VFORK | CLONE_SETTLS | SIGCHLD;

	reap(clone(run, stack + sizeof(stack), flags, NULL, NULL, block, NULL));
	sends(socket_there, 1);
}

#if defined(__x86_64__)
static void child_on_bare_stack(void)
{
	_exit(by_number() && by_name() ? 0 : 1);
}

/*
 * Makes a child by the kernel's clone(): it returns from syscall() to the address on its own stack.
 */
static void child_by_kernel(void *block)
{
	void **top = (void **)(stack + sizeof(stack)) - 2;
	int flags = CLONE_VM | CLONE_VFORK | CLONE_SETTLS | SIGCHLD;
	void (*start)(void) = child_on_bare_stack;

	memcpy(top, &start, sizeof(start));
	reap((int)syscall(SYS_clone, flags, top, NULL, NULL, block));
	sends(socket_there, 1);
}

/* Makes one by clone3(), where the kernel has it. */
static void child_by_clone3(void *block)
{
	void **top = (void **)(stack + sizeof(stack)) - 2;
	struct {
		uint64_t flags, pidfd, child_tid, parent_tid, exit_signal, stack, stack_size, tls;
	} args = {.flags = CLONE_VM | CLONE_VFORK | CLONE_SETTLS,
		.exit_signal = SIGCHLD,
		.stack = (uintptr_t)stack,
		.stack_size = (uintptr_t)top - (uintptr_t)stack,
		.tls = (uintptr_t)block};
	void (*start)(void) = child_on_bare_stack;
	long child;

	EXPECT(syscall(SYS_clone3, NULL, 0) == -1);
	EXPECT(syscall(SYS_clone3, NULL, sizeof(args)) == -1);
	memcpy(top, &start, sizeof(start));
	child = syscall(SYS_clone3, &args, sizeof(args));
	if (child == -1 && (errno == ENOSYS || errno == EPERM)) {
		child_by_kernel(block);
		return;
	}
	reap((int)child);
	sends(socket_there, 1);
}
#endif

/*
 * Returns a block with an unmapped page before it, where the C library's thread-local storage would
 * be.
 */
static void *fenced_block(int content)
{
	char *pages = mmap(NULL, 3 * PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	EXPECT(pages != MAP_FAILED);
	EXPECT(mprotect(pages + PAGE, PAGE, PROT_READ | PROT_WRITE) == 0);
	memset(pages + PAGE, content, PAGE);
	/* older C libraries read here whether there are several threads */
	memset(pages + PAGE + 0x18, 0, 4);
	return pages + PAGE;
}

/*
 * One send by the parent at first and after each child; the children's are recorded by the kernel
 * side only.
 */
LIFE(foreign)
{
	static char blocks[2 * BLOCK] __attribute__((aligned(64)));
	void *zeroed = blocks + BLOCK;

	(void)argc, (void)argv;
	socket_there = sink();
	file_there = scratch_file();
	sends(socket_there, 1);
	child(child_by_both, zeroed);
	child(child_becomes, zeroed);
	for (size_t i = 0; i < sizeof(blocks); i++)
		EXPECT(blocks[i] == 0); /* no code wrote into the program's memory */
	child(child_by_both, fenced_block(0));
	child(child_by_both, fenced_block(0x55));
	child(child_becomes, fenced_block(0x55));
	child(child_by_number, NULL);
#if defined(__x86_64__)
	child_by_kernel(zeroed);
	child_by_kernel(fenced_block(0x55));
	child_by_clone3(zeroed);
	child_by_clone3(fenced_block(0x55));
#else
	child(child_by_both, zeroed);
	child(child_by_both, fenced_block(0x55));
	child(child_by_both, zeroed);
	child(child_by_both, fenced_block(0x55));
#endif
	EXPECT(write(file_there, "parent", 6) == 6);
	return 0;
}
