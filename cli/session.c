/* SPDX-License-Identifier: MIT */
#include "session.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "session_helper.h"

int session_start(struct session *s, const char *output, uint64_t buffer_bytes)
{
	const char *tmp = getenv("TMPDIR");
	int pair[2];

	memset(s, 0, sizeof(*s));
	s->control = -1;
	/* short, since the path of a socket may have 107 characters */
	if (!tmp || strlen(tmp) > 30)
		tmp = "/tmp";
	snprintf(s->home, sizeof(s->home), "%s/magnet-XXXXXX", tmp);
	if (!mkdtemp(s->home)) {
		snprintf(s->why, sizeof(s->why), "cannot make a directory in %.60s: %s", tmp,
			strerror(errno));
		return -errno;
	}
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) != 0)
		return -errno;
	s->helper = fork();
	if (s->helper < 0)
		return -errno;
	if (s->helper == 0) {
		close(pair[0]);
		_exit(session_helper(pair[1], s->home, output, buffer_bytes));
	}
	close(pair[1]);
	s->control = pair[0];
	return 0;
}

/* A line from the helper; 0 when the deadline passed or it is gone. */
static int read_line(struct session *s, char *line, size_t size, int timeout_ms)
{
	struct pollfd p = {s->control, POLLIN, 0};
	size_t used = 0;

	while (used + 1 < size && poll(&p, 1, timeout_ms) > 0) {
		ssize_t n = read(s->control, line + used, 1);

		if (n <= 0)
			break;
		if (line[used] == '\n') {
			line[used] = 0;
			return 1;
		}
		used++;
	}
	line[used] = 0;
	return 0;
}

int session_wait_ready(struct session *s, int timeout_ms)
{
	char line[256];

	int daemon;

	do {
		if (!read_line(s, line, sizeof(line), timeout_ms)) {
			snprintf(s->why, sizeof(s->why), "LTTng's session daemon does not answer");
			return -ETIMEDOUT;
		}
		if (strcmp(line, "ready") == 0)
			return 0;
		if (sscanf(line, "daemon %d", &daemon) == 1)
			s->daemon = daemon;
	} while (strncmp(line, "daemon ", 7) == 0);
	snprintf(s->why, sizeof(s->why), "%.250s", line);
	return -EIO;
}

int session_stop(struct session *s, struct session_result *r, int timeout_ms)
{
	unsigned long long discarded, cpu;
	int complete, status, err = 0;
	char line[256];

	memset(r, 0, sizeof(*r));
	if (s->helper <= 0)
		return 0;
	if (write(s->control, "stop\n", 5) == 5 && read_line(s, line, sizeof(line), timeout_ms) &&
		sscanf(line, "stopped %llu %llu %d", &discarded, &cpu, &complete) == 3) {
		r->discarded = discarded;
		r->cpu_ns = cpu;
		r->complete = complete;
	} else {
		snprintf(s->why, sizeof(s->why), "LTTng did not stop in time; it was ended");
		kill(s->helper, SIGKILL);
		if (s->daemon > 0)
			kill(-s->daemon, SIGKILL);
		err = -ETIMEDOUT;
	}
	waitpid(s->helper, &status, 0);
	close(s->control);
	s->helper = 0;
	if (err)
		session_remove_home(s->home);
	return err;
}
