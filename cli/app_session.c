/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "app_session.h"

#include <errno.h>
#include <fnmatch.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <unistd.h>

#include "app_session_parts.h"
#include "calls.h"
#include "lttng_ctl.h"

#define ROTATION_MS 10000 /* a slow disk may have much to take */

struct app_session {
	const struct lttng_ctl *ctl;
	struct lttng_session session;
	struct lttng_handle *handle;
	struct app_session_options o;
	bool own, began, was_idle, rotated;
	char dir[PATH_MAX];
	int64_t first_part; /* the first archive of this recording */
	uint64_t discarded; /* before this recording */
	int watch;          /* inotify descriptor */
};

/* Writes "`what` the LTTng session NAME: reason". Returns -EIO. */
static int failed(struct app_session *s, int err, const char *what, char *why, size_t size)
{
	snprintf(why, size, "%s the LTTng session %s: %s", what, s->session.name,
		s->ctl->lttng_strerror(err > 0 ? -err : err));
	return -EIO;
}

/* ---- looking ---- */

/* Finds the user's session; where there is none, `why` names those there are. */
static int find(struct app_session *s, char *why, size_t size)
{
	struct lttng_session *all = NULL;
	int n = s->ctl->lttng_list_sessions(&all), found = -1;
	size_t used;

	for (int i = 0; i < n && found < 0; i++)
		if (strcmp(all[i].name, s->o.name) == 0)
			found = i;
	if (found >= 0) {
		s->session = all[found];
		free(all);
		return 0;
	}
	used = (size_t)snprintf(why, size,
		"there is no LTTng session %.100s: make it (lttng create %.100s)", s->o.name,
		s->o.name);
	for (int i = 0; i < n && used < size; i++)
		used += (size_t)snprintf(why + used, size - used, "%s%s",
			i ? ", " : ", or name one of these: ", all[i].name);
	free(all);
	return -ENOENT;
}

static bool takes_magnet(const char *pattern)
{
	static const char *const names[] = {
#define NAME(n, name, dir) "magnet:" #name,
		MG_FUNCTIONS(NAME)
#undef NAME
			"magnet:mark"};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (fnmatch(pattern, names[i], 0) == 0)
			return true;
	return false;
}

static bool channel_takes_magnet(const struct app_session *s, const struct lttng_channel *c)
{
	struct lttng_event *events = NULL;
	int n = c->enabled ? s->ctl->lttng_list_events(s->handle, c->name, &events) : 0;
	bool takes = false;

	for (int i = 0; i < n && !takes; i++)
		takes = events[i].enabled && takes_magnet(events[i].name);
	free(events);
	return takes;
}

/* Returns the events that found no room so far; *takes: whether an event of magnet is enabled. */
static uint64_t look_at_channels(const struct app_session *s, bool *takes)
{
	struct lttng_channel *channels = NULL;
	int n = s->ctl->lttng_list_channels(s->handle, &channels);
	uint64_t discarded = 0, one;

	*takes = false;
	for (int i = 0; i < n; i++) {
		*takes = *takes || channel_takes_magnet(s, &channels[i]);
		if (s->ctl->lttng_channel_get_discarded_event_count(&channels[i], &one) == 0)
			discarded += one;
	}
	free(channels);
	return discarded;
}

static int take_handle(struct app_session *s, char *why, size_t size)
{
	struct lttng_domain domain = {.type = LTTNG_DOMAIN_UST, .buf_type = LTTNG_BUFFER_PER_UID};

	s->handle = s->ctl->lttng_create_handle(s->session.name, &domain);
	if (s->handle)
		return 0;
	snprintf(why, size, "%s", strerror(ENOMEM));
	return -ENOMEM;
}

/* Returns why a recording cannot be made of the session, NULL if it can. */
static const char *unfit(const struct app_session *s)
{
	if (s->session.live_timer_interval)
		return "is a live session, which writes no files here: read it by babeltrace2, or "
		       "name another";
	if (!s->session.snapshot_mode && s->session.path[0] != '/')
		return "does not write to this machine: make one with lttng create "
		       "--output=DIRECTORY";
	if (s->o.flight && !s->session.snapshot_mode)
		return "is not in snapshot mode, which --flight needs: make one with lttng create "
		       "--snapshot";
	if (s->o.in_parts && s->session.snapshot_mode)
		return "is in snapshot mode, which is for --flight, and cannot be rotated: name "
		       "another";
	return NULL;
}

static int look_at_own(struct app_session *s, char *why, size_t size)
{
	const char *wrong;
	bool takes;
	int err = find(s, why, size);

	if (err)
		return err;
	wrong = unfit(s);
	if (wrong) {
		snprintf(why, size, "the LTTng session %s %s", s->session.name, wrong);
		return -EINVAL;
	}
	err = take_handle(s, why, size);
	if (err)
		return err;
	look_at_channels(s, &takes);
	if (takes)
		return 0;
	snprintf(why, size,
		"the LTTng session %s has no event of magnet enabled: lttng enable-event -s %s -u "
		"'magnet:*'",
		s->session.name, s->session.name);
	return -EINVAL;
}

int app_session_open(
	struct app_session **to, const struct app_session_options *o, char *why, size_t size)
{
	struct app_session *s = calloc(1, sizeof(*s));

	*to = s;
	if (!s) {
		snprintf(why, size, "%s", strerror(ENOMEM));
		return -ENOMEM;
	}
	s->watch = -1;
	s->own = !o->name;
	s->o = *o;
	snprintf(s->dir, sizeof(s->dir), "%s", o->dir);
	s->ctl = lttng_ctl(why, size);
	if (!s->ctl)
		return -ENOENT;
	if (!s->ctl->lttng_session_daemon_alive()) {
		snprintf(why, size,
			"no LTTng session daemon of user %u is running: start one (lttng-sessiond "
			"--daemonize)",
			(unsigned int)geteuid());
		return -ECONNREFUSED;
	}
	return s->own ? 0 : look_at_own(s, why, size);
}

/* ---- beginning ---- */

/* Makes a session with all events of magnet, and with LTTng's defaults otherwise. */
static int make(struct app_session *s, char *why, size_t size)
{
	struct lttng_event all = {
		.type = LTTNG_EVENT_TRACEPOINT, .loglevel_type = LTTNG_EVENT_LOGLEVEL_ALL};
	struct lttng_session_descriptor *d;
	int err;

	snprintf(s->session.name, sizeof(s->session.name), "magnet-%d", (int)getpid());
	snprintf(s->session.path, sizeof(s->session.path), "%s", s->dir);
	s->session.snapshot_mode = s->o.flight;
	d = s->o.flight ? s->ctl->lttng_session_descriptor_snapshot_local_create(
				  s->session.name, s->dir)
			: s->ctl->lttng_session_descriptor_local_create(s->session.name, s->dir);
	if (!d) {
		snprintf(why, size, "LTTng takes no session that writes to %.300s", s->dir);
		return -EINVAL;
	}
	err = (int)s->ctl->lttng_create_session_ext(d);
	s->ctl->lttng_session_descriptor_destroy(d);
	if (err != LTTNG_OK)
		return failed(s, err, "cannot make", why, size);
	s->began = true;
	err = take_handle(s, why, size);
	if (err)
		return err;
	snprintf(all.name, sizeof(all.name), "magnet:*");
	err = s->ctl->lttng_enable_event(s->handle, &all, NULL);
	return err < 0 ? failed(s, err, "cannot enable events in", why, size) : 0;
}

/* Rotates the session and waits until the archive is complete. */
static int rotate(struct app_session *s, char *why, size_t size)
{
	struct lttng_rotation_handle *h = NULL;
	enum lttng_rotation_state state = LTTNG_ROTATION_STATE_ONGOING;
	int err, waited = 0;

	while ((err = s->ctl->lttng_rotate_session(s->session.name, NULL, &h)) ==
			-LTTNG_ERR_ROTATION_PENDING &&
		waited++ < ROTATION_MS / 10)
		poll(NULL, 0, 10); /* the user rotates it, too */
	if (err == -LTTNG_ERR_ROTATION_MULTIPLE_AFTER_STOP ||
		err == -LTTNG_ERR_ROTATION_AFTER_STOP_CLEAR)
		return 0; /* stopped and rotated meanwhile: there is nothing more */
	if (err < 0)
		return failed(s, err, "cannot rotate", why, size);
	while (s->ctl->lttng_rotation_handle_get_state(h, &state) == LTTNG_ROTATION_STATUS_OK &&
		state == LTTNG_ROTATION_STATE_ONGOING && waited++ < ROTATION_MS / 10)
		poll(NULL, 0, 10);
	s->ctl->lttng_rotation_handle_destroy(h);
	if (state == LTTNG_ROTATION_STATE_COMPLETED)
		return 0;
	snprintf(why, size,
		"the rotation of the LTTng session %s was not completed; its events are in %.300s",
		s->session.name, s->session.path);
	return -EIO;
}

static bool has_output(const struct app_session *s)
{
	char ust[PATH_MAX];

	return s->session.enabled ||
	       (snprintf(ust, sizeof(ust), "%s/ust", s->session.path) < PATH_MAX &&
		       access(ust, F_OK) == 0);
}

/* Starts the session. What it has recorded before becomes an archive of its own. */
static int start(struct app_session *s, char *why, size_t size)
{
	bool before = !s->own && !s->session.snapshot_mode && has_output(s), takes;
	int err;

	if (!s->session.enabled) {
		err = s->ctl->lttng_start_tracing(s->session.name);
		if (err < 0)
			return failed(s, err, "cannot start", why, size);
		s->was_idle = true;
	}
	s->began = true;
	err = before ? rotate(s, why, size) : 0;
	if (!err && !s->own && !s->session.snapshot_mode)
		s->first_part = app_session_last_part(s->session.path) + 1;
	s->discarded = look_at_channels(s, &takes);
	return err;
}

int app_session_begin(struct app_session *s, const char *kernel_dir, char *why, size_t size)
{
	int err = 0;

	if (s->own)
		err = make(s, why, size);
	if (!err)
		err = start(s, why, size);
	if (err || !kernel_dir || !(s->o.in_parts || s->o.flight))
		return err;
	s->watch = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
	if (s->watch >= 0 &&
		inotify_add_watch(s->watch, kernel_dir, IN_CREATE | IN_MOVED_TO | IN_ONLYDIR) >= 0)
		return 0;
	snprintf(why, size, "cannot watch %.300s for parts: %s", kernel_dir, strerror(errno));
	return -errno;
}

const char *app_session_name(const struct app_session *s)
{
	return s->session.name;
}

bool app_session_was_idle(const struct app_session *s)
{
	return s->was_idle && !s->own;
}

int app_session_watch(const struct app_session *s)
{
	return s ? s->watch : -1;
}

/* ---- parts and dumps ---- */

static int snapshot(struct app_session *s, char *why, size_t size)
{
	struct lttng_snapshot_output *to = s->ctl->lttng_snapshot_output_create();
	int err = to ? s->ctl->lttng_snapshot_output_set_local_path(s->dir, to) : -LTTNG_ERR_NOMEM;

	if (!err)
		err = s->ctl->lttng_snapshot_record(s->session.name, to, 1);
	if (to)
		s->ctl->lttng_snapshot_output_destroy(to);
	return err < 0 ? failed(s, err, "no snapshot can be taken of", why, size) : 0;
}

int app_session_follow(struct app_session *s, char *why, size_t size)
{
	char events[4096];
	ssize_t n = read(s->watch, events, sizeof(events));
	bool made = false;

	for (ssize_t at = 0; at < n;) {
		const struct inotify_event *e = (const void *)(events + at);

		made |= (e->mask & IN_ISDIR) != 0;
		at += (ssize_t)(sizeof(*e) + e->len);
	}
	if (!made)
		return 0;
	s->rotated = true;
	return s->o.flight ? snapshot(s, why, size) : rotate(s, why, size);
}

/* ---- ending ---- */

/* Puts the output of the user's session below the directory. */
static int collect(struct app_session *s, char *why, size_t size)
{
	int err;

	if (s->session.snapshot_mode) /* the kernel side ends with a dump, too */
		return snapshot(s, why, size);
	if (s->own)
		return s->rotated ? rotate(s, why, size) : 0;
	err = rotate(s, why, size);
	if (!err)
		err = app_session_link_parts(s->session.path, s->first_part, s->dir);
	if (err && !why[0])
		snprintf(why, size,
			"the archives of the LTTng session %s in %.300s cannot be linked: %s",
			s->session.name, s->session.path, strerror(-err));
	return err;
}

int app_session_end(struct app_session *s, uint64_t *discarded, char *why, size_t size)
{
	bool takes;
	int err, stopped = 0;

	*discarded = 0;
	if (!s->began)
		return 0;
	s->began = false;
	why[0] = 0;
	if (s->was_idle) /* the daemon then waits until all is written */
		stopped = s->ctl->lttng_stop_tracing(s->session.name);
	*discarded = look_at_channels(s, &takes) - s->discarded;
	err = collect(s, why, size);
	if (s->own)
		s->ctl->lttng_destroy_session(s->session.name);
	if (!err && stopped < 0 && stopped != -LTTNG_ERR_TRACE_ALREADY_STOPPED)
		err = failed(s, stopped, "cannot stop", why, size);
	return err;
}

void app_session_free(struct app_session *s)
{
	if (!s)
		return;
	if (s->began && s->was_idle)
		s->ctl->lttng_stop_tracing(s->session.name);
	if (s->began && s->own)
		s->ctl->lttng_destroy_session(s->session.name);
	if (s->handle)
		s->ctl->lttng_destroy_handle(s->handle);
	if (s->watch >= 0)
		close(s->watch);
	free(s);
}
