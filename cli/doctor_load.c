/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "doctor_load.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdbool.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define MESSAGE_BYTES   1024 /* small, so that there are many events */
#define CONNECTIONS_MAX 8
#define FAILED          3 /* exit status of a child without its connections */

int load_connections(void)
{
	long n = sysconf(_SC_NPROCESSORS_ONLN) / 2;

	return n < 1 ? 1 : n > CONNECTIONS_MAX ? CONNECTIONS_MAX : (int)n;
}

/* Returns 0 with both ends of a TCP connection over loopback, or -1. */
static int connect_pair(int *writer, int *reader)
{
	struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t size = sizeof(at);
	int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	*writer = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (listener < 0 || *writer < 0 || bind(listener, (void *)&at, size) != 0 ||
		listen(listener, 1) != 0 || getsockname(listener, (void *)&at, &size) != 0 ||
		connect(*writer, (void *)&at, size) != 0)
		return -1;
	*reader = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
	close(listener);
	return *reader < 0 ? -1 : 0;
}

/* Forks. Whoever ends the parent ends the child, so that no load outlives the doctor. */
static pid_t fork_bound(void)
{
	pid_t parent = getpid(), child = fork();

	if (child == 0 && (prctl(PR_SET_PDEATHSIG, SIGKILL) != 0 || getppid() != parent))
		_exit(FAILED);
	return child;
}

/* Writes into each connection until it is killed. Does not return. */
static void be_load(void)
{
	char message[MESSAGE_BYTES] = "";
	int writer, reader;

	for (int i = 1; i < load_connections(); i++)
		if (fork_bound() == 0)
			break;
	if (connect_pair(&writer, &reader) != 0)
		_exit(FAILED);
	if (fork_bound() == 0)
		for (;;)
			if (read(reader, message, sizeof(message)) <= 0)
				_exit(0);
	for (;;)
		if (send(writer, message, sizeof(message), MSG_NOSIGNAL) < 0)
			_exit(FAILED);
}

int load_start(struct load *l)
{
	int gate[2];
	char go;

	if (pipe2(gate, O_CLOEXEC) != 0)
		return -errno;
	l->pid = fork_bound();
	if (l->pid == 0) {
		setpgid(0, 0); /* so that all of its processes end together */
		close(gate[1]);
		if (read(gate[0], &go, 1) == 1)
			be_load();
		_exit(0);
	}
	close(gate[0]);
	l->gate = gate[1];
	if (l->pid < 0) {
		close(gate[1]);
		return -EAGAIN;
	}
	setpgid(l->pid, l->pid); /* whoever comes first */
	return 0;
}

/* Ends the group. Returns whether its first process had ended before. */
static bool end_group(struct load *l)
{
	int status;
	bool ended = waitpid(l->pid, &status, WNOHANG) == l->pid;

	kill(-l->pid, SIGKILL);
	if (!ended)
		waitpid(l->pid, &status, 0);
	l->pid = 0;
	return ended;
}

int load_run(struct load *l, unsigned int ms)
{
	struct timespec left = {ms / 1000, (long)(ms % 1000) * 1000000};
	bool begun = write(l->gate, "", 1) == 1;

	while (begun && nanosleep(&left, &left) != 0)
		;
	close(l->gate);
	return end_group(l) || !begun ? -EIO : 0;
}

void load_cancel(struct load *l)
{
	close(l->gate);
	end_group(l);
}
