/* SPDX-License-Identifier: MIT */
/*
 * lives CASE [ARG ...]: the life of a program, from ordinary to strange, with a known number of
 * calls on sockets. Prints the same each time.
 */
#define _GNU_SOURCE
#include "lives.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <stdarg.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define ROW(name) {#name, life_##name},
static const struct {
	const char *name;
	life run;
} lives[] = {LIVES(ROW)};

int sink(void)
{
	struct sockaddr_in addr = {
		.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t len = sizeof(addr);
	int fd = socket(AF_INET, SOCK_DGRAM, 0);

	EXPECT(fd >= 0 && bind(fd, (void *)&addr, len) == 0);
	EXPECT(getsockname(fd, (void *)&addr, &len) == 0 && connect(fd, (void *)&addr, len) == 0);
	return fd;
}

void sends(int fd, int n)
{
	for (int i = 0; i < n; i++)
		EXPECT(send(fd, "x", 1, 0) == 1);
}

void reap(int pid)
{
	int status;

	EXPECT(pid > 0 && waitpid(pid, &status, 0) == pid);
	EXPECT(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

void reap_all(void)
{
	int status;

	while (wait(&status) > 0)
		EXPECT(WIFEXITED(status) && WEXITSTATUS(status) == 0);
	EXPECT(errno == ECHILD);
}

void become(const char *name, const char *argument)
{
	execl("/proc/self/exe", "lives", name, argument, (char *)NULL);
	EXPECT(!"exec");
}

int scratch_file(void)
{
	char path[] = "/tmp/magnet-lives-XXXXXX";
	int fd = mkstemp(path);

	EXPECT(fd >= 0 && unlink(path) == 0);
	return fd;
}

unsigned long long now_us(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (unsigned long long)t.tv_sec * 1000000 + (unsigned long long)t.tv_nsec / 1000;
}

void tell(const char *format, ...)
{
	const char *path = getenv("LIVES_TOLD");
	char line[256];
	va_list ap;
	int fd, n;

	if (!path)
		return;
	va_start(ap, format);
	n = vsnprintf(line, sizeof(line), format, ap);
	va_end(ap);
	fd = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0666);
	EXPECT(fd >= 0 && write(fd, line, (size_t)n) == n && close(fd) == 0);
}

/* Runs before any constructor of any library: `lives brief preinit` sends twice from here. */
static void before_all(int argc, char **argv, char **env)
{
	(void)env;
	if (argc > 2 && strcmp(argv[2], "preinit") == 0) {
		int fd = sink();

		sends(fd, 2);
		close(fd);
	}
}

__attribute__((section(".preinit_array"), used)) static void (*const before)(
	int, char **, char **) = before_all;

int main(int argc, char **argv)
{
	for (size_t i = 0; argc > 1 && i < sizeof(lives) / sizeof(lives[0]); i++)
		if (strcmp(lives[i].name, argv[1]) == 0)
			return lives[i].run(argc - 1, argv + 1);
	fprintf(stderr, "usage: lives CASE [ARG ...]\n");
	return 2;
}
