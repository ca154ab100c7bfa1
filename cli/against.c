/* SPDX-License-Identifier: MIT */
#include "against.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "alloc.h"
#include "commands.h"
#include "compare/comparison.h"
#include "log.h"
#include "open_trace.h"
#include "reading.h"

struct side {
	struct core core;
	struct sampling sampling;
	struct report report;
	json_t *session;
	bool reported;
};

static int read_side(struct side *s, char **dirs, int count)
{
	memset(s, 0, sizeof(*s));
	core_init(&s->core);
	sampling_init(&s->sampling, &s->core);
	core_listen(&s->core, sampling_event, &s->sampling);
	if (open_trace(dirs, count, &s->core, &s->session))
		return EXIT_FAILED;
	sampling_finish(&s->sampling);
	s->reported = true;
	if (report_init(&s->report, &s->core, s->session, dirs[0])) {
		mg_error("%s", strerror(ENOMEM));
		return EXIT_FAILED;
	}
	return EXIT_DONE;
}

static void free_side(struct side *s)
{
	if (s->reported)
		report_free(&s->report);
	sampling_free(&s->sampling);
	core_free(&s->core);
	json_decref(s->session);
}

static int print(const struct side *now, const struct side *before, enum report_form form)
{
	struct recording x = {&now->report, &now->sampling};
	struct recording y = {&before->report, &before->sampling};
	struct whole_text text;
	struct comparison c;
	int status = EXIT_DONE;

	if (compare(&c, &x, &y)) {
		mg_error("%s", strerror(ENOMEM));
		status = EXIT_FAILED;
	} else if (form != REPORT_TEXT) {
		json_t *j = comparison_json(&c, &y);
		struct json_beside beside = {"comparison", j, NULL};

		report_json_print(&now->report, &beside, REPORT_DIGITS, stdout);
		json_decref(j);
	} else {
		comparison_text(&c, &x, &y, before->report.source, whole_text_begin(&text),
			isatty(STDOUT_FILENO) && !getenv("NO_COLOR"));
		whole_text_end(&text);
	}
	comparison_free(&c);
	return status == EXIT_DONE ? printed("the report") : status;
}

int report_against(char **dirs, int count, char *against, enum report_form form)
{
	struct side *side = mg_calloc(2, sizeof(*side)); /* a core is large */
	int status;

	if (!side) {
		mg_error("%s", strerror(ENOMEM));
		return EXIT_FAILED;
	}
	status = read_side(&side[0], dirs, count);
	if (status == EXIT_DONE) {
		side[0].report.whole_flows = form == REPORT_JSON_WHOLE_FLOWS;
		status = read_side(&side[1], &against, 1);
		if (status == EXIT_DONE)
			status = print(&side[0], &side[1], form);
		free_side(&side[1]);
	}
	free_side(&side[0]);
	free(side);
	return status;
}
