/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "record_start.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "event_table.h"
#include "log.h"
#include "paths.h"
#include "record_command.h"

/*
 * Waits for the tracer, for as long as the kernel takes to check its programs. Returns -EINTR if a
 * signal came before.
 */
static int wait_for_tracer(struct recording *r)
{
	int signals = signalfd(-1, &r->ending, SFD_CLOEXEC);
	int err = tracer_wait_ready(&r->tracer, signals, r->o.given.quiet);
	struct signalfd_siginfo info;

	if (err == -EINTR && read(signals, &info, sizeof(info)) == (ssize_t)sizeof(info)) {
		r->stopped_by = (int)info.ssi_signo;
		mg_error("nothing was recorded: signal %d (%s) came before the kernel tracer was "
			 "ready",
			r->stopped_by, strsignal(r->stopped_by));
	}
	if (signals >= 0)
		close(signals);
	return err;
}

/* Warns of those layers asked for that this kernel has no hook for at all. */
static void warn_of_layers(uint32_t asked, const json_t *hooks)
{
	for (int i = 0; i < MG_LAYER_END; i++) {
		const char *why = NULL;
		bool any = false;
		const json_t *h;
		size_t at;

		json_array_foreach (hooks, at, h) {
			const char *layer = json_string_value(json_object_get(h, "layer"));

			if (!layer || strcmp(layer, mg_layer_names[i]) != 0)
				continue;
			any |= json_integer_value(json_object_get(h, "status")) == 0;
			why = json_string_value(json_object_get(h, "why"));
		}
		if (asked >> i & 1 && why && !any)
			mg_warn("the layer %s is not recorded: %s", mg_layer_names[i], why);
	}
}

/* Returns the process for tracer_start() to follow. */
static pid_t target(const struct recording *r)
{
	const struct recorder_options *o = &r->o.given;

	return o->all ? 0 : o->cgroup || o->pid.count ? -1 : r->child;
}

/*
 * Starts the kernel side, first and alone, since it measures what its events cost. COMMAND must
 * exist for it to follow.
 */
static int start_kernel_side(struct recording *r)
{
	int err = 0;

	if ((r->o.command && !option_list_add(&r->o.to_tracer, "--fresh")) ||
		(r->o.app && !option_list_add(&r->o.to_tracer, "--with-app")))
		err = -ENOMEM;
	if (!err)
		err = tracer_start(&r->tracer, r->dir.kernel, target(r), r->o.to_tracer.text);
	if (!err)
		err = wait_for_tracer(r);
	r->tracer_runs = !err;
	if (!err && !r->o.given.quiet)
		warn_of_layers(r->o.given.layers, json_object_get(r->tracer.ready, "hooks"));
	if (!err || err == -EINVAL || err == -EINTR) /* after a message */
		return err;
	if (!r->tracer.why[0])
		snprintf(r->tracer.why, sizeof(r->tracer.why), "%s", strerror(-err));
	if (!r->o.app) {
		mg_error("the kernel side cannot be recorded: %s", r->tracer.why);
		return err;
	}
	mg_warn("recording the application side only: %s", r->tracer.why);
	snprintf(r->info.kernel_missing, sizeof(r->info.kernel_missing), "%s", r->tracer.why);
	record_dir_remove_side(r->dir.kernel);
	return 0;
}

static int start_app_side(struct recording *r)
{
	const struct collector_options o = {.dir = r->dir.app,
		.buffer_bytes = r->o.given.buffer,
		.drain_ms = (unsigned int)r->o.given.drain,
		.clock = !r->tracer_runs,
		.kernel_dir = r->tracer_runs ? r->dir.kernel : NULL,
		.bounds = r->o.bounds,
		.began = &r->info.clock[0]};
	int err = collector_start(&r->collector, &o);

	r->collector_runs = !err;
	if (err && r->tracer_runs) {
		mg_warn("recording the kernel side only: %s", r->collector.why);
		snprintf(r->info.app_missing, sizeof(r->info.app_missing), "%s", r->collector.why);
		return 0;
	}
	if (err)
		mg_error("the application side cannot be recorded: %s", r->collector.why);
	return err;
}

/* Looks for the session that is to take the application side, before anything is started. */
static int look_for_session(struct recording *r)
{
	const struct recorder_options *o = &r->o.given;
	const struct app_session_options s = {.name = o->session,
		.dir = r->dir.app,
		.in_parts = o->rotate.bytes || o->rotate.ns,
		.flight = o->flight.bytes || o->flight.ns};
	char text[1024];
	int err = app_session_open(&r->session, &s, text, sizeof(text));

	if (err)
		mg_error("%s", text);
	return err ? -ENOENT : 0;
}

static int start_session(struct recording *r)
{
	char text[1024];
	int err = app_session_begin(
		r->session, r->tracer_runs ? r->dir.kernel : NULL, text, sizeof(text));

	r->session_runs = !err;
	r->info.app_session = app_session_name(r->session);
	if (err)
		mg_error("the application side cannot be recorded: %s", text);
	else if (app_session_was_idle(r->session) && !r->o.given.quiet)
		mg_warn("the LTTng session %s was not started: magnet starts it, and stops it at "
			"the end",
			r->info.app_session);
	return err;
}

int record_start(struct recording *r)
{
	char library[PATH_MAX];
	const char *why = r->o.app ? find_library(library) : NULL;
	int err = 0;

	if (why) {
		mg_error("the application side cannot be recorded (--kernel-only does without): %s",
			why);
		return -ENOENT;
	}
	if (r->o.in_session && look_for_session(r))
		return -ENOENT;
	if (r->o.command)
		err = record_start_command(r);
	if (err) {
		mg_error("cannot start a process: %s", strerror(-err));
		return -EAGAIN;
	}
	if (r->o.kernel)
		err = start_kernel_side(r);
	if (!err && r->o.app)
		err = r->o.in_session ? start_session(r) : start_app_side(r);
	return err;
}
