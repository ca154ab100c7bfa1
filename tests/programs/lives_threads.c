/* SPDX-License-Identifier: MIT */
/* Threads: many at once, many in sequence, cancelled, and interrupted by signals. */
#define _GNU_SOURCE
#include "lives.h"

#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <unistd.h>

static pthread_barrier_t together;
static int shared_sink;

static void *sends_together(void *arg)
{
	(void)arg;
	pthread_barrier_wait(&together);
	sends(shared_sink, 5);
	pthread_barrier_wait(&together);
	return NULL;
}

static void small_stacks(pthread_attr_t *attr)
{
	pthread_attr_init(attr);
	EXPECT(pthread_attr_setstacksize(attr, 128 << 10) == 0);
}

/* Each thread sends five times, all at the same time. */
LIFE(threads)
{
	unsigned int n = argc > 1 ? (unsigned int)atoi(argv[1]) : 10;
	pthread_t *t = calloc(n, sizeof(*t));
	pthread_attr_t attr;

	small_stacks(&attr);
	shared_sink = sink();
	pthread_barrier_init(&together, NULL, n);
	for (unsigned int i = 0; i < n; i++)
		EXPECT(pthread_create(&t[i], &attr, sends_together, NULL) == 0);
	for (unsigned int i = 0; i < n; i++)
		EXPECT(pthread_join(t[i], NULL) == 0);
	free(t);
	return 0;
}

/* Returns the memory of the pools that the collector can still reach. */
static long long pool_bytes(const char *rings)
{
	const char *pid = rings ? strchr(rings, ':') : NULL;
	long long bytes = 0;
	char path[64];
	struct stat st;

	for (int fd = 0; pid && fd < 100; fd++) {
		snprintf(path, sizeof(path), "/proc/%d/fd/%d", atoi(pid + 1), fd);
		if (stat(path, &st) == 0 && S_ISREG(st.st_mode) && st.st_nlink == 0)
			bytes += (long long)st.st_blocks * 512;
	}
	return bytes;
}

static void *sends_alone(void *arg)
{
	(void)arg;
	sends(shared_sink, 2);
	return NULL;
}

/* Threads in sequence, with two sends each. */
LIFE(thread_chain)
{
	int n = argc > 1 ? atoi(argv[1]) : 10;
	pthread_attr_t attr;
	pthread_t t;

	small_stacks(&attr);
	shared_sink = sink();
	for (int i = 0; i < n; i++)
		EXPECT(pthread_create(&t, &attr, sends_alone, NULL) == 0 &&
			pthread_join(t, NULL) == 0);
	tell("bytes %lld\n", pool_bytes(getenv("MAGNET_RINGS")));
	return 0;
}

/* ---- cancellation ---- */

static volatile int cleaned;
static volatile int begun; /* number of threads that may be cancelled */

static void clean(void *arg)
{
	(void)arg;
	cleaned++;
}

static void *receives(void *arg)
{
	int *fds = arg, old;
	char c;

	if (fds[1])
		pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, &old);
	pthread_cleanup_push(clean, NULL);
	begun++;
	sends(fds[0], 1);
	for (int i = 0; i < 2; i++) /* the second read finds nothing */
		EXPECT(recv(fds[0], &c, 1, 0) == 1);
	pthread_cleanup_pop(0);
	return NULL;
}

/* A thread that waits for data is cancelled, in both ways: a send and a recv each. */
LIFE(cancel)
{
	void *result;
	pthread_t t;

	(void)argc, (void)argv;
	for (int type = 0; type < 2; type++) {
		int fds[2] = {sink(), type};

		EXPECT(pthread_create(&t, NULL, receives, fds) == 0);
		while (begun <= type)
			usleep(1000);
		usleep(20000);
		EXPECT(pthread_cancel(t) == 0 && pthread_join(t, &result) == 0);
		EXPECT(result == PTHREAD_CANCELED && cleaned == type + 1);
		close(fds[0]);
	}
	printf("cleaned %d\n", cleaned);
	return 0;
}

/* ---- signals ---- */

static volatile unsigned int handled;

static void every_200_us(void (*handler)(int))
{
	struct sigaction sa = {.sa_handler = handler, .sa_flags = SA_RESTART | SA_NODEFER};
	struct itimerval t = {{0, 200}, {0, 200}};

	EXPECT(sigaction(SIGALRM, &sa, NULL) == 0 && setitimer(ITIMER_REAL, &t, NULL) == 0);
}

static void quiet(void)
{
	struct itimerval t = {{0, 0}, {0, 0}};

	EXPECT(setitimer(ITIMER_REAL, &t, NULL) == 0);
}

static void handler_sends(int sig)
{
	int saved = errno;

	(void)sig;
	EXPECT(send(shared_sink, "h", 1, 0) == 1);
	handled++;
	errno = saved;
}

/* Writes by the program and by the handlers that interrupt it. */
LIFE(signals)
{
	unsigned long long until = now_us() + 400000;
	unsigned int written = 0;

	(void)argc, (void)argv;
	shared_sink = sink();
	every_200_us(handler_sends);
	for (; now_us() < until; written++)
		EXPECT(write(shared_sink, "x", 1) == 1);
	quiet();
	tell("written %u\nhandled %u\n", written, handled);
	return 0;
}

static sigjmp_buf back;

static void handler_jumps(int sig)
{
	(void)sig;
	handled++;
	siglongjmp(back, 1);
}

/* Handlers that leave by siglongjmp(), from arbitrary places. */
LIFE(jumps)
{
	static volatile unsigned int sent;
	unsigned long long until = now_us() + 400000;

	(void)argc, (void)argv;
	shared_sink = sink();
	every_200_us(handler_jumps);
	sigsetjmp(back, 1);
	for (; now_us() < until; sent++)
		EXPECT(send(shared_sink, "x", 1, 0) == 1);
	quiet();
	tell("sent %u\njumps %u\n", sent, handled);
	return 0;
}
