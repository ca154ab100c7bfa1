/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "tracer.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "alloc.h"
#include "commands.h"
#include "confine.h"
#include "log.h"
#include "paths.h"
#include "signal_name.h"

#define OWN_ARGS 6     /* options that tracer_start() adds, at most */
#define SLOW_MS  10000 /* after which a message says that the tracer is not ready */
#define LINE_MS  60000 /* time for the rest of a line that has begun */

/* Returns the tracer's command line, NULL without memory. `own` are options of our own. */
static char **command_line(const char *program, const char *const *own, const char *const *args)
{
	size_t count = 0, n = 0;
	const char **argv;

	while (args && args[count])
		count++;
	argv = mg_calloc(OWN_ARGS + count + 2, sizeof(*argv));
	if (!argv)
		return NULL;
	argv[n++] = program;
	while (*own)
		argv[n++] = *own++;
	while (args && *args)
		argv[n++] = *args++;
	return (char **)argv; /* execv() changes none of them */
}

int tracer_start(struct tracer *t, const char *output, pid_t target, const char *const *args)
{
	char program[PATH_MAX], control[16], pid[16];
	const char *own[OWN_ARGS + 1] = {"-o", output, "--control-fd", control};
	char **argv;
	sigset_t none;
	int pair[2];

	memset(t, 0, sizeof(*t));
	t->control = -1;
	if (!find_tracer(program)) {
		snprintf(t->why, sizeof(t->why), "magnet-kernel-tracer is not installed");
		return -ENOENT;
	}
	if (target > 0) {
		snprintf(pid, sizeof(pid), "%d", (int)target);
		own[4] = "--pid";
		own[5] = pid;
	} else if (target == 0) {
		own[4] = "--all";
	}
	argv = command_line(program, own, args);
	if (!argv)
		return -ENOMEM;
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) != 0) {
		free(argv);
		return -errno;
	}
	t->pid = fork();
	if (t->pid == 0) {
		int control_fd;

		setsid(); /* Ctrl-C is for the program */
		sigemptyset(&none);
		sigprocmask(SIG_SETMASK, &none, NULL);
		control_fd = fcntl(pair[1], F_DUPFD, 3);
		mg_close_others(control_fd, -1); /* descriptors of the user are for COMMAND alone */
		snprintf(control, sizeof(control), "%d", control_fd);
		execv(program, argv);
		_exit(127);
	}
	free(argv);
	if (t->pid < 0)
		return -errno;
	close(pair[1]);
	t->control = pair[0];
	return 0;
}

/* Reads up to the end of a line, and no further. Returns the bytes read; 0 or less at the end. */
static ssize_t read_piece(int fd, char *piece, size_t size)
{
	ssize_t n = recv(fd, piece, size, MSG_PEEK);
	char *end = n > 0 ? memchr(piece, '\n', (size_t)n) : NULL;

	if (n <= 0)
		return n;
	return recv(fd, piece, end ? (size_t)(end - piece) + 1 : (size_t)n, 0);
}

/* Reads one JSON object. Returns NULL after the deadline, without a tracer, or without memory. */
static json_t *read_object(struct tracer *t, int timeout_ms)
{
	struct pollfd p = {t->control, POLLIN, 0};
	size_t used = 0, size = 0;
	char *line = NULL;
	json_t *object = NULL;
	json_error_t error;
	bool refused = false, whole = false;

	while (!whole && poll(&p, 1, timeout_ms) > 0) {
		char piece[4096];
		ssize_t n = read_piece(t->control, piece, sizeof(piece));

		if (n <= 0)
			break;
		whole = piece[n - 1] == '\n';
		while (used + (size_t)n > size && !refused) {
			char *more = realloc(line, size += sizeof(piece));

			refused = !more;
			line = more ? more : line;
		}
		if (!refused) { /* without memory the rest of the line is only read */
			memcpy(line + used, piece, (size_t)n);
			used += (size_t)n;
		}
	}
	object = whole && !refused ? json_loadb(line, used, 0, &error) : NULL;
	if (whole && !object)
		snprintf(t->why, sizeof(t->why),
			"the answer of the kernel tracer cannot be read: %s",
			refused || !error.text[0] ? strerror(ENOMEM) : error.text);
	free(line);
	return object;
}

static void note_failure(struct tracer *t, const json_t *object)
{
	const char *error = json_string_value(json_object_get(object, "error"));

	if (error || !t->why[0])
		snprintf(t->why, sizeof(t->why), "%s",
			error ? error : "the kernel tracer does not answer");
}

/* Returns whether the tracer has closed its end, as it does when it exits. */
static bool gone(const struct tracer *t)
{
	struct pollfd p = {t->control, POLLIN, 0};

	return poll(&p, 1, 0) > 0 && p.revents & POLLHUP;
}

/* Waits until the tracer has closed its end. Returns false after the deadline. */
static bool ended(const struct tracer *t, int timeout_ms)
{
	struct pollfd p = {t->control, 0, 0}; /* POLLHUP is always reported */

	return poll(&p, 1, timeout_ms) > 0;
}

/*
 * Waits for the tracer's first line, or its end. Returns -EINTR if there is something to read at
 * `stop`.
 */
static int wait_for_word(const struct tracer *t, int stop, bool quiet)
{
	struct pollfd p[] = {{t->control, POLLIN, 0}, {stop, POLLIN, 0}};
	int wait = SLOW_MS, n;

	do {
		n = poll(p, 2, wait);
		if (n == 0 && !quiet)
			mg_warn("the kernel tracer is not ready yet: a kernel may take long to "
				"check its programs; nothing runs or is recorded until then");
		if (n == 0)
			wait = -1;
	} while (n == 0 || (n < 0 && errno == EINTR));
	return p[1].revents && !p[0].revents ? -EINTR : 0;
}

int tracer_wait_ready(struct tracer *t, int stop, bool quiet)
{
	int err = wait_for_word(t, stop, quiet);
	json_t *object = err ? NULL : read_object(t, LINE_MS);
	bool ready = json_is_true(json_object_get(object, "ready"));
	int status = 0;

	if (ready) {
		t->ready = object;
		return 0;
	}
	note_failure(t, object);
	if (object || !gone(t))
		kill(t->pid, SIGKILL);
	json_decref(object);
	waitpid(t->pid, &status, 0);
	t->pid = 0;
	close(t->control);
	if (err)
		return err;
	return WIFEXITED(status) && WEXITSTATUS(status) == EXIT_USAGE ? -EINVAL : -EIO;
}

void tracer_ask_stop(struct tracer *t)
{
	if (t->pid > 0)
		shutdown(t->control, SHUT_WR);
}

void tracer_free(struct tracer *t)
{
	json_decref(t->ready);
	json_decref(t->done);
	t->ready = t->done = NULL;
}

int tracer_stop(struct tracer *t, int timeout_ms)
{
	json_t *object;
	const char *stopped;
	int err = -ETIMEDOUT, status = 0;
	bool killed = false;

	if (t->pid <= 0)
		return 0;
	tracer_ask_stop(t);
	/* a failure is reported before the last line */
	while ((object = read_object(t, timeout_ms))) {
		if (json_is_true(json_object_get(object, "done"))) {
			t->done = object;
			err = t->why[0] ? -EIO : 0;
			break;
		}
		note_failure(t, object);
		json_decref(object);
	}
	if (!t->done) {
		if (!t->why[0])
			snprintf(t->why, sizeof(t->why), "the kernel tracer did not stop in time");
		killed = !ended(
			t, timeout_ms); /* a tracer that has closed its end has written its trace */
		if (killed)
			kill(t->pid, SIGKILL);
	}
	waitpid(t->pid, &status, 0);
	stopped = json_string_value(json_object_get(t->done, "stopped"));
	if (stopped) {
		snprintf(t->ended, sizeof(t->ended), "%s", stopped);
	} else if (WIFSIGNALED(status) && !killed) {
		snprintf(t->ended, sizeof(t->ended), "killed by signal %d (%s)", WTERMSIG(status),
			signal_name(WTERMSIG(status)));
		snprintf(t->why, sizeof(t->why), "the kernel tracer was %s", t->ended);
	}
	close(t->control);
	t->pid = 0;
	return err;
}
