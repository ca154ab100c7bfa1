/* SPDX-License-Identifier: MIT */
/* Programs that become daemons, confine themselves, or give up privileges. */
#define _GNU_SOURCE
#include "lives.h"

#include <fcntl.h>
#include <grp.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

static void close_all(const char *how)
{
	if (strcmp(how, "loop") == 0)
		for (int fd = 3; fd < 1024; fd++)
			close(fd);
	else if (strcmp(how, "all") == 0) /* the first three too */
		EXPECT(close_range(0, ~0u, 0) == 0);
	else if (strcmp(how, "close_range") == 0)
		EXPECT(close_range(3, ~0u, 0) == 0);
	else if (strcmp(how, "raw") == 0)
		for (int fd = 3; fd < 1024; fd++)
			syscall(SYS_close, fd);
	else if (strcmp(how, "raw_range") == 0)
		EXPECT(syscall(SYS_close_range, 3, ~0u, 0) == 0);
	else if (strcmp(how, "dup2") == 0)
		for (int fd = 3; fd < 100; fd++)
			dup2(0, fd);
#if __GLIBC_PREREQ(2, 34)
	else
		closefrom(3);
#endif
}

/* A daemon by the book: a send before, and four on new sockets after it has closed everything. */
LIFE(daemon)
{
	const char *how = argc > 1 ? argv[1] : "";
	int fd = sink(), pid;

	EXPECT(prctl(PR_SET_CHILD_SUBREAPER, 1) == 0);
	sends(fd, 1);
	pid = fork();
	if (pid == 0) {
		setsid();
		if (fork())
			_exit(0);
		close_all(how);
		fd = sink();
		sends(fd, 3);
		close(fd);
		fd = open("/dev/null", O_WRONLY); /* the same number with another kind */
		EXPECT(write(fd, "x", 1) == 1);
		sends(sink(), 1);
		exit(0);
	}
	reap_all();
	return 0;
}

static void *thread_sends(void *fd)
{
	sends(*(int *)fd, 2);
	return NULL;
}

static void in_a_thread(int fd)
{
	pthread_t t;

	EXPECT(pthread_create(&t, NULL, thread_sends, &fd) == 0 && pthread_join(t, NULL) == 0);
}

static void in_a_child(int fd)
{
	int pid = fork();

	if (pid == 0) {
		sends(fd, 2);
		in_a_thread(fd);
		_exit(0);
	}
	reap(pid);
}

/* chroot(), then two sends by a thread, and four in a child. */
LIFE(cage)
{
	char path[] = "/tmp/magnet-lives-XXXXXX";
	int fd = sink(), top = open("/", O_RDONLY);

	(void)argc, (void)argv;
	EXPECT(mkdtemp(path) && chroot(path) == 0 && chdir("/") == 0);
	in_a_thread(fd);
	in_a_child(fd);
	EXPECT(fchdir(top) == 0 && rmdir(path + 1) == 0);
	return 0;
}

/* Becomes user nobody: two sends by a thread, four in a child, three by another program. */
LIFE(drop)
{
	int fd = sink();

	(void)argc, (void)argv;
	EXPECT(setgroups(0, NULL) == 0 && setgid(65534) == 0 && setuid(65534) == 0);
	in_a_thread(fd);
	in_a_child(fd);
	execl(argv[1], argv[1], "brief", (char *)NULL);
	EXPECT(!"exec");
	return 1;
}

/* ---- seccomp ---- */

/* Allows everything but one call, which is fatal. */
void forbid_call(unsigned int nr)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, nr, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog filter = {sizeof(code) / sizeof(code[0]), code};

	EXPECT(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0);
	EXPECT(prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter, 0, 0) == 0);
}

#define ALLOW(name)                                            \
	BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_##name, 0, 1), \
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)

static void lock_in(const char *how)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		ALLOW(read),
		ALLOW(write),
		ALLOW(sendto),
		ALLOW(recvfrom),
		ALLOW(exit),
		ALLOW(exit_group),
		ALLOW(rt_sigreturn),
		ALLOW(futex),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
	};
	struct sock_fprog filter = {sizeof(code) / sizeof(code[0]), code};

	EXPECT(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0);
	if (strcmp(how, "prctl") == 0)
		EXPECT(prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter, 0, 0) == 0);
	else if (strcmp(how, "prctl by number") == 0)
		EXPECT(syscall(SYS_prctl, PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter, 0, 0) == 0);
	else
		EXPECT(syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC,
			       &filter) == 0);
}

static volatile int started, locked_in, done;

static void *worker(void *fd)
{
	char c;

	started = 1;
	while (!locked_in)
		;
	sends(*(int *)fd, 3);
	EXPECT(recv(*(int *)fd, &c, 1, 0) == 1);
	done = 1;
	for (;;) /* the filter does not allow the calls of its exit */
		;
	return NULL;
}

/*
 * Strict seccomp before any traced call. Then two writes to descriptor 3, a socket the program was
 * started with, a send, and three and a recv by a thread that existed before.
 */
LIFE(sandbox)
{
	int pair[2], pid, fd = 3;
	pthread_t t;
	char c;

	if (argc < 3) {
		EXPECT(dup2(sink(), fd) == fd);
		execl("/proc/self/exe", "lives", "sandbox", argv[1], "in", (char *)NULL);
		EXPECT(!"exec");
	}
	EXPECT(pipe(pair) == 0);
	pid = vfork(); /* after such a child the thread may not be able to tell who it is */
	if (pid == 0)
		_exit(0);
	reap(pid);
	EXPECT(pthread_create(&t, NULL, worker, &fd) == 0);
	while (!started)
		;
	lock_in(argv[1]);
	EXPECT(write(fd, "x", 1) == 1 && write(fd, "x", 1) == 1);
	sends(fd, 1);
	EXPECT(write(pair[1], "x", 1) == 1 && read(pair[0], &c, 1) == 1);
	EXPECT(write(1, "in\n", 3) == 3 && write(2, "err\n", 4) == 4);
	locked_in = 1;
	while (!done)
		;
	syscall(SYS_exit_group, 7);
	return 0;
}

/*
 * A child in its parent's memory sets a filter, which is not the parent's. The parent writes once
 * to a socket it was started with.
 */
LIFE(sandboxed_child)
{
	int pid, fd = 3;

	if (argc < 3) {
		EXPECT(dup2(sink(), fd) == fd);
		execl("/proc/self/exe", "lives", "sandboxed_child", argv[1], "in", (char *)NULL);
		EXPECT(!"exec");
	}
	pid = vfork();
	if (pid == 0) {
		lock_in(argv[1]);
		_exit(0);
	}
	reap(pid);
	EXPECT(write(fd, "x", 1) == 1);
	return 0;
}

/*
 * A sandboxed program makes a child in its memory, which closes all descriptors and makes its
 * standard input a socket; the parent's is a file. The child sends once, the parent four times
 * afterwards, also on a new socket and on a copy.
 */
LIFE(sandboxed_parent)
{
	int fd = sink(), pid, other;

	(void)argc, (void)argv;
	EXPECT(dup2(scratch_file(), 0) == 0);
	forbid_call(SYS_kill);
	pid = vfork();
	if (pid == 0) {
		if (send(fd, "x", 1, 0) != 1 || dup2(fd, 0) != 0 || close(fd) != 0 ||
			close_range(1, ~0u, 0) != 0)
			_exit(1);
		execl("/bin/true", "true", (char *)NULL);
		_exit(127);
	}
	reap(pid);
	other = sink();
	sends(other, 1);
	sends(fd, 1);
	EXPECT(dup2(fd, other) == other);
	sends(other, 2);
	EXPECT(write(0, "file", 4) == 4);
	return 0;
}
