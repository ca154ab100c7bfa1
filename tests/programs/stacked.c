/* SPDX-License-Identifier: MIT */
/*
 * stacked [REQUESTS]: a server and its client on loopback, in one process. Each request is read by
 * handler(), which sleeps in slow_function(), by a system call of its own, and in through_libc(),
 * by a function of the C library. A child that ends at once sleeps in short_lived(). Datagrams go
 * to a port that nobody has. Prints as JSON how long the functions took, by the clock.
 */
#include <arpa/inet.h>
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define SLEEP_NS 8000000

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

/* Sleeps without a function in between. */
static inline __attribute__((always_inline)) void sleep_here(void)
{
	struct timespec t = {0, SLEEP_NS};
#if defined(__x86_64__)
	long nr = SYS_nanosleep;

	__asm__ volatile("syscall" : "+a"(nr) : "D"(&t), "S"(0) : "rcx", "r11", "memory");
#elif defined(__aarch64__)
	register long nr __asm__("x8") = SYS_nanosleep;
	register long first __asm__("x0") = (long)&t;
	register long second __asm__("x1") = 0;

	__asm__ volatile("svc 0" : "+r"(first) : "r"(nr), "r"(second) : "memory");
#else
#error "no system call for this machine"
#endif
}

#define FUNCTION static __attribute__((noinline, noclone, used))

static uint64_t slow_ns, libc_ns;

FUNCTION void slow_function(void)
{
	uint64_t begin = now_ns();

	sleep_here();
	slow_ns += now_ns() - begin;
}

FUNCTION void through_libc(void)
{
	struct timespec t = {0, SLEEP_NS};
	uint64_t begin = now_ns();

	nanosleep(&t, NULL);
	libc_ns += now_ns() - begin;
}

FUNCTION void short_lived(void)
{
	sleep_here();
	__asm__ volatile(""); /* so that the call before is not the last thing it does */
}

FUNCTION void handler(int s)
{
	char request[4];

	if (recv(s, request, sizeof(request), MSG_WAITALL) != sizeof(request))
		exit(1);
	slow_function();
	through_libc();
	if (send(s, request, sizeof(request), 0) != sizeof(request))
		exit(1);
}

static void connect_both(int *client, int *server)
{
	struct sockaddr_in a = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
	socklen_t size = sizeof(a);
	int l = socket(AF_INET, SOCK_STREAM, 0);

	*client = socket(AF_INET, SOCK_STREAM, 0);
	if (bind(l, (void *)&a, size) != 0 || listen(l, 1) != 0 ||
		getsockname(l, (void *)&a, &size) != 0 || connect(*client, (void *)&a, size) != 0)
		exit(1);
	*server = accept(l, NULL, NULL);
}

static void send_to_nobody(void)
{
	struct sockaddr_in a = {
		.sin_family = AF_INET, .sin_port = htons(9), .sin_addr = {htonl(INADDR_LOOPBACK)}};
	int s = socket(AF_INET, SOCK_DGRAM, 0);

	for (int i = 0; i < 3; i++)
		sendto(s, "x", 1, 0, (void *)&a, sizeof(a)); /* every second is refused */
}

int main(int argc, char **argv)
{
	int requests = argc > 1 ? atoi(argv[1]) : 20, client, server, status;
	char reply[4];

	if (fork() == 0) {
		short_lived();
		_exit(0);
	}
	if (wait(&status) < 0)
		return 1;
	connect_both(&client, &server);
	for (int i = 0; i < requests; i++) {
		if (send(client, "what", 4, 0) != 4)
			return 1;
		handler(server);
		if (recv(client, reply, sizeof(reply), MSG_WAITALL) != sizeof(reply))
			return 1;
	}
	send_to_nobody();
	printf("{\"slow_ns\": %" PRIu64 ", \"libc_ns\": %" PRIu64 "}\n", slow_ns, libc_ns);
	return 0;
}
