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
#include "page/page.h"
#include "report_page.h"

struct one {
	struct loaded in;
	struct host_side side;
	struct page page;
};

static int read_one(struct one *o, char **dirs, int count, const struct two_hosts_options *options)
{
	loaded_init(&o->in);
	if (options->html) {
		page_listen(&o->page, o->in.core, NULL);
		figures_keep_slowest(o->in.core, (uint32_t)options->slowest);
	}
	host_side_init(&o->side, o->in.core);
	core_listen(o->in.core, host_side_event, &o->side);
	return loaded_read(&o->in, dirs, count) || loaded_report(&o->in) ? EXIT_FAILED : EXIT_DONE;
}

static void free_one(struct one *o)
{
	host_side_free(&o->side);
	page_free(&o->page);
	loaded_free(&o->in);
}

static void print(const struct between *w, enum report_form form)
{
	struct output out;

	if (form != REPORT_TEXT) {
		json_t *j = between_json(w);
		struct json_beside beside = {"hosts", j, w->b};

		report_json_print(w->a, &beside, 15, stdout);
		json_decref(j);
		return;
	}
	output_begin(&out);
	joint_text(&w->joint, out.to, out.colour);
	between_text(w, out.to, out.colour);
	fprintf(out.to, "\n");
	report_text(w->a, out.to, NULL, out.colour);
	fprintf(out.to, "\n");
	report_text(w->b, out.to, NULL, out.colour);
	output_end(&out);
}

/* Returns an exit status. */
static int write_page(struct one *one, const struct between *w, const char *html)
{
	char *frame = page_frame("two-hosts.html");
	char *of_one = frame ? page_frame("page.html") : NULL;
	int status = of_one ? hosts_page_to_file(&one[0].page, &one[1].page, w, frame, of_one, html)
			    : EXIT_FAILED;

	free(frame);
	free(of_one);
	return status;
}

static int report(struct one *one, const struct two_hosts_options *o)
{
	struct between w;
	int status = EXIT_DONE;

	for (int i = 0; i < 2; i++) {
		struct report *r = &one[i].in.report;

		r->whole_flows = o->form == REPORT_JSON_WHOLE_FLOWS;
		r->detail = o->detail;
		r->detail.beside_other_host = true;
		r->slowest = o->html ? o->slowest : 0;
	}
	one[0].in.report.detail.no_hint = true; /* that of the other one is enough */
	if (between_make(&w, &one[0].in.report, &one[0].side, &one[1].in.report, &one[1].side)) {
		mg_error("%s", strerror(ENOMEM));
		status = EXIT_FAILED;
	} else if (o->html) {
		status = write_page(one, &w, o->html);
	} else {
		print(&w, o->form);
	}
	between_free(&w);
	return status != EXIT_DONE || o->html ? status : output_finish("the report");
}

int report_two_hosts(const struct by_host *b, const struct two_hosts_options *o)
{
	struct one *one = mg_calloc(2, sizeof(*one)); /* a report is large */
	int status;

	if (!one) {
		mg_error("%s", strerror(ENOMEM));
		return EXIT_FAILED;
	}
	status = read_one(&one[0], b->dir[0], b->count[0], o);
	if (status == EXIT_DONE)
		status = read_one(&one[1], b->dir[1], b->count[1], o);
	if (status == EXIT_DONE)
		status = report(one, o);
	free_one(&one[0]);
	free_one(&one[1]);
	free(one);
	return status;
}
