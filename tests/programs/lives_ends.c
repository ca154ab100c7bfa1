/* SPDX-License-Identifier: MIT */
/* The ways a program can end. */
#define _GNU_SOURCE
#include "lives.h"

#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

/* A program of about a millisecond. */
LIFE(brief)
{
	(void)argc, (void)argv;
	sends(sink(), 3);
	return 0;
}

/* Ends in the given way right after the last of four sends. */
LIFE(end)
{
	const char *how = argc > 1 ? argv[1] : "";
	static int *volatile nowhere;
	struct rlimit none = {0, 0};
	int fd = sink();

	setrlimit(RLIMIT_CORE, &none);
	sends(fd, 4);
	if (strcmp(how, "_exit") == 0)
		_exit(3);
	if (strcmp(how, "quick_exit") == 0)
		quick_exit(4);
	if (strcmp(how, "abort") == 0)
		abort();
	if (strcmp(how, "segv") == 0)
		*nowhere = 1;
	if (strcmp(how, "kill") == 0)
		raise(SIGKILL);
	if (strcmp(how, "exit_group") == 0)
		syscall(SYS_exit_group, 5);
	return 6;
}

struct progress {
	unsigned long long sent;
	char line[56];
};

static void send_on(struct progress *p, volatile int *stop, useconds_t pause)
{
	int fd = sink();

	for (; !stop || !*stop; p->sent++) {
		EXPECT(send(fd, "x", 1, 0) == 1);
		if (pause)
			usleep(pause);
	}
}

/*
 * Children that send as fast as they can are killed at arbitrary points, one after another, while
 * another program sends undisturbed.
 */
LIFE(killed)
{
	int n = argc > 1 ? atoi(argv[1]) : 1;
	struct progress *p = mmap(NULL, sizeof(*p) * (size_t)(n + 2), PROT_READ | PROT_WRITE,
		MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	volatile int *stop = (volatile int *)&p[n + 1];
	int peaceful, status;

	EXPECT(p != MAP_FAILED);
	peaceful = fork();
	if (peaceful == 0) {
		send_on(&p[n], stop, 100);
		_exit(0);
	}
	for (int i = 0; i < n; i++) {
		unsigned long long enough = 50 + (unsigned long long)(i * 37 % 1000);
		int pid = fork();

		if (pid == 0)
			send_on(&p[i], NULL, 0);
		while (__atomic_load_n(&p[i].sent, __ATOMIC_RELAXED) < enough)
			usleep(20);
		EXPECT(kill(pid, SIGKILL) == 0 && waitpid(pid, &status, 0) == pid);
		EXPECT(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
		tell("killed %d %llu\n", pid, p[i].sent);
	}
	*stop = 1;
	reap(peaceful);
	tell("peaceful %d %llu\n", peaceful, p[n].sent);
	return 0;
}

/* One process that executes another program again and again. */
LIFE(exec_chain)
{
	int left = argc > 1 ? atoi(argv[1]) : 0;
	char next[16];
	int fd = sink();

	sends(fd, 1);
	close(fd);
	if (left <= 1)
		return 0;
	snprintf(next, sizeof(next), "%d", left - 1);
	become("exec_chain", next);
	return 1;
}
