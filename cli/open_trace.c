/* SPDX-License-Identifier: MIT */
#include "open_trace.h"

#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "bt/graph.h"
#include "commands.h"
#include "direct/direct.h"
#include "log.h"
#include "plain_file.h"
#include "progress_line.h"
#include "read/inspect.h"
#include "recordings.h"
#include "render/session.h"
#include "render/show.h"

/* `why` gets what is wrong with one that is there. */
static json_t *read_session(char *const dirs[], int count, char *why, size_t why_size)
{
	for (int i = 0; i < count; i++) {
		char path[PATH_MAX];
		json_t *session;

		if (!session_path(dirs[i], path, sizeof(path)))
			continue;
		session = session_load(path, false, why, why_size);
		if (session)
			return session;
		if (*why)
			snprintf(why + strlen(why), why_size - strlen(why), ": read without it");
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

enum reader { READER_ANY, READER_DIRECT, READER_BABELTRACE2 };

static bool wanted_reader(enum reader *r)
{
	static const char *const names[] = {"", "direct", "babeltrace2"};
	const char *name = getenv("MAGNET_READER");

	for (*r = READER_ANY; *r <= READER_BABELTRACE2; (*r)++)
		if (strcmp(name ? name : "", names[*r]) == 0)
			return true;
	mg_error("MAGNET_READER is '%s': give direct or babeltrace2, or leave it out", name);
	return false;
}

/* Traces of magnet's own go without babeltrace2, which takes five times as long. */
static int read_traces(enum reader reader, const struct mg_traces *t, struct core *core, char *why,
	size_t why_size)
{
	struct progress_line line;
	int err = DIRECT_NOT_OURS;

	progress_begin(&line, core->listener == show_event);
	if (reader != READER_BABELTRACE2)
		err = direct_read((const char *const *)t->path, t->count, core, &line.progress, why,
			why_size);
	if (err == DIRECT_NOT_OURS && reader == READER_ANY)
		mg_debug("read by babeltrace2: %s", why);
	if (err == DIRECT_NOT_OURS && reader != READER_DIRECT) {
		signal(SIGABRT, on_abort);
		signal(SIGFPE, on_abort); /* it divides by what traces say */
		err = mg_read_traces(t, core, &line.progress, why, why_size);
		signal(SIGABRT, SIG_DFL);
		signal(SIGFPE, SIG_DFL);
	}
	progress_end(&line);
	return err;
}

/* What was read before the damage was met is there, and nothing else: that is said in a report too.
 */
static int cut_off(struct core *core, const char *why)
{
	if (!core->app_events && !core->kernel_events)
		return -1;
	snprintf(core->cut_off, sizeof(core->cut_off), "%.255s", why);
	return TRACE_CUT_OFF;
}

int open_trace(char *const dirs[], int count, struct core *core, json_t **session)
{
	struct mg_traces traces;
	enum reader reader;
	struct stat st;
	char why[1024], no_session[1024] = "";
	int err;

	*session = NULL;
	if (!wanted_reader(&reader))
		return -1;
	for (int i = 0; i < count; i++)
		if (stat(dirs[i], &st) == 0 && !S_ISDIR(st.st_mode)) {
			mg_error("%s: %s", dirs[i], strerror(ENOTDIR));
			return -1;
		} else if (access(dirs[i], R_OK | X_OK) != 0) {
			mg_error("%s: %s", dirs[i], strerror(errno));
			return -1;
		} else if (!holds_one_recording(dirs[i])) {
			return -1;
		}
	err = mg_traces_find(&traces, (const char *const *)dirs, count);
	if (err || traces.count == 0) {
		mg_error("%s: %s%s%s", dirs[0],
			err ? mg_traces_problem(-err) : "there is no trace in it",
			!err && traces.link ? "; links in it are not followed: " : "",
			!err && traces.link ? traces.link : "");
		mg_traces_free(&traces);
		return -1;
	}
	if (traces_inspect(&traces, core, why, sizeof(why)) != 0) {
		mg_error("%s", why);
		mg_traces_free(&traces);
		return -1;
	}
	*session = read_session(dirs, count, no_session, sizeof(no_session));
	session_tell(core, *session);
	err = read_traces(reader, &traces, core, why, sizeof(why));
	if (err) {
		mg_error("%s: %s", dirs[0], why);
		err = err == -EMFILE ? -1 : cut_off(core, why);
	} else {
		if (no_session[0])
			mg_warn("%s", no_session);
		if (traces.link)
			mg_warn("%s: %s", traces.link, plain_file_problem(ELOOP));
	}
	mg_traces_free(&traces);
	return err;
}
