/* SPDX-License-Identifier: MIT */
/*
 * Sends itself a greeting, then executes the program its arguments name, if any. Built for several
 * C libraries and run-time libraries.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	char *greeting = malloc(6), heard[8];
	int ends[2];

	if (!greeting || socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0)
		return 1;
	memcpy(greeting, "hello", 6);
	if (send(ends[0], greeting, 5, 0) != 5 || recv(ends[1], heard, sizeof(heard), 0) != 5)
		return 2;
	free(greeting);
	puts("greeted");
	fflush(stdout);
	if (argc > 1)
		execvp(argv[1], argv + 1);
	return argc > 1 ? 3 : 0;
}
