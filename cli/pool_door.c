/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "pool_door.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#define PREFIX  "magnet-rings-"
#define RANDOM  "XXXXXX"
#define SECRET  32    /* hexadecimal digits */
#define NEW     "new" /* the name of the socket before it is renamed */
#define YOUNG_S 10    /* seconds in which a new directory may not be locked yet */
#define BACKLOG 4096

static const char *const places[] = {"/dev/shm", "/tmp"};
#define PLACES (sizeof(places) / sizeof(places[0]))

/*
 * Makes the socket with a secret name: it is bound to another name and renamed, since the kernel
 * lists the names that sockets are bound to.
 */
static int listen_as(struct pool_door *d, const char *name)
{
	struct sockaddr_un a = {.sun_family = AF_UNIX};

	snprintf(a.sun_path, sizeof(a.sun_path), "/proc/self/fd/%d/" NEW, d->directory);
	d->listener = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (d->listener < 0 || bind(d->listener, (void *)&a, sizeof(a)) != 0 ||
		fchmodat(d->directory, NEW, 0666, 0) != 0 || listen(d->listener, BACKLOG) != 0 ||
		renameat(d->directory, NEW, d->directory, name) != 0)
		return -errno;
	return 0;
}

/* Opens and locks a directory of this user. Returns -1 if another process has it locked. */
static int open_directory(const char *path, struct stat *st)
{
	int fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

	if (fd >= 0 && fstat(fd, st) == 0 && st->st_uid == geteuid() &&
		flock(fd, LOCK_EX | LOCK_NB) == 0)
		return fd;
	if (fd >= 0)
		close(fd);
	return -1;
}

static int make_in(struct pool_door *d, const char *place)
{
	uint64_t secret[2];
	struct stat st;
	char name[40];
	size_t n;
	int err;

	n = (size_t)snprintf(d->path, sizeof(d->path), "%s/" PREFIX RANDOM, place);
	if (getrandom(secret, sizeof(secret), 0) != sizeof(secret) || !mkdtemp(d->path)) {
		d->path[0] = 0;
		return -errno;
	}
	snprintf(name, sizeof(name), "%016llx%016llx", (unsigned long long)secret[0],
		(unsigned long long)secret[1]);
	d->directory = open_directory(d->path, &st);
	/* others may pass it, but not list it */
	err = d->directory < 0 || fchmod(d->directory, 0711) != 0 ? -errno : listen_as(d, name);
	snprintf(d->path + n, sizeof(d->path) - n, "/%s", name);
	return err;
}

int pool_door_make(struct pool_door *d)
{
	int err = 0;

	for (size_t i = 0; i < PLACES; i++) {
		d->directory = d->listener = -1;
		err = make_in(d, places[i]);
		if (!err)
			break;
		pool_door_remove(d);
	}
	return err;
}

static void close_all(struct pool_door *d)
{
	if (d->listener >= 0)
		close(d->listener);
	if (d->directory >= 0)
		close(d->directory);
	d->listener = d->directory = -1;
}

void pool_door_remove(struct pool_door *d)
{
	char *slash = strrchr(d->path, '/');

	if (slash) {
		unlink(d->path);
		*slash = 0;
		rmdir(d->path);
	}
	d->path[0] = 0;
	close_all(d);
}

bool pool_door_is_there(const struct pool_door *d)
{
	return access(d->path, F_OK) == 0;
}

/*
 * Makes the same door again. A directory that somebody else has made with its name is left alone.
 */
int pool_door_mend(struct pool_door *d)
{
	char *slash = strrchr(d->path, '/');
	struct stat st;
	int err = 0;

	close_all(d);
	if (!slash)
		return -ENOENT;
	*slash = 0;
	rmdir(d->path); /* succeeds only if it is empty, as ours is */
	if (mkdir(d->path, 0711) != 0)
		err = -errno;
	if (!err) {
		d->directory = open_directory(d->path, &st);
		err = d->directory < 0 || fchmod(d->directory, 0711) != 0 ? -errno
									  : listen_as(d, slash + 1);
	}
	*slash = '/';
	if (err)
		close_all(d);
	return err;
}

int pool_door_answer(const struct pool_door *d, pid_t *pid)
{
	struct ucred peer = {0};
	socklen_t len = sizeof(peer);
	int fd = d->listener < 0 ? -1 : accept4(d->listener, NULL, NULL, SOCK_CLOEXEC);

	if (fd >= 0 && getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &len) == 0)
		*pid = peer.pid;
	return fd;
}

bool pool_door_give(int connection, int fd)
{
	union {
		char room[CMSG_SPACE(sizeof(int))];
		struct cmsghdr align;
	} control = {0};
	char byte = 0;
	struct iovec iov = {&byte, 1};
	struct msghdr m = {.msg_iov = &iov,
		.msg_iovlen = 1,
		.msg_control = control.room,
		.msg_controllen = sizeof(control.room)};
	struct cmsghdr *c = CMSG_FIRSTHDR(&m);

	c->cmsg_level = SOL_SOCKET;
	c->cmsg_type = SCM_RIGHTS;
	c->cmsg_len = CMSG_LEN(sizeof(fd));
	memcpy(CMSG_DATA(c), &fd, sizeof(fd));
	return sendmsg(connection, &m, MSG_DONTWAIT | MSG_NOSIGNAL) == 1;
}

/* Returns whether a file of an earlier version is in use: its maker has it locked then. */
static bool is_in_use(int directory, const char *name)
{
	int fd = openat(directory, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);
	bool locked = fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) != 0;

	if (fd >= 0)
		close(fd);
	return locked;
}

/* Returns whether the name is that of a door; directories of others may look like one. */
static bool is_door(int directory, const char *name)
{
	bool secret = strlen(name) == SECRET && strspn(name, "0123456789abcdef") == SECRET;
	struct stat st;

	if ((!secret && strcmp(name, NEW) != 0) ||
		fstatat(directory, name, &st, AT_SYMLINK_NOFOLLOW) != 0)
		return false;
	return S_ISSOCK(st.st_mode) ||
	       (secret && S_ISREG(st.st_mode) && !is_in_use(directory, name));
}

static void sweep_one(const char *path)
{
	struct stat st;
	int fd = open_directory(path, &st);
	DIR *d = fd >= 0 ? fdopendir(fd) : NULL;
	struct dirent *e;

	if (fd >= 0 && !d)
		close(fd);
	if (!d)
		return;
	if (time(NULL) - st.st_mtime >= YOUNG_S) {
		while ((e = readdir(d)))
			if (is_door(fd, e->d_name))
				unlinkat(fd, e->d_name, 0);
		rmdir(path);
	}
	closedir(d);
}

void pool_door_sweep(void)
{
	for (size_t i = 0; i < PLACES; i++) {
		DIR *d = opendir(places[i]);
		struct dirent *e;
		char path[80];

		while (d && (e = readdir(d)))
			if (strlen(e->d_name) == strlen(PREFIX RANDOM) &&
				strncmp(e->d_name, PREFIX, strlen(PREFIX)) == 0 &&
				snprintf(path, sizeof(path), "%s/%s", places[i], e->d_name) <
					(int)sizeof(path))
				sweep_one(path);
		if (d)
			closedir(d);
	}
}
