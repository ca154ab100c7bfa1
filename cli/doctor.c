/* SPDX-License-Identifier: MIT */
/* magnet doctor: decided by trying, not by looking for versions. */
#define _GNU_SOURCE
#include <ctype.h>
#include <errno.h>
#include <ftw.h>
#include <getopt.h>
#include <jansson.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "alloc.h"
#include "collector.h"
#include "commands.h"
#include "doctor.h"
#include "doctor_tune.h"
#include "doctor_verdict.h"
#include "event_table.h"
#include "log.h"
#include "option_table.h"
#include "options.h"
#include "output.h"
#include "paths.h"
#include "tracer.h"

/* value of --tune */
struct doctor_loss {
	bool given;
	double percent;
};

static const char usage[] = "usage: magnet doctor [-v] [--json] [--tune LOSS]\n"
			    "\n"
			    "Says whether a recording on this machine would be complete, and how "
			    "to fix what\n"
			    "is missing. Starts and stops both sides once.\n"
			    "\n";

struct doctor_options {
	bool json, verbose, help;
	struct doctor_loss tune;
};

static bool parse_loss(const struct option_row *row, const char *text, void *value)
{
	struct doctor_loss *loss = value;
	char *end;

	(void)row;
	loss->percent = strtod(text, &end);
	end += *end == '%';
	if (end == text || *end || !isdigit((unsigned char)*text) || !(loss->percent <= 100))
		return option_refuse("a share of events in percent, such as 0.1%% or 0");
	loss->given = true;
	return true;
}

static const struct option_type type_loss = {parse_loss, NULL};

static const struct option_row rows[] = {
	OPTION_ROW(struct doctor_options, "json", 0, NULL, option_type_flag, json,
		"print one JSON object"),
	OPTION_ROW(struct doctor_options, "verbose", 'v', NULL, option_type_flag, verbose,
		"also print each layer's hooks, and what cannot be observed"),
	OPTION_ROW(struct doctor_options, "tune", 0, "LOSS", type_loss, tune,
		"measure the losses of kernel events under load with several buffers and "
		"intervals, and "
		"print the smallest buffer and the longest interval that keep them below LOSS "
		"percent"),
	OPTION_ROW(struct doctor_options, "help", 'h', NULL, option_type_help, help,
		"print this help"),
};

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	(void)st;
	(void)type;
	(void)ftw;
	return remove(path);
}

static json_t *verdict(bool ok, const char *why)
{
	return json_pack("{s:b, s:s?}", "works", ok, "why", ok ? NULL : why);
}

static json_t *try_app(const char *top)
{
	char path[PATH_MAX], output[PATH_MAX];
	const char *why = find_library(path);
	struct collector_result result = {0};
	struct collector c;
	bool ok;

	if (why)
		return verdict(false, why);
	snprintf(output, sizeof(output), "%.4000s/app", top);
	ok = collector_start(&c, &(struct collector_options){.dir = output}) == 0 &&
	     collector_stop(&c, &result, 15000) == 0;
	callers_free(&result.callers);
	return verdict(ok, c.why);
}

/* Whether libmagnet.so can log to a session of the user's own. */
static json_t *look_for_lttng(void)
{
	const char *at = getenv("PATH");
	char path[PATH_MAX];
	bool found = false;

	if (!find_part(path, "preload", MAGNET_LIBDIR, "libmagnet-lttng.so"))
		return verdict(
			false, "libmagnet-lttng.so is not where it belongs: install magnet again");
	while (at && *at && !found) {
		size_t n = strcspn(at, ":");

		snprintf(path, sizeof(path), "%.*s/lttng-sessiond", (int)n, at);
		found = access(path, X_OK) == 0;
		at += n + (at[n] == ':');
	}
	return verdict(found, "lttng-sessiond is not installed (package lttng-tools)");
}

/* `hooks` gets what the tracer said of each. */
static json_t *try_kernel(const char *top, json_t **hooks)
{
	static const char *const every_layer[] = {"--layers", MG_LAYER_CHOICES, NULL};
	char output[PATH_MAX];
	struct tracer t;
	json_t *j;
	bool ok;

	snprintf(output, sizeof(output), "%.4000s/kernel", top);
	ok = tracer_start(&t, output, getpid(), every_layer) == 0 &&
	     tracer_wait_ready(&t, -1, false) == 0;
	if (ok) {
		*hooks = json_deep_copy(json_object_get(t.ready, "hooks"));
		tracer_stop(&t, 15000);
	}
	j = verdict(ok, t.why);
	tracer_free(&t);
	return j;
}

static void print_side(const char *name, const json_t *j)
{
	bool works = json_is_true(json_object_get(j, "works"));

	printf("%-17s %s%s\n", name,
		works ? "works" : "does not work: ", works ? "" : doctor_text(j, "why", "?"));
}

static void print_all(const json_t *j)
{
	const json_t *hooks = json_object_get(j, "hooks");

	doctor_print_machine(json_object_get(j, "machine"));
	print_side("application side", json_object_get(j, "app"));
	print_side("LTTng sessions", json_object_get(j, "lttng"));
	print_side("kernel side", json_object_get(j, "kernel_side"));
	if (json_is_array(hooks))
		doctor_print_hooks(hooks);
	doctor_print_not_observable(json_object_get(j, "not_observable"));
}

/* Tries both sides below the directory. */
static json_t *find_out(const char *top)
{
	json_t *j = json_object(), *hooks = NULL;

	json_object_set_new(j, "machine", doctor_machine());
	json_object_set_new(j, "kernel_side", try_kernel(top, &hooks));
	json_object_set_new(j, "app", try_app(top));
	json_object_set_new(j, "lttng", look_for_lttng());
	json_object_set_new(j, "hooks", hooks ? hooks : json_null());
	json_object_set_new(j, "not_observable", doctor_not_observable(hooks));
	doctor_judge(j);
	return j;
}

/* Adds the curve of losses to the findings. Returns whether a buffer and an interval are found. */
static bool tune(json_t *findings, const char *top, const struct doctor_options *o)
{
	json_t *tuned = NULL;
	bool found;

	if (!json_is_true(json_object_get(json_object_get(findings, "kernel_side"), "works"))) {
		if (!o->json)
			doctor_print_verdict(findings);
		mg_error("losses cannot be measured without the kernel side");
	} else {
		tuned = doctor_tune(top, o->tune.percent, !o->json);
	}
	found = json_is_object(json_object_get(tuned, "smallest_buffer"));
	if (tuned && !o->json)
		doctor_print_tuned(tuned);
	json_object_set_new(findings, "tune", tuned ? tuned : json_null());
	return found;
}

int cmd_doctor(int argc, char **argv)
{
	const struct option_command c = {.usage = usage,
		.rows = rows,
		.count = sizeof(rows) / sizeof(rows[0]),
		.command = OPTION_ONLY_COMMAND};
	struct doctor_options o = {0};
	char top[] = "/tmp/magnet-doctor-XXXXXX";
	json_t *j;
	bool ok;
	int err;

	err = options_parse(&c, argc, argv, &o, NULL);
	if (err)
		return err > 0 ? EXIT_DONE : EXIT_USAGE;
	if (optind < argc) {
		mg_error("doctor takes no argument '%s' (see magnet doctor --help)", argv[optind]);
		return EXIT_USAGE;
	}
	if (!mkdtemp(top)) {
		mg_error("cannot make a directory in /tmp: %s", strerror(errno));
		return EXIT_FAILED;
	}
	j = find_out(top);
	ok = !mg_memory_failures() && (o.tune.given ? tune(j, top, &o) : doctor_complete(j));
	nftw(top, remove_one, 16, FTW_DEPTH | FTW_PHYS);
	if (mg_memory_failures()) /* a result without memory would say that something does not work
				   */
		mg_memory_exit();
	mg_memory_is_vital();
	if (o.json) {
		json_dumpf(j, stdout, JSON_INDENT(2) | JSON_ENSURE_ASCII);
		putchar('\n');
	} else if (!o.tune.given) {
		doctor_print_verdict(j);
		if (o.verbose)
			print_all(j);
	}
	json_decref(j);
	if (output_finish("the findings") != EXIT_DONE)
		return EXIT_FAILED;
	return ok ? EXIT_DONE : EXIT_FAILED;
}
