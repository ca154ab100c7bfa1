/* SPDX-License-Identifier: MIT */
#include "following.h"

#include <ctype.h>
#include <errno.h>
#include <jansson.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "clock.h"
#include "direct/direct.h"
#include "read/inspect.h"
#include "render/session.h"

#define LOOK_NS   300000000ull
#define BEGIN_NS  60000000000ull /* a kernel may take long to check the tracer's programs */
#define SILENT_NS 10000000000ull /* the recorders tell something ten times a second */

void following_init(struct following *f, const char *dir, struct core *core)
{
	*f = (struct following){.dir = dir, .core = core, .began_ns = mg_monotonic_ns()};
}

static enum following_state failed(struct following *f, const char *what)
{
	char why[sizeof(f->why)];

	if (f->is_awaited) /* the user does not know its name */
		snprintf(why, sizeof(why), "%.700s", what);
	else
		snprintf(why, sizeof(why), "%.300s: %.700s", f->dir, what);
	memcpy(f->why, why, sizeof(f->why));
	return FOLLOWING_FAILED;
}

static const char *session_json(const struct following *f, char path[PATH_MAX])
{
	snprintf(path, PATH_MAX, "%.4000s/session.json", f->dir);
	return path;
}

/* Returns what session.json says, NULL if there is none yet; it is empty until recording begins. */
static json_t *session_of(const struct following *f, char *why, size_t why_size)
{
	char path[PATH_MAX];

	return session_load(session_json(f, path), false, why, why_size);
}

/* Returns whether a recording has begun in the directory, or will: the file is made first. */
static bool has_session(const struct following *f)
{
	char path[PATH_MAX];

	return access(session_json(f, path), F_OK) == 0;
}

/* Returns whether session.json is empty, or was written just now. */
static bool is_being_written(const struct following *f)
{
	char path[PATH_MAX];
	struct stat st;

	return stat(session_json(f, path), &st) != 0 || !st.st_size || st.st_mtime + 2 > time(NULL);
}

/* Returns whether a trace is a part of a recording that is divided by time or size. */
static bool is_part(const char *path)
{
	const char *name = strrchr(path, '/');

	return name && isdigit((unsigned char)name[1]);
}

static enum following_state open_traces(struct following *f)
{
	struct mg_traces t = {0};
	int err = mg_traces_find(&t, &f->dir, 1);
	char why[sizeof(f->why)] = "";
	bool parts = false;

	for (size_t i = 0; !err && i < t.count; i++)
		parts |= is_part(t.path[i]);
	if (err)
		snprintf(why, sizeof(why), "%s", mg_traces_problem(-err));
	else if (parts)
		snprintf(why, sizeof(why),
			"it is recorded in parts (--rotate, --flight), which "
			"cannot be followed: read it when it has ended");
	else if (!t.count)
		snprintf(why, sizeof(why), "there is no trace in it");
	else if (!traces_inspect(&t, f->core, why, sizeof(why)) &&
		 !follow_open(&f->follow, (const char *const *)t.path, t.count, f->core, f->why,
			 sizeof(f->why)))
		f->why[0] = why[0] = 0;
	else if (!why[0])
		snprintf(why, sizeof(why), "only recordings of magnet's can be followed: %.800s",
			f->why);
	mg_traces_free(&t);
	return why[0] ? failed(f, why) : FOLLOWING_MORE;
}

/* Opens the recording once it has begun. */
static enum following_state begin(struct following *f)
{
	char why[sizeof(f->why)];
	json_t *session;
	enum following_state state = FOLLOWING_WAITS;

	if (access(f->dir, R_OK | X_OK) != 0 && (f->ended || !f->is_awaited))
		return failed(f, f->is_awaited ? "nothing was recorded" : strerror(errno));
	session = session_of(f, why, sizeof(why));
	if (session) {
		core_know_times(f->core,
			(uint64_t)json_integer_value(json_object_get(session, "start_ns")), 0);
		if (json_is_false(json_object_get(session, "counter_invariant")))
			core_know_no_rate(f->core);
		state = open_traces(f);
	} else if (f->ended) {
		state = failed(f, "nothing was recorded");
	} else if (!f->is_awaited && !has_session(f)) {
		state = failed(f, "there is no recording in it");
	} else if (!f->is_awaited && why[0] && !is_being_written(f)) {
		memcpy(f->why, why, sizeof(f->why));
		state = FOLLOWING_FAILED;
	} else if (!f->is_awaited && mg_monotonic_ns() - f->began_ns > BEGIN_NS) {
		state = failed(f, "its recording does not begin");
	}
	json_decref(session);
	return state;
}

/* Returns whether `magnet record` has written the end of the recording. */
static bool is_written(struct following *f, uint64_t now)
{
	char why[sizeof(f->why)];
	const json_t *stop;
	json_t *session;
	bool ended;

	if (now < f->next_look_ns)
		return false;
	f->next_look_ns = now + LOOK_NS;
	session = session_of(f, why, sizeof(why));
	stop = json_object_get(session, "stop_ns");
	ended = json_is_integer(stop);
	if (ended)
		core_know_times(f->core,
			(uint64_t)json_integer_value(json_object_get(session, "start_ns")),
			(uint64_t)json_integer_value(stop));
	json_decref(session);
	return ended;
}

enum following_state following_read(struct following *f)
{
	enum following_state state = f->follow ? FOLLOWING_MORE : begin(f);
	uint64_t now = mg_monotonic_ns();
	int err;

	if (state != FOLLOWING_MORE)
		return state;
	f->silent = follow_silent_ns(f->follow, now) > SILENT_NS;
	/* before it is read: what was written by then is read */
	f->ended |= is_written(f, now) || f->silent;
	err = follow_read(f->follow, now);
	if (err < 0)
		return FOLLOWING_FAILED;
	if (err > 0)
		return FOLLOWING_MORE;
	if (!f->ended && !follow_has_ended(f->follow))
		return FOLLOWING_WAITS;
	return follow_finish(f->follow) ? FOLLOWING_FAILED : FOLLOWING_ENDED;
}

void following_end(struct following *f)
{
	f->ended = true;
}

const char *following_notice(struct following *f)
{
	static const char *const stalled[CORE_SIDES] = {
		"the application side has written nothing for 2 s: no longer waiting for it",
		"the kernel side has written nothing for 2 s: no longer waiting for it"};

	for (int i = 0; f->follow && i < CORE_SIDES; i++) {
		bool now = follow_is_stalled(f->follow, (enum core_side)i);
		bool is_new = now && !f->told_stall[i];

		f->told_stall[i] = now;
		if (is_new)
			return stalled[i];
	}
	if (!f->silent)
		return NULL;
	f->silent = false;
	return "the recorders have written nothing for 10 s: this is taken for the end";
}

void following_free(struct following *f)
{
	follow_free(f->follow);
	f->follow = NULL;
}
