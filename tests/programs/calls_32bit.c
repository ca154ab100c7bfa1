/* SPDX-License-Identifier: MIT */
/*
 * Sends to itself over a connection, mostly by 32-bit system calls and once by a 64-bit one. Prints
 * how many calls of each kind that only sockets have it made, and the bytes it sent.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#define ROUNDS 100
#define SIZE   100

/* 32-bit system call numbers; 20 is writev() for 64-bit programs */
enum {
	READ = 3,
	WRITE = 4,
	SOCKET = 359,
	BIND = 361,
	CONNECT = 362,
	LISTEN = 363,
	ACCEPT4 = 364,
	GETPID = 20
};

/* Makes a 32-bit call; `left` goes where 64-bit calls have their first argument. */
static int call(int nr, long a, long b, long c, long left)
{
	int ret;

	__asm__ volatile("int $0x80"
			 : "=a"(ret)
			 : "a"(nr), "b"(a), "c"(b), "d"(c), "S"(0L), "D"(left)
			 : "memory", "r8", "r9", "r10", "r11");
	return ret;
}

int main(void)
{
	struct sockaddr_in *a = mmap(
		NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_32BIT, -1, 0);
	long buffer = (long)(a + 1), at = (long)a;
	socklen_t n = sizeof(*a);
	int l, s, c;

	if (a == MAP_FAILED)
		return 1;
	a->sin_family = AF_INET;
	a->sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	l = call(SOCKET, AF_INET, SOCK_STREAM, 0, 0);
	if (l < 0 || call(BIND, l, at, n, 0) || call(LISTEN, l, 1, 0, 0) ||
		getsockname(l, (void *)a, &n))
		return 1;
	s = call(SOCKET, AF_INET, SOCK_STREAM, 0, 0);
	if (s < 0 || call(CONNECT, s, at, n, 0))
		return 1;
	c = call(ACCEPT4, l, 0, 0, 0);
	for (int i = 0; i < ROUNDS; i++)
		if (call(WRITE, s, buffer, SIZE, 0) != SIZE ||
			call(READ, c, buffer, SIZE, 0) <= 0 || call(GETPID, 0, 0, 1, s) != getpid())
			return 1;
	if (send(s, a, 1, 0) != 1)
		return 1;
	printf("6 1 %d\n", ROUNDS * SIZE + 1);
	return 0;
}
