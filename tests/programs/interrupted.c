/* SPDX-License-Identifier: MIT */
/*
 * Calls that do not simply return: interrupted by signals every half millisecond, with and without
 * SA_RESTART; calls with many messages; calls whose process is killed. Prints only deviations from
 * the manual pages.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#define EXPECT(what)                                                                   \
	do {                                                                           \
		if (!(what)) {                                                         \
			printf("line %d: %s: %s\n", __LINE__, #what, strerror(errno)); \
			exit(1);                                                       \
		}                                                                      \
	} while (0)

#define MESSAGES 300
#define ROUNDS   20

static int wakes[2];

/* Handles the signal with a call of its own, as event loops do. */
static void on_alarm(int unused)
{
	int saved = errno;

	(void)unused;
	if (send(wakes[0], "w", 1, MSG_DONTWAIT) == 1 && recv(wakes[1], &unused, 1, 0) != 1)
		abort();
	errno = saved;
}

static void alarms(int flags, int every_us)
{
	struct sigaction action = {.sa_handler = on_alarm, .sa_flags = flags};
	struct itimerval timer = {{0, every_us}, {0, every_us}};

	EXPECT(sigaction(SIGALRM, &action, NULL) == 0);
	EXPECT(setitimer(ITIMER_REAL, &timer, NULL) == 0);
}

static void pair(int fds[2])
{
	EXPECT(socketpair(AF_UNIX, SOCK_STREAM, 0, fds) == 0);
}

static void *send_slowly(void *fd)
{
	sigset_t all;

	sigfillset(&all);
	pthread_sigmask(SIG_BLOCK, &all, NULL);
	for (int i = 0; i < ROUNDS; i++) {
		usleep(2000);
		EXPECT(send(*(int *)fd, "hello", 5, 0) == 5);
	}
	return NULL;
}

static void interrupted(int flags)
{
	int fds[2], times = 0;
	pthread_t thread;
	char in[8];

	pair(fds);
	EXPECT(pthread_create(&thread, NULL, send_slowly, &fds[0]) == 0);
	alarms(flags, 500);
	for (int i = 0; i < ROUNDS; i++)
		while (recv(fds[1], in, 5, MSG_WAITALL) != 5) {
			EXPECT(errno == EINTR && !(flags & SA_RESTART));
			times++;
		}
	alarms(flags, 0);
	EXPECT(flags & SA_RESTART || times > 0);
	EXPECT(pthread_join(thread, NULL) == 0);
	EXPECT(close(fds[0]) == 0 && close(fds[1]) == 0);
}

static void many_messages(void)
{
	static struct mmsghdr out[MESSAGES], in[MESSAGES];
	static char from[MESSAGES], to[MESSAGES];
	static struct iovec iov[2][MESSAGES];
	int fds[2], done = 0, n;

	EXPECT(socketpair(AF_UNIX, SOCK_DGRAM, 0, fds) == 0);
	for (int i = 0; i < MESSAGES; i++) {
		iov[0][i] = (struct iovec){from, (size_t)i + 1};
		iov[1][i] = (struct iovec){to, sizeof(to)};
		out[i].msg_hdr = (struct msghdr){.msg_iov = &iov[0][i], .msg_iovlen = 1};
		in[i].msg_hdr = (struct msghdr){.msg_iov = &iov[1][i], .msg_iovlen = 1};
	}
	while (done < MESSAGES) { /* the queue takes no more than max_dgram_qlen */
		n = sendmmsg(fds[0], out + done, (unsigned int)(MESSAGES - done), MSG_DONTWAIT);
		EXPECT(n > 0);
		EXPECT(recvmmsg(fds[1], in, (unsigned int)n, 0, NULL) == n);
		done += n;
	}
	EXPECT(close(fds[0]) == 0 && close(fds[1]) == 0);
}

static void *send_for_ever(void *fd)
{
	static char much[1 << 22];

	send(*(int *)fd, much, sizeof(much), 0);
	return NULL;
}

static void *receive_for_ever(void *fd)
{
	char in;

	recv(*(int *)fd, &in, 1, 0);
	return NULL;
}

/* Starts a process whose threads are in calls when it exits or is killed. */
static void ended_within(int by_signal)
{
	int fds[2], status;
	pid_t child = fork();

	EXPECT(child >= 0);
	if (child == 0) {
		pthread_t threads[2];

		pair(fds);
		EXPECT(pthread_create(&threads[0], NULL, send_for_ever, &fds[0]) == 0);
		EXPECT(pthread_create(&threads[1], NULL, receive_for_ever, &fds[0]) == 0);
		usleep(20000);
		if (by_signal)
			kill(getpid(), SIGKILL);
		exit(0);
	}
	EXPECT(waitpid(child, &status, 0) == child);
	EXPECT(by_signal ? WIFSIGNALED(status) : WIFEXITED(status));
}

int main(void)
{
	pair(wakes);
	interrupted(SA_RESTART);
	interrupted(0);
	many_messages();
	ended_within(0);
	ended_within(1);
	return 0;
}
