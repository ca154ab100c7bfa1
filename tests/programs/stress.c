/* SPDX-License-Identifier: MIT */
/*
 * 64 threads that send each other numbered bytes over TCP and UNIX sockets, while others fork
 * children which send too, a signal comes every millisecond whose handler sends as well, and
 * descriptors are closed, copied over each other, and reused at once.
 *
 *   stress SECONDS [SHARE]   SHARE of the threads, percent
 *
 * Prints what it did itself, as JSON: `calls` on sockets, [number, bytes] each, and what went
 * wrong. No call is ever cut off by the end of a thread or a process.
 */
#define _GNU_SOURCE
#include "stress.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define TALKERS  24 /* each has a peer of its own, which comes and goes */
#define CHURNERS 8
#define COPIERS  4
#define FORKERS  4
#define BURST    4  /* children at once */
#define ROUND    40 /* calls per connection */

struct stress_shared *shared;
static struct timespec end;

/* ---- counting ---- */

static void add(uint64_t *to, uint64_t n)
{
	__atomic_fetch_add(to, n, __ATOMIC_RELAXED);
}

void count_bytes(enum stress_call call, size_t bytes)
{
	add(&shared->bytes[call], bytes);
}

ssize_t counted_call(enum stress_call call, ssize_t ret)
{
#define STRESS_MOVES(name, moves) [CALL_##name] = moves,
	static const bool moves_bytes[] = {STRESS_CALLS(STRESS_MOVES)};

	add(&shared->calls[call], 1);
	if (moves_bytes[call] && ret > 0)
		count_bytes(call, (size_t)ret);
	return ret;
}

ssize_t other_call(ssize_t ret)
{
	add(&shared->others, 1);
	return ret;
}

bool expect(bool ok, const char *what, int line)
{
	if (!ok) {
		fprintf(stderr, "stress: line %d: %s (%s)\n", line, what, strerror(errno));
		add(&shared->wrong, 1);
	}
	return ok;
}

void pause_us(long us)
{
	struct timespec t = {us / 1000000, us % 1000000 * 1000};

	while (nanosleep(&t, &t) != 0)
		;
}

bool over(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec > end.tv_sec || (now.tv_sec == end.tv_sec && now.tv_nsec > end.tv_nsec);
}

/* ---- connections ---- */

static void *receiver(void *arg)
{
	struct stream *s = arg;

	while (receive_some(s))
		;
	EXPECT(CALL(close, s->fd) == 0);
	return NULL;
}

static void *talker(void *arg)
{
	unsigned int id = (unsigned int)(uintptr_t)arg;

	for (unsigned int round = 0; !over(); round++) {
		struct stream out, in;
		pthread_t thread;
		int fds[2];

		if (id % 2)
			EXPECT(CALL(socketpair, AF_UNIX, SOCK_STREAM, 0, fds) == 0);
		else
			connect_tcp(fds, round);
		stream_open(&out, id, fds[0]);
		stream_open(&in, id, fds[1]);
		if (!EXPECT(pthread_create(&thread, NULL, receiver, &in) == 0))
			break;
		add(&shared->threads, 1);
		for (int i = 0; i < ROUND && send_some(&out); i++)
			if (i % 4 == 3)
				pause_us(10000);
		EXPECT(CALL(shutdown, fds[0], SHUT_WR) == 0);
		pthread_join(thread, NULL);
		EXPECT(out.done == in.done);
		EXPECT(CALL(close, fds[0]) == 0);
		stream_close(&out);
		stream_close(&in);
		add(&shared->rounds, 1);
	}
	return NULL;
}

/* ---- descriptors that are reused at once ---- */

/* ThreadSanitizer would take a number that is closed unseen for the same descriptor */
#ifdef __SANITIZE_THREAD__
#define CLOSE(fd)  close(fd)
#define FORGET(fd) CALL(close, fd)
#else
#define CLOSE(fd)  syscall(SYS_close, fd)
#define FORGET(fd) EXPECT(close_range((unsigned int)(fd), (unsigned int)(fd), 0) == 0)
#endif

struct tag {
	unsigned int id, round;
};

static void through_pair(struct tag t, const int fds[2])
{
	struct tag got = {0};

	EXPECT(CALL(write, fds[0], &t, sizeof(t)) == sizeof(t));
	EXPECT(CALL(read, fds[1], &got, sizeof(got)) == sizeof(got));
	EXPECT(memcmp(&t, &got, sizeof(t)) == 0);
}

static void *churner(void *arg)
{
	struct tag t = {(unsigned int)(uintptr_t)arg, 0}, got;

	for (; !over(); t.round++) {
		int pair[2], pipes[2], file = memfd_create("stress", 0), tcp;

		EXPECT(pipe(pipes) == 0 && other_call(write(pipes[1], &t, sizeof(t))) > 0);
		EXPECT(CALL(socketpair, AF_UNIX, SOCK_STREAM, 0, pair) == 0);
		through_pair(t, pair);
		EXPECT(other_call(write(file, &t, sizeof(t))) == sizeof(t));
		EXPECT(CALL(close, pair[1]) == 0);
		close(file);
		tcp = (int)CALL(socket, AF_INET, SOCK_STREAM, 0);
		EXPECT(CALL(send, tcp, &t, sizeof(t), MSG_NOSIGNAL) == -1);
		file = open("/dev/null", O_RDWR);
		EXPECT(counted_call(CALL_close, CLOSE(tcp)) == 0);
		EXPECT(other_call(read(pipes[0], &got, sizeof(got))) == sizeof(got));
		EXPECT(memcmp(&t, &got, sizeof(t)) == 0);
		EXPECT(other_call(write(file, &t, sizeof(t))) == sizeof(t));
		close(pipes[0]);
		FORGET(pair[0]);
		close(pipes[1]);
		close(file);
		pause_us(3000);
	}
	return NULL;
}

/* Makes one number a socket, a file, and a socket again without ever closing it. */
static void *copier(void *arg)
{
	struct tag t = {(unsigned int)(uintptr_t)arg, 0}, got;
	int live = open("/dev/null", O_RDWR), other;

	for (; !over(); t.round++) {
		int pair[2], file = memfd_create("stress", 0);

		EXPECT(CALL(socketpair, AF_UNIX, SOCK_STREAM, 0, pair) == 0);
		EXPECT(dup2(pair[0], live) == live);
		through_pair(t, (int[]){live, pair[1]});
		EXPECT(dup3(file, live, O_CLOEXEC) == live);
		EXPECT(other_call(write(live, &t, sizeof(t))) == sizeof(t));
		EXPECT(other_call(pread(file, &got, sizeof(got), 0)) == sizeof(got));
		EXPECT(memcmp(&t, &got, sizeof(t)) == 0);
		other = fcntl(pair[1], F_DUPFD_CLOEXEC, 0);
		EXPECT(syscall(SYS_dup3, pair[0], live, 0) == live);
		through_pair(t, (int[]){live, other});
		EXPECT(CALL(close, pair[0]) == 0 && CALL(close, pair[1]) == 0);
		EXPECT(CALL(close, other) == 0);
		EXPECT(dup2(file, live) == live);
		close(file);
		pause_us(3000);
	}
	close(live);
	return NULL;
}

/* ---- children ---- */

static void child(struct stream *s)
{
	for (int i = 0; i < 5; i++)
		send_some(s);
	EXPECT(CALL(shutdown, s->fd, SHUT_WR) == 0);
	EXPECT(CALL(close, s->fd) == 0);
	_exit(0);
}

static void *forker(void *arg)
{
	unsigned int id = (unsigned int)(uintptr_t)arg;

	while (!over()) {
		struct stream out[BURST], in[BURST];
		pid_t pids[BURST];
		int fds[2], status;

		for (int i = 0; i < BURST; i++) {
			EXPECT(CALL(socketpair, AF_UNIX, SOCK_STREAM, 0, fds) == 0);
			stream_open(&out[i], id + (unsigned int)i, fds[0]);
			stream_open(&in[i], id + (unsigned int)i, fds[1]);
			pids[i] = fork();
			if (pids[i] == 0)
				child(&out[i]);
			EXPECT(pids[i] > 0);
			EXPECT(CALL(close, fds[0]) == 0);
			add(&shared->children, 1);
		}
		for (int i = 0; i < BURST; i++) {
			while (receive_some(&in[i]))
				;
			EXPECT(waitpid(pids[i], &status, 0) == pids[i] && status == 0);
			EXPECT(CALL(close, in[i].fd) == 0);
			stream_close(&in[i]);
			stream_close(&out[i]);
		}
		pause_us(50000);
	}
	return NULL;
}

/* ---- signals ---- */

static int from_handler[2];

static void handler(int signo)
{
	int saved = errno;
	uint64_t n = __atomic_fetch_add(&shared->next_number, 1, __ATOMIC_RELAXED);

	(void)signo;
	add(&shared->signals, 1);
	if (CALL(send, from_handler[0], &n, sizeof(n), MSG_DONTWAIT) == sizeof(n)) {
		add(&shared->sum_sent, n);
		add(&shared->messages_sent, 1);
	}
	errno = saved;
}

static void *collector(void *arg)
{
	uint64_t sum = 0, messages = 0, n;
	ssize_t r;

	(void)arg;
	while ((r = CALL(recv, from_handler[1], &n, sizeof(n), 0)) != 0) {
		if (r < 0 && EXPECT(errno == EINTR))
			continue;
		EXPECT(r == sizeof(n));
		sum += n;
		messages++;
	}
	EXPECT(sum == __atomic_load_n(&shared->sum_sent, __ATOMIC_RELAXED) &&
		messages == __atomic_load_n(&shared->messages_sent, __ATOMIC_RELAXED));
	return NULL;
}

/* Lets signals go to threads that come and go, not to the first or the counting one. */
static void alarms(int how)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGALRM);
	pthread_sigmask(how, &set, NULL);
}

static void signals_begin(void)
{
	struct sigaction a = {.sa_handler = handler, .sa_flags = SA_RESTART};
	struct itimerval every_ms = {{0, 1000}, {0, 1000}};

	signal(SIGPIPE, SIG_IGN);
	EXPECT(sigaction(SIGALRM, &a, NULL) == 0 && setitimer(ITIMER_REAL, &every_ms, NULL) == 0);
}

/* Sends more at once than a small buffer holds. */
static void burst(int fd)
{
	int type;
	socklen_t len = sizeof(type);

	for (int i = 0; i < 5000; i++)
		CALL(getsockopt, fd, SOL_SOCKET, SO_TYPE, &type, &len);
}

/* ---- all of it ---- */

static void print_all(void)
{
	static const char *const names[] = {
#define STRESS_NAME(name, moves) #name,
		STRESS_CALLS(STRESS_NAME)};

	printf("{\"calls\": {");
	for (int i = 0; i < CALLS_END; i++)
		printf("%s\n\"%s\": [%llu, %llu]", i ? "," : "", names[i],
			(unsigned long long)shared->calls[i], (unsigned long long)shared->bytes[i]);
	printf("},\n\"others\": %llu, \"wrong\": %llu, \"signals\": %llu, \"rounds\": %llu, "
	       "\"children\": %llu, \"threads\": %llu}\n",
		(unsigned long long)shared->others, (unsigned long long)shared->wrong,
		(unsigned long long)shared->signals, (unsigned long long)shared->rounds,
		(unsigned long long)shared->children, (unsigned long long)shared->threads);
}

static unsigned int start(pthread_t *to, void *(*what)(void *), int n, int share, unsigned int id)
{
	unsigned int count = (unsigned int)(n * share + 99) / 100;

	for (unsigned int i = 0; i < count; i++)
		EXPECT(pthread_create(to + i, NULL, what, (void *)(uintptr_t)(id + i)) == 0);
	add(&shared->threads, count);
	return count;
}

int main(int argc, char **argv)
{
	static pthread_t threads[TALKERS + CHURNERS + COPIERS + FORKERS];
	int seconds = argc > 1 ? atoi(argv[1]) : 0, share = argc > 2 ? atoi(argv[2]) : 100;
	pthread_t reader;
	unsigned int n;

	if (seconds < 1 || share < 1 || share > 100) {
		fprintf(stderr, "usage: stress SECONDS [SHARE]\n");
		return 2;
	}
	shared = mmap(
		NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	clock_gettime(CLOCK_MONOTONIC, &end);
	end.tv_sec += seconds;
	EXPECT(CALL(socketpair, AF_UNIX, SOCK_SEQPACKET, 0, from_handler) == 0);
	alarms(SIG_BLOCK);
	pthread_create(&reader, NULL, collector, NULL);
	alarms(SIG_UNBLOCK);
	n = start(threads, talker, TALKERS, share, 0);
	n += start(threads + n, churner, CHURNERS, share, 100);
	n += start(threads + n, copier, COPIERS, share, 200);
	n += start(threads + n, forker, FORKERS, share, 300);
	alarms(SIG_BLOCK);
	signals_begin();
	burst(from_handler[1]);
	for (unsigned int i = 0; i < n; i++)
		pthread_join(threads[i], NULL);
	setitimer(ITIMER_REAL, &(struct itimerval){0}, NULL);
	pause_us(10000); /* the last message is on its way */
	EXPECT(CALL(shutdown, from_handler[0], SHUT_WR) == 0);
	pthread_join(reader, NULL);
	EXPECT(CALL(close, from_handler[0]) == 0 && CALL(close, from_handler[1]) == 0);
	print_all();
	return shared->wrong ? 1 : 0;
}
