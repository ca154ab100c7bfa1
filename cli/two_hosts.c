/* SPDX-License-Identifier: MIT */
#include "two_hosts.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "alloc.h"
#include "commands.h"
#include "hosts/between.h"
#include "loader.h"
#include "log.h"
#include "output.h"

struct one {
	struct loaded in;
	struct host_side side;
};

static int read_one(struct one *o, char **dirs, int count)
{
	loaded_init(&o->in);
	host_side_init(&o->side, o->in.core);
	core_listen(o->in.core, host_side_event, &o->side);
	return loaded_read(&o->in, dirs, count) || loaded_report(&o->in) ? EXIT_FAILED : EXIT_DONE;
}

static void free_one(struct one *o)
{
	host_side_free(&o->side);
	loaded_free(&o->in);
}

static int print(struct one *first, struct one *other, enum report_form form)
{
	const struct report *a = &first->in.report, *b = &other->in.report;
	struct output out;
	struct between w;
	int status = EXIT_DONE;

	if (between_make(&w, a, &first->side, b, &other->side)) {
		mg_error("%s", strerror(ENOMEM));
		status = EXIT_FAILED;
	} else if (form != REPORT_TEXT) {
		json_t *j = between_json(&w);
		struct json_beside beside = {"hosts", j, b};

		report_json_print(a, &beside, 15, stdout);
		json_decref(j);
	} else {
		output_begin(&out);
		joint_text(&w.joint, out.to, out.colour);
		between_text(&w, out.to, out.colour);
		fprintf(out.to, "\n");
		report_text(a, out.to, NULL, out.colour);
		fprintf(out.to, "\n");
		report_text(b, out.to, NULL, out.colour);
		output_end(&out);
	}
	between_free(&w);
	return status == EXIT_DONE ? output_finish("the report") : status;
}

int report_two_hosts(
	const struct by_host *b, enum report_form form, const struct report_detail *detail)
{
	struct one *one = mg_calloc(2, sizeof(*one)); /* a report is large */
	int status;

	if (!one) {
		mg_error("%s", strerror(ENOMEM));
		return EXIT_FAILED;
	}
	status = read_one(&one[0], b->dir[0], b->count[0]);
	if (status == EXIT_DONE)
		status = read_one(&one[1], b->dir[1], b->count[1]);
	if (status == EXIT_DONE) {
		for (int i = 0; i < 2; i++) {
			one[i].in.report.whole_flows = form == REPORT_JSON_WHOLE_FLOWS;
			one[i].in.report.detail = *detail;
			one[i].in.report.detail.beside_other_host = true;
		}
		one[0].in.report.detail.no_hint = true; /* that of the other one is enough */
		status = print(&one[0], &one[1], form);
	}
	free_one(&one[0]);
	free_one(&one[1]);
	free(one);
	return status;
}
