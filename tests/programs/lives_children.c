/* SPDX-License-Identifier: MIT */
/* The ways to create a child. */
#define _GNU_SOURCE
#include "lives.h"

#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

/* Two sends by the process, three by its child, one by its grandchild. */
LIFE(fork)
{
	int fd = sink(), pid;
	pid_t (*make)(void) = fork;

	if (argc > 1 && strcmp(argv[1], "_Fork") == 0) {
#if __GLIBC_PREREQ(2, 34)
		make = _Fork;
#else
		return 77;
#endif
	}
	sends(fd, 1);
	pid = make();
	if (pid == 0) {
		sends(fd, 3);
		pid = make();
		if (pid == 0) {
			sends(fd, 1);
			_exit(0);
		}
		reap(pid);
		_exit(0);
	}
	reap(pid);
	sends(fd, 1);
	return 0;
}

/* Many children at the same time, with five sends each. */
LIFE(storm)
{
	int n = argc > 1 ? atoi(argv[1]) : 10, gate[2], fd = sink();
	char c;

	EXPECT(pipe(gate) == 0);
	for (int i = 0; i < n; i++) {
		int pid = fork();

		EXPECT(pid >= 0);
		if (pid == 0) {
			close(gate[1]);
			EXPECT(read(gate[0], &c, 1) == 0);
			sends(fd, 5);
			_exit(0);
		}
	}
	close(gate[1]);
	reap_all();
	return 0;
}

/*
 * A vfork child makes its standard input a socket, while the parent's stays a file. Three sends and
 * a write by children, a send by the parent.
 */
LIFE(vfork)
{
	int fd = sink(), pid;

	(void)argc, (void)argv;
	EXPECT(dup2(scratch_file(), 0) == 0 && write(0, "file", 4) == 4);
	pid = vfork();
	if (pid == 0) {
		if (send(fd, "x", 1, 0) != 1 || send(fd, "x", 1, 0) != 1 || dup2(fd, 0) != 0 ||
			write(0, "x", 1) != 1)
			_exit(1);
		execl("/bin/true", "true", (char *)NULL);
		_exit(127);
	}
	reap(pid);
	EXPECT(write(0, "file", 4) == 4);
	pid = vfork();
	if (pid == 0) {
		close(fd);
		_exit(dup2(0, fd) == fd && write(fd, "file", 4) == 4 ? 0 : 1);
	}
	reap(pid);
	sends(fd, 1);
	EXPECT(write(0, "file", 4) == 4 && lseek(0, 0, SEEK_END) == 16);
	pid = vfork();
	if (pid == 0)
		_exit(send(fd, "x", 1, 0) == 1 ? 0 : 1);
	reap(pid);
	return 0;
}

/* Forks by the system call, without any library function. */
static long bare_fork(void)
{
#if defined(__x86_64__)
	long ret;

	__asm__ volatile("syscall" : "=a"(ret) : "a"(SYS_fork) : "rcx", "r11", "memory");
	return ret;
#else
	return syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);
#endif
}

/* Two sends by each of two children unknown to the C library, and one by the parent. */
LIFE(raw_fork)
{
	int fd = sink();
	long pid;

	(void)argc, (void)argv;
	sends(fd, 1);
	pid = syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);
	if (pid == 0) {
		sends(fd, 2);
		_exit(0);
	}
	reap((int)pid);
	pid = bare_fork();
	if (pid == 0) {
		sends(fd, 2);
		_exit(0);
	}
	reap((int)pid);
	return 0;
}

/* posix_spawn() that moves descriptors in a child that shares memory. */
LIFE(spawn)
{
	char *args[] = {(char *)"lives", (char *)"inherited", NULL};
	posix_spawn_file_actions_t actions;
	int fd = sink();
	pid_t pid;

	(void)argc, (void)argv;
	EXPECT(dup2(scratch_file(), 10) == 10 && dup2(fd, 11) == 11);
	posix_spawn_file_actions_init(&actions);
	/* a socket's number becomes a file there, and the other way round */
	posix_spawn_file_actions_adddup2(&actions, 11, 3);
	posix_spawn_file_actions_adddup2(&actions, 10, 4);
	posix_spawn_file_actions_addclose(&actions, 10);
	posix_spawn_file_actions_adddup2(&actions, 3, 10);
	EXPECT(posix_spawn(&pid, "/proc/self/exe", &actions, NULL, args, environ) == 0);
	reap(pid);
	posix_spawn_file_actions_destroy(&actions);
	EXPECT(write(10, "file", 4) == 4);
	sends(11, 1);
	return 0;
}

static int child_of_clone(void *arg)
{
	int fd = *(int *)arg;

	if (send(fd, "x", 1, 0) != 1 || send(fd, "x", 1, 0) != 1 || dup2(fd, 0) != 0 ||
		write(0, "x", 1) != 1)
		return 1;
	return 0;
}

/*
 * Like vfork(), on a stack of its own: two sends and a write by the child, two sends by the parent.
 */
LIFE(clone_vm)
{
	static char stack[65536] __attribute__((aligned(16)));
	int fd = sink(), pid;

	(void)argc, (void)argv;
	EXPECT(dup2(scratch_file(), 0) == 0 && write(0, "file", 4) == 4);
	sends(fd, 1);
	pid = clone(child_of_clone, stack + sizeof(stack), CLONE_VM | CLONE_VFORK | SIGCHLD, &fd);
	reap(pid);
	EXPECT(write(0, "file", 4) == 4);
	sends(fd, 1);
	return 0;
}

#define BESIDE 3000

static int child_beside(void *fd)
{
	for (int i = 0; i < BESIDE; i++)
		if (send(*(int *)fd, "x", 1, 0) != 1)
			return 1;
	return 0;
}

static int child_by_number(void *fd)
{
	return syscall(SYS_sendto, *(int *)fd, "x", 1, 0, NULL, 0) == 1 ? 0 : 1;
}

/* Makes asking for the process id fatal. */
static void forbid_asking(void)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_getpid, 1, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_gettid, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog filter = {sizeof(code) / sizeof(code[0]), code};

	EXPECT(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0);
	EXPECT(prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter, 0, 0) == 0);
}

/*
 * Children in the parent's memory that run at the same time: one on its thread-local storage, with
 * as many sends, and one on a block of its own, with one send. After their end two more sends, on a
 * copy of the socket.
 */
LIFE(beside)
{
	static char stack[65536] __attribute__((aligned(16))),
		block[8192] __attribute__((aligned(64)));
	int fd = sink(), pid, copy;

	(void)argc, (void)argv;
	pid = clone(child_beside, stack + sizeof(stack), CLONE_VM | SIGCHLD, &fd);
	sends(fd, BESIDE);
	reap(pid);
	pid = clone(child_by_number, stack + sizeof(stack), CLONE_VM | CLONE_SETTLS | SIGCHLD, &fd,
		NULL, block + 4096, NULL);
	reap(pid);
	EXPECT(clone(child_beside, stack + sizeof(stack),
		       CLONE_VM | CLONE_SIGHAND | CLONE_NEWUSER | CLONE_FS | SIGCHLD, &fd) == -1);
	sends(fd, 1);
	forbid_asking();
	copy = dup(fd);
	sends(copy, 2);
	EXPECT(close(copy) == 0);
	return 0;
}

static int child_waits(void *ends)
{
	char c;

	return read(*(int *)ends, &c, 1) == 1 ? 0 : 1;
}

/*
 * The same with such a child alive: a filter that makes looking for it fatal, another filter; two
 * sends.
 */
LIFE(beside_sandbox)
{
	static char stack[65536] __attribute__((aligned(16)));
	int fd = sink(), ends[2], pid;

	(void)argc, (void)argv;
	EXPECT(pipe(ends) == 0);
	pid = clone(child_waits, stack + sizeof(stack), CLONE_VM | SIGCHLD, ends);
	sends(fd, 1);
	forbid_call(SYS_kill);
	forbid_call(SYS_swapon);
	sends(fd, 1);
	EXPECT(write(ends[1], "x", 1) == 1);
	reap(pid);
	return 0;
}

/* Every function that executes a program, each in a child that sends once before. */
LIFE(execs)
{
	char *args[] = {(char *)"sh", (char *)"-c", (char *)"echo $0 $1 $X", (char *)"v",
		(char *)"w", NULL};
	char *env[] = {(char *)"X=set", (char *)"PATH=/usr/bin:/bin", NULL};
	int fd = sink(), shell = open("/bin/sh", O_RDONLY);

	(void)argc, (void)argv;
	for (int how = 0; how < 10; how++) {
		int pid = fork();

		if (pid == 0) {
			sends(fd, 1);
			switch (how) {
			case 0:
				execl("/bin/sh", "sh", "-c", args[2], "l", "m", (char *)NULL);
				break;
			case 1:
				execlp("sh", "sh", "-c", args[2], "lp", (char *)NULL);
				break;
			case 2:
				execle("/bin/sh", "sh", "-c", args[2], "le", (char *)NULL, env);
				break;
			case 3:
				execv("/bin/sh", args);
				break;
			case 4:
				execvp("sh", args);
				break;
			case 5:
				execvpe("sh", args, env);
				break;
			case 6:
				execve("/bin/sh", args, env);
				break;
			case 7:
				fexecve(shell, args, env);
				break;
			case 8:
				execvp("no such program", args);
				break;
			case 9:
				execl("/", "/", (char *)NULL);
				break;
			}
			fprintf(stderr, "%d: %s\n", how, strerror(errno));
			_exit(0);
		}
		reap(pid);
	}
	return 0;
}
