/* SPDX-License-Identifier: MIT */
/* Programs that make reading the cycle counter fatal. */
#define _GNU_SOURCE
#include "lives.h"

#include <linux/seccomp.h>
#include <pthread.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

static void forbid(const char *how)
{
	if (strcmp(how, "prctl") == 0)
		EXPECT(prctl(PR_SET_TSC, PR_TSC_SIGSEGV, 0, 0, 0) == 0);
	else if (strcmp(how, "prctl by number") == 0)
		EXPECT(syscall(SYS_prctl, PR_SET_TSC, PR_TSC_SIGSEGV, 0, 0, 0) == 0);
	else if (strcmp(how, "strict") == 0)
		EXPECT(prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT, 0, 0, 0) == 0);
	else if (strcmp(how, "strict by number") == 0)
		EXPECT(syscall(SYS_prctl, PR_SET_SECCOMP, SECCOMP_MODE_STRICT, 0, 0, 0) == 0);
	else
		EXPECT(syscall(SYS_seccomp, SECCOMP_SET_MODE_STRICT, 0, NULL) == 0);
}

/*
 * Two writes before strict seccomp, three and a read after it; only these and the exit are allowed
 * then.
 */
LIFE(strict)
{
	int pair[2];
	char c;

	(void)argc;
	EXPECT(socketpair(AF_UNIX, SOCK_DGRAM, 0, pair) == 0);
	EXPECT(write(pair[0], "x", 1) == 1 && write(pair[0], "x", 1) == 1);
	forbid(argv[1]);
	for (int i = 0; i < 3; i++)
		if (write(pair[0], "x", 1) != 1)
			syscall(SYS_exit, 1);
	if (read(pair[1], &c, 1) != 1 || write(1, "out\n", 4) != 4)
		syscall(SYS_exit, 2);
	syscall(SYS_exit, 7);
	return 0;
}

static void *thread_sends(void *fd)
{
	sends(*(int *)fd, 2);
	return NULL;
}

/*
 * A send before; afterwards three by the process, two each by a thread and a child; then one more.
 */
LIFE(no_counter)
{
	int fd = sink(), pid;
	pthread_t t;

	(void)argc;
	sends(fd, 1);
	forbid(argv[1]);
	sends(fd, 2);
	EXPECT(syscall(SYS_sendto, fd, "x", 1, 0, NULL, 0) == 1);
	EXPECT(send(-1, "x", 1, 0) == -1 && errno == EBADF);
	pid = fork();
	if (pid == 0) {
		sends(fd, 2);
		_exit(0);
	}
	reap(pid);
	if (argc > 2) /* a process that never had a second thread is known to be single-threaded */
		EXPECT(prctl(PR_SET_TSC, PR_TSC_ENABLE, 0, 0, 0) == 0);
	sends(fd, 1);
	EXPECT(pthread_create(&t, NULL, thread_sends, &fd) == 0 && pthread_join(t, NULL) == 0);
	return 7;
}

/* A refused ban changes nothing: a send before, and two after. */
LIFE(counter_stays)
{
	int fd = sink();

	(void)argc, (void)argv;
	sends(fd, 1);
	EXPECT(prctl(PR_SET_SECCOMP, 77, 0, 0, 0) == -1);
	EXPECT(syscall(SYS_seccomp, SECCOMP_SET_MODE_STRICT, 1, NULL) == -1);
	sends(fd, 2);
	return 0;
}

/*
 * A ban or permission in a child in its parent's memory does not apply to the parent. A send by a
 * child without the counter and four by its parent with it; then by a child with it and its parent
 * without.
 */
LIFE(childs_counter)
{
	int fd = sink(), pid;

	(void)argc, (void)argv;
	pid = vfork();
	if (pid == 0) {
		if (prctl(PR_SET_TSC, PR_TSC_SIGSEGV, 0, 0, 0) || send(fd, "x", 1, 0) != 1)
			_exit(1);
		_exit(0);
	}
	reap(pid);
	sends(fd, 4);
	EXPECT(prctl(PR_SET_TSC, PR_TSC_SIGSEGV, 0, 0, 0) == 0);
	pid = vfork();
	if (pid == 0) {
		if (prctl(PR_SET_TSC, PR_TSC_ENABLE, 0, 0, 0) || send(fd, "x", 1, 0) != 1)
			_exit(1);
		execl("/bin/true", "true", (char *)NULL);
		_exit(127);
	}
	reap(pid);
	sends(fd, 2);
	return 7;
}
