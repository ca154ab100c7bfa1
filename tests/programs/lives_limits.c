/* SPDX-License-Identifier: MIT */
/* Programs with little memory, and properties of a process visible from inside. */
#define _GNU_SOURCE
#include "lives.h"

#include <dirent.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <unistd.h>

static void need(size_t megabytes)
{
	char *p = mmap(NULL, megabytes << 20, PROT_READ | PROT_WRITE,
		MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	EXPECT(p != MAP_FAILED);
	p[0] = 1;
	EXPECT(munmap(p, megabytes << 20) == 0);
}

static void *thread_sends(void *fd)
{
	sends(*(int *)fd, 1);
	return NULL;
}

static void some_sends(int threads)
{
	int fd = sink();
	pthread_t t;

	sends(fd, 3);
	for (int i = 0; i < threads; i++)
		EXPECT(pthread_create(&t, NULL, thread_sends, &fd) == 0 &&
			pthread_join(t, NULL) == 0);
}

/* A program that needs this many megabytes; three sends, and one by each of four threads. */
LIFE(memory)
{
	need(argc > 1 ? (size_t)atoi(argv[1]) : 1);
	some_sends(4);
	return 0;
}

/* The same with a limit that it sets itself, after a thread has sent. */
LIFE(limit)
{
	size_t megabytes = argc > 1 ? (size_t)atoi(argv[1]) : 512;
	struct rlimit limit = {megabytes << 20, megabytes << 20};
	int fd = sink();

	sends(fd, 1);
	EXPECT(setrlimit(RLIMIT_AS, &limit) == 0);
	need(megabytes / 2);
	sends(fd, 1);
	some_sends(4);
	return 0;
}

/* A program that locks its memory; the locked amount must not exceed what it uses. */
LIFE(lock)
{
	unsigned long kilobytes = 0;
	char line[128];
	FILE *f;

	(void)argc, (void)argv;
	some_sends(1);
	EXPECT(mlockall(MCL_CURRENT) == 0);
	some_sends(1);
	f = fopen("/proc/self/status", "r");
	while (f && fgets(line, sizeof(line), f))
		sscanf(line, "VmLck: %lu", &kilobytes);
	EXPECT(f && fclose(f) == 0 && kilobytes > 0);
	printf("locked %s\n", kilobytes < 128 << 10 ? "little" : "much");
	return 0;
}

/* ---- visible from inside ---- */

static void descriptors(void)
{
	DIR *d = opendir("/proc/self/fd");
	struct dirent *e;
	struct stat st;

	while (d && (e = readdir(d)))
		if (fstat(atoi(e->d_name), &st) == 0 && e->d_name[0] != '.')
			printf("fd %s type %o flags %d\n", e->d_name, st.st_mode & S_IFMT,
				fcntl(atoi(e->d_name), F_GETFD));
	closedir(d);
}

static void signals(void)
{
	struct sigaction sa;
	sigset_t set;

	sigprocmask(SIG_SETMASK, NULL, &set);
	for (int i = 1; i < NSIG; i++) {
		int known = sigaction(i, NULL, &sa) == 0;

		printf("%d%s%s ", i, sigismember(&set, i) == 1 ? "b" : "",
			!known                     ? "?"
			: sa.sa_handler == SIG_DFL ? ""
			: sa.sa_handler == SIG_IGN ? "i"
						   : "h");
	}
	printf("\n");
}

#define SHOW(call)                                            \
	do {                                                  \
		errno = 4321;                                 \
		printf("%s", #call);                          \
		fflush(stdout);                               \
		errno = 4321;                                 \
		long long result = (long long)(call);         \
		int error = errno;                            \
		printf(" = %lld, errno %d\n", result, error); \
	} while (0)

static void errors(void)
{
	static void *volatile bad = (void *)8;
	static char buf[4];
	int pair[2], fd = sink(), file = scratch_file();
	FILE *memory = fmemopen(buf, sizeof(buf), "r");

	EXPECT(socketpair(AF_UNIX, SOCK_STREAM, 0, pair) == 0);
	SHOW(send(fd, "x", 1, 0));
	SHOW(send(-1, "x", 1, 0));
	SHOW(send(70000, "x", 1, 0));
	SHOW(send(file, "x", 1, 0));
	SHOW(write(file, "x", 1));
	SHOW(write(900, "x", 1));
	SHOW(write(fd, bad, 1));
	SHOW(writev(fd, bad, 1));
	SHOW(sendmsg(fd, bad, 0));
	SHOW(recvmsg(pair[0], bad, MSG_DONTWAIT));
	SHOW(recv(pair[0], buf, 4, MSG_DONTWAIT));
	SHOW(fclose(memory));
	SHOW(fclose(fdopen(dup(fd), "w")));
	SHOW(dup2(file, 500));
	SHOW(dup2(-1, 500));
	SHOW(dup2(fd, -1));
	SHOW(close(500));
	SHOW(close(500));
	SHOW(close_range(400, 500, 0));
	SHOW(close_range(500, 400, 0));
	SHOW(syscall(SYS_close, 500));
	SHOW(syscall(SYS_sendto, fd, "x", 1, 0, NULL, 0));
	SHOW(syscall(SYS_dup, -1));
	SHOW(fcntl(fd, F_DUPFD, -1));
	SHOW(shutdown(file, SHUT_RD));
	SHOW(socket(AF_INET, 77, 0));
	SHOW(socketpair(AF_INET, SOCK_STREAM, 0, pair));
	SHOW(accept(fd, NULL, NULL));
	SHOW(getsockopt(fd, SOL_SOCKET, SO_TYPE, buf, NULL));
}

static int pair[2];

static void wakes(int sig)
{
	if (sig == SIGUSR1)
		EXPECT(write(pair[1], "x", 1) == 1);
}

/* A waiting call is interrupted, or restarts, as the program has asked. */
static void interrupted(void)
{
	struct itimerval t = {{0, 0}, {0, 20000}};
	struct sigaction sa = {.sa_handler = wakes};
	char c;

	EXPECT(socketpair(AF_UNIX, SOCK_STREAM, 0, pair) == 0);
	sigaction(SIGALRM, &sa, NULL);
	setitimer(ITIMER_REAL, &t, NULL);
	SHOW(recv(pair[0], &c, 1, 0));
	setitimer(ITIMER_REAL, &t, NULL);
	SHOW(read(pair[0], &c, 1));
	sa.sa_flags = SA_RESTART;
	sigaction(SIGUSR1, &sa, NULL);
	if (fork() == 0) {
		usleep(20000);
		kill(getppid(), SIGUSR1);
		_exit(0);
	}
	SHOW(recv(pair[0], &c, 1, 0));
	reap_all();
}

LIFE(state)
{
	(void)argc, (void)argv;
	descriptors();
	signals();
	errors();
	interrupted();
	descriptors();
	signals();
	return 0;
}

/* ---- calls that bypass libmagnet.so ---- */

/* Four sends by a library bound directly to the C library, one by the program. */
LIFE(deepbind)
{
	void *library = dlopen(argc > 1 ? argv[1] : "", RTLD_NOW | RTLD_DEEPBIND);
	void *symbol = library ? dlsym(library, "lives_send") : NULL;
	int (*lives_send)(int, int), fd = sink();

	EXPECT(symbol);
	memcpy(&lives_send, &symbol, sizeof(symbol));
	EXPECT(lives_send(fd, 4) == 4);
	sends(fd, 1);
	return 0;
}

/* Two calls of io_uring_enter() without any work. */
LIFE(uring)
{
	char params[120] = {0};
	long fd = syscall(SYS_io_uring_setup, 4, params);

	(void)argc, (void)argv;
	if (fd < 0) {
		printf("no io_uring\n");
		return 77;
	}
	EXPECT(syscall(SYS_io_uring_enter, fd, 0, 0, 0, NULL, 0) == 0);
	EXPECT(syscall(SYS_io_uring_enter, fd, 0, 0, 0, NULL, 0) == 0);
	sends(sink(), 1);
	return 0;
}
