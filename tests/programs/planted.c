/* SPDX-License-Identifier: MIT */
/* A library that leaves a file, named by PLANTED, where it is loaded. */
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

__attribute__((constructor)) static void leave_a_file(void)
{
	const char *path = getenv("PLANTED");

	if (path)
		close(open(path, O_WRONLY | O_CREAT, 0600));
}
