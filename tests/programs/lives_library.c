/* SPDX-License-Identifier: MIT */
/*
 * A library that sends when called and, built with -DEARLY, from its constructor, which runs before
 * libmagnet.so's if it is preloaded after it.
 */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

int lives_send(int fd, int n);

int lives_send(int fd, int n)
{
	for (int i = 0; i < n; i++)
		if (send(fd, "x", 1, 0) != 1)
			return -1;
	return n;
}

#ifdef EARLY
static void __attribute__((constructor)) early(void)
{
	struct sockaddr_in addr = {
		.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t len = sizeof(addr);
	int fd = socket(AF_INET, SOCK_DGRAM, 0);

	if (bind(fd, (void *)&addr, len) || getsockname(fd, (void *)&addr, &len) ||
		connect(fd, (void *)&addr, len) || lives_send(fd, 6) != 6)
		_exit(99);
	close(fd);
}
#endif
