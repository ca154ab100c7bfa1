/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE

#include "control/control.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "control/control_dir.h"

struct client {
	int fd; /* -1: free */
	char in[CONTROL_LINE];
	size_t used;
	char *out;
	size_t sent, size;
};

struct control {
	int listener;
	char path[sizeof(((struct sockaddr_un *)0)->sun_path)];
	struct client client[CONTROL_MAX];
};

static int address(struct sockaddr_un *a, const char *path)
{
	memset(a, 0, sizeof(*a));
	a->sun_family = AF_UNIX;
	if (snprintf(a->sun_path, sizeof(a->sun_path), "%s", path) >= (int)sizeof(a->sun_path))
		return -ENAMETOOLONG;
	return 0;
}

/* Removes a socket that a killed tracer left behind; leaves any other file alone. */
static int make_way(const char *path)
{
	struct stat st;
	int alive;

	if (lstat(path, &st) != 0)
		return errno == ENOENT ? 0 : -errno;
	if (!S_ISSOCK(st.st_mode))
		return -EEXIST;
	alive = control_is_alive(path);
	if (alive)
		return alive < 0 ? alive : -EADDRINUSE;
	return unlink(path) == 0 || errno == ENOENT ? 0 : -errno;
}

/* Makes the directory so that no other user can replace the socket. */
static int make_dir(void)
{
	struct stat st;

	if (mkdir(CONTROL_DIR, 0700) != 0 && errno != EEXIST)
		return -errno;
	if (lstat(CONTROL_DIR, &st) != 0)
		return -errno;
	return S_ISDIR(st.st_mode) && st.st_uid == geteuid() && !(st.st_mode & 077) ? 0 : -EPERM;
}

static int listen_at(struct control *c)
{
	struct sockaddr_un a;
	int err = address(&a, c->path);

	if (!err)
		err = make_way(c->path);
	if (err)
		return err;
	c->listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (c->listener < 0)
		return -errno;
	/* the tracer's umask keeps it from others until then */
	if (bind(c->listener, (void *)&a, sizeof(a)) != 0 || listen(c->listener, 4) != 0)
		return -errno;
	return chmod(c->path, 0600) == 0 ? 0 : -errno;
}

int control_open(struct control **out, const char *path, char *why, size_t size)
{
	struct control *c = calloc(1, sizeof(*c));
	int err = c ? 0 : -ENOMEM;

	if (!err) {
		c->listener = -1;
		for (int i = 0; i < CONTROL_MAX; i++)
			c->client[i].fd = -1;
		if (path && strlen(path) >= sizeof(c->path))
			err = -ENAMETOOLONG;
		else if (path)
			strcpy(c->path, path);
		else
			snprintf(c->path, sizeof(c->path), CONTROL_DIR "/kernel-tracer-%d.sock",
				(int)getpid());
	}
	if (!err && !path)
		err = make_dir();
	if (!err && !path)
		control_each(NULL, NULL); /* removes sockets of killed tracers */
	if (!err)
		err = listen_at(c);
	if (!err) {
		*out = c;
		return 0;
	}
	snprintf(why, size, "no control socket at %s: %s",
		path ? path
		: c  ? c->path
		     : CONTROL_DIR,
		err == -EADDRINUSE       ? "another tracer answers there"
		: err == -EPERM && !path ? "the directory is open to others"
		: err == -EEXIST         ? "it exists and is no socket"
					 : strerror(-err));
	if (c && c->listener >= 0)
		close(c->listener);
	free(c);
	return err;
}

const char *control_path(const struct control *c)
{
	return c->path;
}

void control_wait(const struct control *c, struct pollfd *fds)
{
	for (int i = 0; i < CONTROL_FDS; i++)
		fds[i] = (struct pollfd){-1, POLLIN, 0};
	if (!c)
		return;
	fds[0].fd = c->listener;
	for (int i = 0; i < CONTROL_MAX; i++) {
		fds[1 + i].fd = c->client[i].fd;
		if (c->client[i].size) /* the next request is read once the answer is out */
			fds[1 + i].events = POLLOUT;
	}
}

static void leave(struct client *k)
{
	close(k->fd);
	free(k->out);
	k->fd = -1;
	k->out = NULL;
	k->used = k->sent = k->size = 0;
}

static void accept_one(struct control *c)
{
	struct ucred who = {.uid = (uid_t)-1};
	socklen_t len = sizeof(who);
	int fd = accept4(c->listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);

	if (fd < 0)
		return;
	if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &who, &len) == 0 &&
		(who.uid == 0 || who.uid == geteuid()))
		for (int i = 0; i < CONTROL_MAX; i++)
			if (c->client[i].fd < 0) {
				c->client[i].fd = fd;
				return;
			}
	close(fd);
}

static void send_more(struct client *k)
{
	ssize_t n = send(k->fd, k->out + k->sent, k->size - k->sent, MSG_NOSIGNAL | MSG_DONTWAIT);

	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (n <= 0) {
		leave(k);
		return;
	}
	k->sent += (size_t)n;
	if (k->sent < k->size)
		return;
	free(k->out);
	k->out = NULL;
	k->sent = k->size = 0;
}

static void answer_line(struct client *k, size_t length, control_answer_fn answer, void *arg)
{
	json_t *request = json_loadb(k->in, length, 0, NULL);
	json_t *reply = answer(arg, json_is_object(request) ? request : NULL);
	char *text = json_dumps(reply, JSON_COMPACT);

	json_decref(request);
	json_decref(reply);
	k->used -= length + 1;
	memmove(k->in, k->in + length + 1, k->used);
	k->size = text ? strlen(text) + 1 : 0;
	k->out = text;
	if (!text) {
		leave(k);
		return;
	}
	text[k->size - 1] = '\n'; /* replaces the terminating NUL */
	send_more(k);
}

static void answer_lines(struct client *k, control_answer_fn answer, void *arg)
{
	char *end;

	while (k->fd >= 0 && !k->size && (end = memchr(k->in, '\n', k->used)))
		answer_line(k, (size_t)(end - k->in), answer, arg);
	if (k->fd >= 0 && k->used == sizeof(k->in)) /* no valid request is that long */
		leave(k);
}

static void hear(struct client *k, control_answer_fn answer, void *arg)
{
	ssize_t n = recv(k->fd, k->in + k->used, sizeof(k->in) - k->used, MSG_DONTWAIT);

	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (n <= 0) {
		leave(k);
		return;
	}
	k->used += (size_t)n;
	answer_lines(k, answer, arg);
}

void control_serve(struct control *c, const struct pollfd *fds, control_answer_fn answer, void *arg)
{
	if (!c)
		return;
	for (int i = 0; i < CONTROL_MAX; i++) {
		struct client *k = &c->client[i];

		if (k->fd < 0 || k->fd != fds[1 + i].fd || !fds[1 + i].revents)
			continue;
		if (!k->size) {
			hear(k, answer, arg);
			continue;
		}
		send_more(k);
		if (k->fd >= 0)
			answer_lines(k, answer, arg);
	}
	if (fds[0].revents)
		accept_one(c);
}

void control_close(struct control *c)
{
	if (!c)
		return;
	for (int i = 0; i < CONTROL_MAX; i++)
		if (c->client[i].fd >= 0)
			leave(&c->client[i]);
	close(c->listener);
	unlink(c->path);
	free(c);
}
