/* SPDX-License-Identifier: MIT */

#include "run/commands.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "clock.h"
#include "options.h"
#include "events/chosen.h"
#include "hooks/hook_table.h"
#include "hooks/hooks.h"
#include "hooks/identity.h"
#include "rings/drain.h"
#include "run/flight.h"
#include "run/settings.h"
#include "run/status.h"

void run_note_change(struct run *r, const char *what, const char *value)
{
	struct mg_change e = {0};

	snprintf(e.what, sizeof(e.what), "%s", what);
	snprintf(e.value, sizeof(e.value), "%s", value);
	drain_note(r->drain, MG_EVENT_change, &e, MG_PAYLOAD_SIZE(CHANGE));
}

static json_t *done(void)
{
	return json_pack("{s:b}", "ok", 1);
}

static json_t *refused(const char *why)
{
	return json_pack("{s:b, s:s}", "ok", 0, "error", why);
}

static json_t *outcome(int err)
{
	return err ? refused(strerror(-err)) : done();
}

/* ---- commands ---- */

static json_t *do_status(struct run *r, const json_t *request)
{
	(void)request;
	return run_status(r);
}

static json_t *do_pause(struct run *r, const json_t *request)
{
	(void)request;
	return outcome(run_pause(r));
}

static json_t *do_resume(struct run *r, const json_t *request)
{
	(void)request;
	return outcome(run_resume(r));
}

static json_t *do_dump(struct run *r, const json_t *request)
{
	char dir[PATH_MAX];
	int err;

	(void)request;
	if (!r->flight)
		return refused("nothing to dump: without --flight all events are already written");
	if (r->paused)
		return refused("it is paused");
	err = flight_dump_for(r, "asked");
	if (err)
		return outcome(err);
	snprintf(dir, sizeof(dir), "%.4000s/%04u", r->options.given.output, r->part.number);
	return json_pack("{s:b, s:s}", "ok", 1, "dump", dir);
}

static json_t *do_stop(struct run *r, const json_t *request)
{
	(void)request;
	run_note_change(r, "state", "stopped");
	r->why_stopped = MG_ENDED_BY_CTL;
	r->stop = true;
	return done();
}

static json_t *do_set(struct run *r, const json_t *request)
{
	const char *name = json_string_value(json_object_get(request, "name"));
	const char *value = json_string_value(json_object_get(request, "value"));
	char why[500] = "";

	if (!name || !value)
		return refused("set takes a name and a value");
	return setting_set(r, name, value, why, sizeof(why)) ? refused(why) : done();
}

static const struct command {
	const char *name;
	json_t *(*run)(struct run *r, const json_t *request);
} commands[] = {
	{"dump", do_dump},
	{"pause", do_pause},
	{"resume", do_resume},
	{"set", do_set},
	{"status", do_status},
	{"stop", do_stop},
};

json_t *command_answer(void *arg, const json_t *request)
{
	const char *name = json_string_value(json_object_get(request, "command"));
	char why[160], known[100] = "";
	size_t used = 0;

	for (size_t i = 0; i < sizeof(commands) / sizeof(commands[0]); i++) {
		if (name && strcmp(commands[i].name, name) == 0)
			return commands[i].run(arg, request);
		used += (size_t)snprintf(known + used, sizeof(known) - used, "%s%s", i ? ", " : "",
			commands[i].name);
	}
	snprintf(why, sizeof(why), "%s; there are %s", name ? "no such command" : "no command",
		known);
	return refused(why);
}

/* ---- state ---- */

int run_pause(struct run *r)
{
	int err;

	if (r->paused)
		return 0;
	err = drain_pause(r->drain);
	if (!err)
		err = chosen_pause(r->chosen);
	r->paused = true;
	run_note_change(r, "state", "paused");
	return err;
}

int run_resume(struct run *r)
{
	int err;

	if (!r->paused)
		return 0;
	r->paused = false;
	err = drain_resume(r->drain);
	if (!err)
		err = chosen_resume(r->chosen);
	/* connections and tasks that came meanwhile have announced themselves in vain */
	if (!err && identities_read(&r->identities, &r->hooks) == 0)
		err = identities_write(&r->identities, r->writer, mg_monotonic_ns());
	run_note_change(r, "state", "recording");
	return err;
}
