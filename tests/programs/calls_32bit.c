/* SPDX-License-Identifier: MIT */
/*
 * A connection with itself over which it speaks as 32-bit programs do, and once as others do. Says
 * how many calls of each kind it made that only sockets have, and the bytes it sent.
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

/* numbers of 32-bit programs; the last is writev() by the others */
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

/* `left` is where others have their first argument, and 32-bit calls none of these. */
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
