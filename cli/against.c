/* SPDX-License-Identifier: MIT */
#include "against.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "alloc.h"
#include "commands.h"
#include "compare/comparison.h"
#include "loader.h"
#include "log.h"
#include "output.h"

struct side {
	struct loaded in;
	struct sampling sampling;
};

static int read_side(struct side *s, char **dirs, int count)
{
	loaded_init(&s->in);
	sampling_init(&s->sampling, s->in.core);
	core_listen(s->in.core, sampling_event, &s->sampling);
	if (loaded_read(&s->in, dirs, count))
		return EXIT_FAILED;
	sampling_finish(&s->sampling);
	return loaded_report(&s->in) ? EXIT_FAILED : EXIT_DONE;
}

static void free_side(struct side *s)
{
	sampling_free(&s->sampling);
	loaded_free(&s->in);
}

static int print(const struct side *now, const struct side *before, enum report_form form)
{
	struct recording x = {&now->in.report, &now->sampling};
	struct recording y = {&before->in.report, &before->sampling};
	struct output out;
	struct comparison c;
	int status = EXIT_DONE;

	if (compare(&c, &x, &y)) {
		mg_error("%s", strerror(ENOMEM));
		status = EXIT_FAILED;
	} else if (form != REPORT_TEXT) {
		json_t *j = comparison_json(&c, &y);
		struct json_beside beside = {"comparison", j, NULL};

		report_json_print(&now->in.report, &beside, REPORT_DIGITS, stdout);
		json_decref(j);
	} else {
		output_begin(&out);
		comparison_text(&c, &x, &y, before->in.name, out.to, out.colour);
		output_end(&out);
	}
	comparison_free(&c);
	return status == EXIT_DONE ? output_finish("the report") : status;
}

int report_against(char **dirs, int count, char *against, enum report_form form)
{
	struct side *side = mg_calloc(2, sizeof(*side)); /* a report and its sums are large */
	int status;

	if (!side) {
		mg_error("%s", strerror(ENOMEM));
		return EXIT_FAILED;
	}
	status = read_side(&side[0], dirs, count);
	if (status == EXIT_DONE) {
		side[0].in.report.whole_flows = form == REPORT_JSON_WHOLE_FLOWS;
		status = read_side(&side[1], &against, 1);
		if (status == EXIT_DONE)
			status = print(&side[0], &side[1], form);
		free_side(&side[1]);
	}
	free_side(&side[0]);
	free(side);
	return status;
}
