/* SPDX-License-Identifier: MIT */
#include "open_trace.h"

#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "bt/graph.h"
#include "commands.h"
#include "log.h"
#include "render/session.h"

/* `why` gets what is wrong with one that is there. */
static json_t *read_session(char *const dirs[], int count, char *why, size_t why_size)
{
	for (int i = 0; i < count; i++) {
		char path[PATH_MAX];
		json_error_t error;
		json_t *session;

		snprintf(path, sizeof(path), "%.4000s/session.json", dirs[i]);
		if (access(path, R_OK) != 0)
			continue;
		session = json_load_file(path, 0, &error);
		if (session)
			return session;
		snprintf(why, why_size, "%.700s is damaged (line %d: %s): read without it", path,
			error.line, error.text);
	}
	return NULL;
}

/* What cannot be checked before ends in an assertion of babeltrace2's, which it has printed. */
static void on_abort(int signal_number)
{
	static const char text[] = "magnet: the trace is damaged: babeltrace2 gave up on it\n";

	(void)signal_number;
	if (write(STDERR_FILENO, text, sizeof(text) - 1) < 0) { /* then there is nobody to tell */
	}
	_exit(EXIT_FAILED);
}

int open_trace(char *const dirs[], int count, struct core *core, json_t **session)
{
	struct mg_traces traces;
	struct stat st;
	char why[1024], no_session[1024] = "";
	int err;

	*session = NULL;
	for (int i = 0; i < count; i++)
		if (stat(dirs[i], &st) == 0 && !S_ISDIR(st.st_mode)) {
			mg_error("%s: %s", dirs[i], strerror(ENOTDIR));
			return -1;
		} else if (access(dirs[i], R_OK | X_OK) != 0) {
			mg_error("%s: %s", dirs[i], strerror(errno));
			return -1;
		}
	err = mg_traces_find(&traces, (const char *const *)dirs, count);
	if (err || traces.count == 0) {
		mg_error("%s: %s", dirs[0], err ? strerror(-err) : "there is no trace in it");
		mg_traces_free(&traces);
		return -1;
	}
	*session = read_session(dirs, count, no_session, sizeof(no_session));
	session_give_clock(core, *session);
	signal(SIGABRT, on_abort);
	err = mg_read_traces(&traces, core, why, sizeof(why));
	signal(SIGABRT, SIG_DFL);
	if (err)
		mg_error("%s: %s", dirs[0], why);
	else if (no_session[0])
		mg_warn("%s", no_session);
	mg_traces_free(&traces);
	return err ? -1 : 0;
}
