/* SPDX-License-Identifier: MIT */
/*
 * Two threads write numbered 8-byte words to one TCP connection with a small send buffer; the peer
 * keeps what it received. Together with the recorder's claims of which bytes each call wrote this
 * proves or refutes every claim, byte by byte.
 *
 *   counters send HOST PORT MEGABYTES  a line a call on stdout: TID THREAD FIRST-BYTE BYTES
 *   counters receive PORT FILE         the stream, as it came
 *   counters verify FILE               claims on stdin, a line each: OFFSET BYTES THREAD FIRST-BYTE
 *
 * A thread's words are THREAD << 56 | number, numbers count up from 0; FIRST-BYTE is a place in the
 * sequence of its words.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#define THREADS   2
#define WORDS_MAX 8192 /* 64 KiB per call */
#define SMALL_BUF (16 * 1024)

static int fd;
static uint64_t words_each;

static void *writer(void *arg)
{
	static __thread uint64_t buf[WORDS_MAX];
	uint64_t me = (uint64_t)(uintptr_t)arg, next = 0;
	unsigned int seed = (unsigned int)me + 1;
	int tid = gettid();

	while (next < words_each) {
		uint64_t n = 1 + (uint64_t)rand_r(&seed) % WORDS_MAX, done = 0;

		if (n > words_each - next)
			n = words_each - next;
		for (uint64_t i = 0; i < n; i++)
			buf[i] = me << 56 | (next + i);
		while (done < n * 8) {
			ssize_t r = send(fd, (char *)buf + done, n * 8 - done, 0);

			if (r <= 0) {
				perror("send");
				exit(1);
			}
			printf("%d %llu %llu %zd\n", tid, (unsigned long long)me,
				(unsigned long long)(next * 8 + done), r);
			done += (uint64_t)r;
		}
		next += n;
	}
	return NULL;
}

static int send_all(const char *host, const char *port, uint64_t megabytes)
{
	struct addrinfo hints = {.ai_socktype = SOCK_STREAM}, *ai;
	pthread_t thread[THREADS];
	int size = SMALL_BUF;

	words_each = (megabytes << 20) / 8 / THREADS;
	if (getaddrinfo(host, port, &hints, &ai) != 0)
		return 1;
	fd = socket(ai->ai_family, SOCK_STREAM, 0);
	setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &size, sizeof(size));
	for (int i = 0; connect(fd, ai->ai_addr, ai->ai_addrlen) != 0; i++) {
		if (i == 100)
			return 1;
		usleep(50000);
	}
	freeaddrinfo(ai);
	for (uintptr_t i = 0; i < THREADS; i++)
		pthread_create(&thread[i], NULL, writer, (void *)i);
	for (int i = 0; i < THREADS; i++)
		pthread_join(thread[i], NULL);
	close(fd);
	return 0;
}

static int receive(int port, const char *file)
{
	struct sockaddr_in6 any = {.sin6_family = AF_INET6, .sin6_port = htons((uint16_t)port)};
	int listener = socket(AF_INET6, SOCK_STREAM, 0), one = 1;
	int out = open(file, O_WRONLY | O_CREAT | O_TRUNC, 0600);
	static char buf[1 << 18];
	ssize_t r;

	setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
	if (out < 0 || bind(listener, (struct sockaddr *)&any, sizeof(any)) != 0 ||
		listen(listener, 1) != 0) {
		perror("receive");
		return 1;
	}
	fd = accept(listener, NULL, NULL);
	while ((r = recv(fd, buf, sizeof(buf), 0)) > 0)
		if (write(out, buf, (size_t)r) != r)
			return 1;
	return 0;
}

static uint8_t expected(uint64_t thread, uint64_t byte)
{
	uint64_t word = thread << 56 | byte / 8;

	return (uint8_t)(word >> 8 * (byte % 8));
}

static int verify(const char *file)
{
	unsigned long long offset, bytes, thread, first, sum = 0;
	const uint8_t *stream;
	struct stat st;

	fd = open(file, O_RDONLY);
	if (fd < 0 || fstat(fd, &st) != 0)
		return 1;
	stream = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	if (stream == MAP_FAILED)
		return 1;
	while (scanf("%llu %llu %llu %llu", &offset, &bytes, &thread, &first) == 4) {
		if (offset + bytes > (uint64_t)st.st_size) {
			printf("[%llu, +%llu) is beyond the stream\n", offset, bytes);
			return 1;
		}
		for (uint64_t i = 0; i < bytes; i++) {
			if (stream[offset + i] == expected(thread, first + i))
				continue;
			printf("byte %llu is not byte %llu of thread %llu\n",
				(unsigned long long)(offset + i), (unsigned long long)(first + i),
				thread);
			return 1;
		}
		sum += bytes;
	}
	printf("%llu\n", sum);
	return 0;
}

int main(int argc, char **argv)
{
	if (argc == 5 && strcmp(argv[1], "send") == 0)
		return send_all(argv[2], argv[3], strtoull(argv[4], NULL, 10));
	if (argc == 4 && strcmp(argv[1], "receive") == 0)
		return receive(atoi(argv[2]), argv[3]);
	if (argc == 3 && strcmp(argv[1], "verify") == 0)
		return verify(argv[2]);
	fprintf(stderr,
		"usage: counters send HOST PORT MEGABYTES | receive PORT FILE | verify FILE\n");
	return 2;
}
