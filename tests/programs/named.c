/* SPDX-License-Identifier: MIT */
/*
 * named PORT [PROGRAM]: connections to itself by its first thread (to PORT), by a thread of another
 * name (PORT + 1), by a process that this thread forks (PORT + 2), by one that its first thread
 * forks (PORT + 3), and once it has renamed itself (PORT + 4). Then it executes PROGRAM, with PORT
 * + 5, from the thread of the other name.
 */
#include <arpa/inet.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#define BYTES 1000

static in_port_t port;
static char **next;

static void check(int ok, const char *what)
{
	if (ok)
		return;
	perror(what);
	_exit(1);
}

static void talk(int which)
{
	struct sockaddr_in to = {.sin_family = AF_INET,
		.sin_port = htons((in_port_t)(port + which)),
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	int listener = socket(AF_INET, SOCK_STREAM, 0), s = socket(AF_INET, SOCK_STREAM, 0), c,
	    on = 1;
	char bytes[BYTES] = {0};

	setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
	check(bind(listener, (void *)&to, sizeof(to)) == 0 && listen(listener, 1) == 0, "listen");
	check(connect(s, (void *)&to, sizeof(to)) == 0, "connect");
	c = accept(listener, NULL, NULL);
	check(write(s, bytes, BYTES) == BYTES, "write");
	for (ssize_t n = 0, got = 0; got < BYTES; got += n)
		check((n = read(c, bytes, BYTES)) > 0, "read");
	close(c);
	close(s);
	close(listener);
}

static void forked(int which)
{
	pid_t pid = fork();

	check(pid >= 0, "fork");
	if (!pid) {
		talk(which);
		_exit(0);
	}
	waitpid(pid, NULL, 0);
}

static void *of_another_name(void *unused)
{
	prctl(PR_SET_NAME, "worker");
	talk(1);
	forked(2);
	return unused;
}

static void *execute(void *unused)
{
	prctl(PR_SET_NAME, "launcher");
	execv(next[0], next);
	check(0, "execv");
	return unused;
}

static void in_a_thread(void *(*function)(void *))
{
	pthread_t t;

	check(pthread_create(&t, NULL, function, NULL) == 0, "pthread_create");
	pthread_join(t, NULL);
}

int main(int argc, char **argv)
{
	char number[16];

	if (argc < 2)
		return 2;
	port = (in_port_t)atoi(argv[1]);
	talk(0);
	in_a_thread(of_another_name);
	forked(3);
	prctl(PR_SET_NAME, "renamed");
	talk(4);
	if (argc > 2) {
		snprintf(number, sizeof(number), "%d", port + 5);
		next = (char *[]){argv[2], number, NULL};
		in_a_thread(execute);
	}
	return 0;
}
