/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sys/mount.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "confine.h"
#include "unit.h"

/* Runs a function in a child, as privileges once given up do not come back. Returns its result. */
static int in_a_child(int (*what)(void))
{
	pid_t pid = fork();
	int status = -1;

	if (pid == 0)
		_exit(what());
	waitpid(pid, &status, 0);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + WTERMSIG(status);
}

/* Returns the number of the first failed check. */
#define EXPECT(n, condition)      \
	do {                      \
		if (!(condition)) \
			return n; \
	} while (0)

static int descriptors(void)
{
	int a = fcntl(0, F_DUPFD, 10), b = fcntl(0, F_DUPFD, 20), c = fcntl(0, F_DUPFD, 30);

	mg_close_others(b, -1);
	EXPECT(1, fcntl(a, F_GETFD) < 0 && fcntl(b, F_GETFD) >= 0 && fcntl(c, F_GETFD) < 0);
	a = fcntl(0, F_DUPFD, 3);
	c = fcntl(0, F_DUPFD, 900);
	mg_close_others(c, a);
	EXPECT(2, fcntl(a, F_GETFD) >= 0 && fcntl(b, F_GETFD) < 0 && fcntl(c, F_GETFD) >= 0);
	mg_close_others(-1, -1);
	EXPECT(3, fcntl(a, F_GETFD) < 0 && fcntl(c, F_GETFD) < 0);
	EXPECT(4, fcntl(0, F_GETFD) >= 0 && fcntl(2, F_GETFD) >= 0);
	return 0;
}

static void others_descriptors_are_closed(void **unused)
{
	(void)unused;
	assert_int_equal(in_a_child(descriptors), 0);
}

static void *end_at_once(void *arg)
{
	return arg;
}

static bool refused(long result)
{
	return result == -1 && errno == ENOSYS;
}

static int calls(void)
{
	static const char *const more[] = {"getsockopt", "no_such_call", NULL};
	char *const argv[] = {(char *)"/bin/true", NULL};
	struct rlimit limit = {1000, 1000};
	pthread_t thread;
	void *memory;
	FILE *f;

	EXPECT(1, mg_keep_calls(more) == 0);
	/* calls that run programs, and calls that reach other processes */
	EXPECT(2, refused(execve("/bin/true", argv, NULL)));
	EXPECT(3, refused(fork()));
	EXPECT(4, refused(ptrace(PTRACE_ATTACH, getppid(), 0, 0)));
	EXPECT(5, refused(socket(AF_INET, SOCK_STREAM, 0)));
	EXPECT(6, refused(kill(getppid(), 0)));
	EXPECT(7, refused(mount("none", "/", "tmpfs", 0, NULL)));
	EXPECT(8, refused(syscall(SYS_bpf, 0, NULL, 0)));
	EXPECT(9, refused(chmod("/nowhere", 0777)));
	EXPECT(10, refused(syscall(SYS_tgkill, getppid(), getppid(), 0)));
	EXPECT(11, refused(setrlimit(RLIMIT_NOFILE, &limit)));
	/* calls that remain allowed */
	EXPECT(20, pthread_create(&thread, NULL, end_at_once, NULL) == 0);
	EXPECT(21, pthread_join(thread, NULL) == 0);
	memory = malloc(64 << 20);
	EXPECT(22, memory);
	memset(memory, 1, 64 << 20);
	free(memory);
	f = fopen("/proc/self/stat", "re");
	EXPECT(23, f && fgetc(f) != EOF && fclose(f) == 0);
	EXPECT(24, getrlimit(RLIMIT_NOFILE, &limit) == 0);
	EXPECT(25, getsockopt(0, SOL_SOCKET, SO_TYPE, NULL, NULL) == -1 && errno != ENOSYS);
	return 0;
}

static void only_calls_that_recorders_make_are_left(void **unused)
{
#if defined(__SANITIZE_ADDRESS__)
	skip();
#endif
	(void)unused;
	assert_int_equal(in_a_child(calls), 0);
}

static int capabilities(void)
{
	EXPECT(1, mg_keep_capabilities(0) == 0);
	if (geteuid() == 0)
		EXPECT(2, chroot("/") == -1 && errno == EPERM);
	EXPECT(3, mg_keep_capabilities(~0ull) == 0); /* does not bring any back */
	EXPECT(4, chroot("/") == -1 && errno == EPERM);
	return 0;
}

static void capabilities_do_not_come_back(void **unused)
{
	(void)unused;
	assert_int_equal(in_a_child(capabilities), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(others_descriptors_are_closed),
		cmocka_unit_test(only_calls_that_recorders_make_are_left),
		cmocka_unit_test(capabilities_do_not_come_back),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
