/* SPDX-License-Identifier: MIT */
#include "record_options.h"

#include <ctype.h>
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "event_table.h"
#include "log.h"

static const char usage[] =
	"usage: magnet record [OPTION...] [--] COMMAND [ARG...]\n"
	"       magnet record [OPTION...] --pid LIST | --cgroup PATH | --all\n"
	"\n"
	"Runs COMMAND unmodified and records the socket calls of it and its children, and how\n"
	"each layer of the stack and the scheduler handle them. Exits with COMMAND's status.\n"
	"\n";

/* Sets MAGNET_NAME for each option of libmagnet.so that was given. Returns 0 or -ENOMEM. */
static int set_environment(const struct recorder_options *o)
{
	for (size_t i = 0; i < recorder_option_count; i++) {
		const struct option_row *row = &recorder_option_rows[i];
		const void *at = (const char *)o + row->at;
		const char *value;
		char name[32];

		if (!(row->use & MG_TO_APP))
			continue;
		value = row->argument ? *(const char *const *)at : *(const bool *)at ? "1" : NULL;
		snprintf(name, sizeof(name), "MAGNET_%s", option_row_name(row));
		for (char *c = name; *c; c++)
			*c = *c == '-' ? '_' : (char)toupper((unsigned char)*c);
		if (value && setenv(name, value, 1) != 0) {
			mg_error("%s", strerror(ENOMEM));
			return -ENOMEM;
		}
	}
	return 0;
}

/* Returns what is wrong with --session and --lttng, NULL if nothing is. */
static const char *wrong_session(const struct record_options *r)
{
	const struct recorder_options *o = &r->given;
	bool in_parts = o->rotate.bytes || o->rotate.ns || o->flight.bytes || o->flight.ns;

	if (o->session && o->lttng)
		return "--session and --lttng exclude each other: give one of them";
	if (!r->app)
		return "--session and --lttng are for the application side: give a COMMAND, and "
		       "not --kernel-only";
	if (in_parts && !r->kernel)
		return "in an LTTng session --rotate and --flight follow the kernel side's parts: "
		       "leave --app-only out, or use lttng enable-rotation";
	return NULL;
}

/* Decides which sides are recorded. Returns 0, or -EINVAL after a message. */
static int choose_sides(struct record_options *r)
{
	const struct recorder_options *o = &r->given;
	const char *wrong;

	if (o->app_only && o->kernel_only) {
		mg_error("--app-only and --kernel-only exclude each other: give one of them");
		return -EINVAL;
	}
	if (o->app_only && !r->command) {
		mg_error("--app-only needs a COMMAND: a running process has no libmagnet.so");
		return -EINVAL;
	}
	r->kernel = !o->app_only;
	r->app = r->command && !o->kernel_only;
	r->in_session = o->session || o->lttng;
	wrong = r->in_session ? wrong_session(r) : NULL;
	if (wrong) {
		mg_error("%s", wrong);
		return -EINVAL;
	}
	if (r->kernel && !o->quiet && mg_layers_see_packets_only(o->layers))
		mg_warn("the kernel side does not record " MG_UNSEEN_KINDS
			": they pass only the layers syscall, socket and tcp");
	return 0;
}

/* Returns whether a word is an option of this use, perhaps with its value. */
static bool is_option_of(const char *word, unsigned int use)
{
	const struct option_row *row;
	char name[32];

	if (strncmp(word, "--", 2) != 0)
		return false;
	snprintf(name, sizeof(name), "%.*s", (int)strcspn(word + 2, "="), word + 2);
	row = option_find(recorder_option_rows, recorder_option_count, name);
	return row && row->use & use;
}

void record_options_selection(const struct record_options *r, char *text, size_t size)
{
	bool chosen = false; /* the last option; its value may be the next word */
	size_t used = 0;

	text[0] = 0;
	for (size_t i = 0; i < r->to_tracer.count; i++) {
		const char *word = r->to_tracer.text[i];
		bool is_value = strncmp(word, "--", 2) != 0;
		size_t length = r->given.anonymize ? strcspn(word, "=") : strlen(word);

		chosen = is_value ? chosen : is_option_of(word, MG_FILTER);
		if (chosen && !(is_value && r->given.anonymize) && used < size)
			used += (size_t)snprintf(text + used, size - used, "%s%.*s",
				used ? " " : "", (int)length, word);
	}
}

/* Says which of the given options have no effect without the kernel side. */
static void warn_of_unused(const struct record_options *r)
{
	char words[300] = "";
	size_t used = 0;

	for (size_t i = 0; i < r->to_tracer.count; i++)
		if (is_option_of(r->to_tracer.text[i], MG_KERNEL) && used < sizeof(words))
			used += (size_t)snprintf(words + used, sizeof(words) - used, "%s%s",
				used ? ", " : "", r->to_tracer.text[i]);
	if (used && !r->given.quiet)
		mg_warn("the kernel side is not recorded (--app-only), so without effect: %s",
			words);
}

/* Copies what bounds the application side too. */
static void bound_app_side(struct collector_bounds *b, const struct recorder_options *o)
{
	b->max_bytes = o->max_size;
	b->rotate_bytes = o->rotate.bytes;
	b->rotate_ns = o->rotate.ns;
	b->flight_bytes = o->flight.bytes;
	b->flight_ns = o->flight.ns;
	b->keep = (uint32_t)o->keep;
}

/*
 * Returns whether the process has exited and waits for its parent. The tracer accepts such a
 * process, as it may exit while the recording starts, and ends with it.
 */
static bool has_exited(int pid)
{
	char path[40], text[300] = "";
	const char *state;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	f = fopen(path, "re");
	if (f && !fgets(text, sizeof(text), f))
		text[0] = 0;
	if (f)
		fclose(f);
	state = strrchr(text, ')'); /* a program's name may hold anything */
	return state && strncmp(state, ") Z", 3) == 0;
}

int record_options_parse(struct record_options *r, int argc, char **argv)
{
	const struct option_command c = {.usage = usage,
		.rows = recorder_option_rows,
		.count = recorder_option_count,
		.command = MG_RECORD,
		.command_follows = true,
		.collect = MG_TO_TRACER};
	struct recorder_options *o = &r->given;
	int err;

	recorder_options_init(o);
	err = options_parse(&c, argc, argv, o, &r->to_tracer);
	if (err)
		return err;
	if (optind < argc)
		r->command = argv + optind;
	if (!r->command && !o->pid.count && !o->all && !o->cgroup) {
		mg_error("no command given: give COMMAND, --pid, --cgroup or --all (see magnet "
			 "record --help)");
		return -EINVAL;
	}
	err = recorder_options_check(o, r->command != NULL);
	for (uint32_t i = 0; i < o->pid.count && !err; i++)
		if (has_exited(o->pid.pid[i])) {
			mg_error("process %d has exited: give --pid those that run", o->pid.pid[i]);
			err = -ESRCH;
		}
	if (!err)
		err = choose_sides(r);
	if (!err)
		err = set_environment(o);
	bound_app_side(&r->bounds, o);
	if (!err && o->app_only)
		warn_of_unused(r);
	return err;
}

void record_options_free(struct record_options *r)
{
	recorder_options_free(&r->given);
	option_list_free(&r->to_tracer);
}
