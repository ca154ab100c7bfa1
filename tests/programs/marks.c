/* SPDX-License-Identifier: MIT */
/* Sends 100 frames over TCP, each marked before, and marks what it received. */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <magnet/marker.h>

int main(int argc, char **argv)
{
	struct sockaddr_in addr = {
		.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	static char frame[1000];
	socklen_t len = sizeof(addr);
	int listener = socket(AF_INET, SOCK_STREAM, 0), a = socket(AF_INET, SOCK_STREAM, 0), b;

	if (bind(listener, (void *)&addr, sizeof(addr)) || listen(listener, 1) ||
		getsockname(listener, (void *)&addr, &len) || connect(a, (void *)&addr, len))
		return 1;
	(void)argv;
	b = accept(listener, NULL, NULL);
	errno = 7;
	magnet_mark("begin of all that is to come", 0, -1);
	if (errno != 7)
		return 2;
	for (unsigned int i = 0; i < 100; i++) {
		size_t size = 100 + i;

		magnet_mark("frame", i, (int64_t)size);
		if (send(a, frame, size, 0) != (ssize_t)size)
			return 3;
		if (recv(b, frame, sizeof(frame), MSG_WAITALL * 0) != (ssize_t)size)
			return 4;
		magnet_mark("got", i, (int64_t)size);
	}
	printf("done\n");
	if (argc > 1) { /* without the cycle counter marks have no time */
		prctl(PR_SET_TSC, PR_TSC_SIGSEGV, 0, 0, 0);
		magnet_mark("unseen", 1, 1);
		magnet_mark("unseen", 2, 2);
	}
	return 0;
}
