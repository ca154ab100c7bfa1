/* SPDX-License-Identifier: MIT */
/* The directory of control sockets: who answers there, and what killed tracers left. */
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

/* The number in kernel-tracer-NUMBER.sock, 0 if it is no such name. */
static int number_of(const char *name)
{
	int pid = 0, end = 0;

	return sscanf(name, "kernel-tracer-%d.sock%n", &pid, &end) == 1 && end && !name[end] ? pid
											     : 0;
}

/* One that starts has its socket before it listens: only a process that is gone has left it. */
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
