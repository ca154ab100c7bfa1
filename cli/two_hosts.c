/* SPDX-License-Identifier: MIT */
#include "two_hosts.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "alloc.h"
#include "commands.h"
#include "hosts/between.h"
#include "log.h"
#include "open_trace.h"
#include "reading.h"
#include "render/session.h"

#define HOST_NAME 200

/* What tells a host, and each of its boots, whose clocks begin anew. "" = nothing does. */
static void host_of(const char *dir, char out[HOST_NAME])
{
	char path[PATH_MAX], why[1024]; /* which is told when all of it is read */
	const char *boot, *name;
	json_t *session;

	snprintf(path, sizeof(path), "%.4000s/session.json", dir);
	session = session_load(path, false, why, sizeof(why));
	boot = json_string_value(json_object_get(session, "boot_id"));
	name = json_string_value(json_object_get(session, "host"));
	snprintf(out, HOST_NAME, "%s", boot ? boot : name ? name : "");
	json_decref(session);
}

int by_host_sort(struct by_host *b, char **dirs, int count)
{
	char host[2][HOST_NAME] = {"", ""}, this[HOST_NAME];
	int at = 0;

	memset(b, 0, sizeof(*b));
	for (int i = 0; i < 2; i++) {
		b->dir[i] = mg_calloc((size_t)count + 1, sizeof(*b->dir[i]));
		if (!b->dir[i])
			return -ENOMEM;
	}
	for (int i = 0; i < count; i++) {
		host_of(dirs[i], this);
		if (this[0] && !host[0][0])
			memcpy(host[0], this, sizeof(this));
		if (this[0] && strcmp(this, host[0]) == 0)
			at = 0;
		else if (this[0] && (!host[1][0] || strcmp(this, host[1]) == 0))
			at = 1;
		else if (this[0])
			b->more = true;
		if (this[0] && at == 1)
			memcpy(host[1], this, sizeof(this));
		b->dir[at][b->count[at]++] = dirs[i];
	}
	return 0;
}

void by_host_free(struct by_host *b)
{
	free(b->dir[0]);
	free(b->dir[1]);
}

bool is_one_host(char **dirs, int count)
{
	struct by_host b;
	bool one = by_host_sort(&b, dirs, count) == 0 && !b.count[1] && !b.more;

	by_host_free(&b);
	if (!one)
		mg_error("these are recordings of several hosts, with a clock each: give those of "
			 "one "
			 "(magnet report takes those of two)");
	return one;
}

struct one {
	struct core core;
	struct host_side side;
	struct report report;
	json_t *session;
	bool reported;
};

static int read_one(struct one *o, char **dirs, int count)
{
	core_init(&o->core);
	host_side_init(&o->side, &o->core);
	core_listen(&o->core, host_side_event, &o->side);
	if (open_trace(dirs, count, &o->core, &o->session))
		return EXIT_FAILED;
	o->reported = true;
	if (report_init(&o->report, &o->core, o->session, dirs[0])) {
		mg_error("%s", strerror(ENOMEM));
		return EXIT_FAILED;
	}
	return EXIT_DONE;
}

static void free_one(struct one *o)
{
	if (o->reported)
		report_free(&o->report);
	host_side_free(&o->side);
	core_free(&o->core);
	json_decref(o->session);
}

static int print(const struct one *first, const struct one *other, enum report_form form)
{
	bool colour = isatty(STDOUT_FILENO) && !getenv("NO_COLOR");
	struct whole_text text;
	struct between w;
	int status = EXIT_DONE;

	if (between_make(&w, &first->report, &first->side, &other->report, &other->side)) {
		mg_error("%s", strerror(ENOMEM));
		status = EXIT_FAILED;
	} else if (form != REPORT_TEXT) {
		json_t *j = between_json(&w);
		struct json_beside beside = {"hosts", j, &other->report};

		report_json_print(&first->report, &beside, 15, stdout);
		json_decref(j);
	} else {
		FILE *to = whole_text_begin(&text);

		between_text(&w, to, colour);
		fprintf(to, "\n");
		report_text(&first->report, to, NULL, colour);
		fprintf(to, "\n");
		report_text(&other->report, to, NULL, colour);
		whole_text_end(&text);
	}
	between_free(&w);
	return status == EXIT_DONE ? printed("the report") : status;
}

int report_two_hosts(const struct by_host *b, enum report_form form)
{
	struct one *one = mg_calloc(2, sizeof(*one)); /* a core is large */
	int status;

	if (!one) {
		mg_error("%s", strerror(ENOMEM));
		return EXIT_FAILED;
	}
	status = read_one(&one[0], b->dir[0], b->count[0]);
	if (status == EXIT_DONE)
		status = read_one(&one[1], b->dir[1], b->count[1]);
	if (status == EXIT_DONE) {
		for (int i = 0; i < 2; i++)
			one[i].report.whole_flows = form == REPORT_JSON_WHOLE_FLOWS;
		status = print(&one[0], &one[1], form);
	}
	free_one(&one[0]);
	free_one(&one[1]);
	free(one);
	return status;
}
