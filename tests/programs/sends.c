/* SPDX-License-Identifier: MIT */
/* sends N: sends and receives N messages over a pair of sockets, with hardly any memory. */
#include <stdlib.h>
#include <sys/socket.h>

int main(int argc, char **argv)
{
	int pair[2], n = argc > 1 ? atoi(argv[1]) : 0;
	char c[10] = "";

	if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair) != 0)
		return 1;
	while (n--)
		if (send(pair[0], c, sizeof(c), 0) != sizeof(c) ||
			recv(pair[1], c, sizeof(c), 0) != sizeof(c))
			return 1;
	return 0;
}
