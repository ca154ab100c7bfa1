/* SPDX-License-Identifier: MIT */
/*
 * The application side of a recording in an LTTng session, the user's own or one that is made for
 * the recording. Functions return 0 or a negative errno; `why` then holds what is wrong and what to
 * do, in one line.
 */
#ifndef MAGNET_CLI_APP_SESSION_H
#define MAGNET_CLI_APP_SESSION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct app_session;

struct app_session_options {
	const char *name; /* NULL: make one */
	const char *dir;  /* where its output, or links to it, will be */
	bool in_parts;    /* rotate it with the kernel side's parts */
	bool flight;      /* take a snapshot with each of the kernel side's dumps */
};

/*
 * Looks for the session daemon, and for a session of that name which takes events of magnet and
 * writes to this machine. Changes nothing. The caller frees *s by app_session_free().
 */
int app_session_open(
	struct app_session **s, const struct app_session_options *o, char *why, size_t size);
/*
 * Makes the session, or begins a new part of the user's, and starts it if it was not started.
 * `kernel_dir`, which may be NULL, is watched for parts and dumps.
 */
int app_session_begin(struct app_session *s, const char *kernel_dir, char *why, size_t size);
const char *app_session_name(const struct app_session *s);
/* Returns whether magnet started a session of the user's, which it stops at the end. */
bool app_session_was_idle(const struct app_session *s);
/* Returns a descriptor to poll, -1: there is nothing to follow. Readable: call the next one. */
int app_session_watch(const struct app_session *s);
/* Rotates the session, or takes a snapshot, where the kernel side began a part or a dump. */
int app_session_follow(struct app_session *s, char *why, size_t size);
/*
 * Ends the recording in the session and puts its output below the directory, as it is or by links.
 * `discarded` gets the events that found no room meanwhile. A second call does nothing.
 */
int app_session_end(struct app_session *s, uint64_t *discarded, char *why, size_t size);
/* Also removes a session that was made, if the recording did not come to its end. */
void app_session_free(struct app_session *s);

#endif
