/* SPDX-License-Identifier: MIT */
/* Lists the sockets in the directory of control sockets and removes those of killed tracers. */
#define _GNU_SOURCE
#include "control/control_dir.h"

#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "control/control.h"

int control_is_alive(const char *path)
{
	struct sockaddr_un a = {.sun_family = AF_UNIX};
	int fd, err;

	if (snprintf(a.sun_path, sizeof(a.sun_path), "%s", path) >= (int)sizeof(a.sun_path))
		return -ENAMETOOLONG;
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		return -errno;
	err = connect(fd, (void *)&a, sizeof(a)) == 0 || errno == EAGAIN ? 1
	      : errno == ECONNREFUSED                                    ? 0
									 : -errno;
	close(fd);
	return err;
}

/* Returns the process id in kernel-tracer-NUMBER.sock, 0 if the name has another form. */
static int number_of(const char *name)
{
	int pid = 0, end = 0;

	return sscanf(name, "kernel-tracer-%d.sock%n", &pid, &end) == 1 && end && !name[end] ? pid
											     : 0;
}

/*
 * Returns whether the process has ended. A tracer makes its socket before it listens, so only a
 * socket whose process is gone was left behind.
 */
static int is_gone(int pid)
{
	return kill(pid, 0) != 0 && errno == ESRCH;
}

void control_each(control_tracer_fn found, void *arg)
{
	DIR *d = opendir(CONTROL_DIR);
	struct dirent *e;

	while (d && (e = readdir(d))) {
		char path[sizeof(CONTROL_DIR) + sizeof(e->d_name)];
		int pid = number_of(e->d_name), alive;

		if (!pid)
			continue;
		snprintf(path, sizeof(path), CONTROL_DIR "/%s", e->d_name);
		alive = control_is_alive(path);
		if (alive == 0 && is_gone(pid))
			unlink(path);
		if (alive == 1 && found)
			found(arg, path, pid);
	}
	if (d)
		closedir(d);
}
