/* SPDX-License-Identifier: MIT */
#include "against.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "alloc.h"
#include "by_host.h"
#include "commands.h"
#include "compare/comparison.h"
#include "loader.h"
#include "log.h"
#include "output.h"
#include "recordings.h"

/* Directories that are read as one recording. */
struct directories_of_one {
	char **dir;
	size_t count;
};

/* Recordings of one side. */
struct side {
	char name[200]; /* as it was given */
	struct recording_paths paths;
	struct directories_of_one *recording;
	size_t count;
	struct measured *measured;
	struct loaded first; /* the first recording, whose report is printed with the comparison */
	bool first_is_kept;
};

static int no_memory(void)
{
	mg_error("%s", strerror(ENOMEM));
	return EXIT_FAILED;
}

/* ---- which recordings there are ---- */

/* Adds the recordings of a directory's name. Returns an exit status. */
static int add_directory(struct side *s, const char *dir)
{
	if (!dir[0]) {
		mg_error("--against takes directories, separated by commas: one of them has no "
			 "name");
		return EXIT_USAGE;
	}
	return recordings_add(&s->paths, dir) ? EXIT_FAILED : EXIT_DONE;
}

/* Adds those of a list, unless there is a directory with all of its name. */
static int add_list(struct side *s, const char *list)
{
	int status = EXIT_DONE;
	char *copy, *at, *comma;

	if (access(list, F_OK) == 0)
		return add_directory(s, list);
	copy = strdup(list);
	if (!copy)
		return no_memory();
	for (at = copy; at && status == EXIT_DONE; at = comma) {
		comma = strchr(at, ',');
		if (comma)
			*comma++ = 0;
		status = add_directory(s, at);
	}
	free(copy);
	return status;
}

/* Returns the recording to which a directory belongs: those made at one time are read together. */
static struct directories_of_one *recording_of(struct side *s, const char *dir)
{
	for (size_t i = 0; i < s->count; i++)
		if (!recordings_are_apart(s->recording[i].dir[0], dir))
			return &s->recording[i];
	return &s->recording[s->count++];
}

static int divide(struct side *s)
{
	s->recording = mg_calloc(s->paths.count + 1, sizeof(*s->recording));
	s->measured = mg_calloc(s->paths.count + 1, sizeof(*s->measured));
	if (!s->recording || !s->measured)
		return no_memory();
	if (!is_one_machine(s->paths.path, (int)s->paths.count))
		return EXIT_USAGE;
	for (size_t i = 0; i < s->paths.count; i++) {
		struct directories_of_one *t = recording_of(s, s->paths.path[i]);
		char **more = mg_realloc(t->dir, (t->count + 1) * sizeof(*more));

		if (!more)
			return no_memory();
		t->dir = more;
		t->dir[t->count++] = s->paths.path[i];
	}
	return EXIT_DONE;
}

/* ---- reading ---- */

static int read_recording(struct side *s, size_t which, bool keep)
{
	struct loaded *in = &s->first;
	struct sampling sampling;
	int status = EXIT_FAILED;

	loaded_init(in);
	sampling_init(&sampling, in->core);
	core_listen(in->core, sampling_event, &sampling);
	if (loaded_read(in, s->recording[which].dir, (int)s->recording[which].count) == 0) {
		sampling_finish(&sampling);
		if (loaded_report(in) == 0 && measure(&s->measured[which], &in->report, &sampling))
			no_memory();
		else if (in->reported)
			status = EXIT_DONE;
	}
	sampling_free(&sampling);
	s->first_is_kept = keep;
	if (!keep)
		loaded_free(in);
	return status;
}

/* Reads all, the first of which stays in memory if it is to be `kept`. */
static int read_side(struct side *s, bool kept)
{
	int status = EXIT_DONE;

	for (size_t i = s->count; i-- && status == EXIT_DONE;)
		status = read_recording(s, i, kept && i == 0);
	return status;
}

static void free_side(struct side *s)
{
	for (size_t i = 0; i < s->count; i++) {
		free(s->recording[i].dir);
		measured_free(&s->measured[i]);
	}
	free(s->recording);
	free(s->measured);
	if (s->first_is_kept)
		loaded_free(&s->first);
	recordings_free(&s->paths);
}

static int print(struct side *now, const struct side *before, const struct against_options *o)
{
	struct compared_side x = {now->name, now->measured, now->count};
	struct compared_side y = {before->name, before->measured, before->count};
	struct output out;
	struct comparison c;
	int status = EXIT_DONE;

	now->first.report.whole_flows = o->form == REPORT_JSON_WHOLE_FLOWS;
	if (compare(&c, &x, &y)) {
		status = no_memory();
	} else if (o->form != REPORT_TEXT) {
		json_t *j = comparison_json(&c, &x, &y);
		struct json_beside beside = {"comparison", j, NULL};

		report_json_print(&now->first.report, &beside, REPORT_DIGITS, stdout);
		json_decref(j);
	} else {
		output_begin(&out);
		comparison_text(&c, &x, &y, o->rows, out.to, out.colour);
		output_end(&out);
	}
	comparison_free(&c);
	return status == EXIT_DONE ? output_finish("the report") : status;
}

int report_against(char **dirs, int count, const struct against_options *o)
{
	struct side *side = mg_calloc(2, sizeof(*side)); /* a report and its sums are large */
	int status = EXIT_DONE;

	if (!side)
		return no_memory();
	snprintf(side[1].name, sizeof(side[1].name), "%s", o->against);
	for (int i = 0; i < count && status == EXIT_DONE; i++) {
		size_t used = strlen(side[0].name);

		snprintf(side[0].name + used, sizeof(side[0].name) - used, "%s%s", i ? "," : "",
			dirs[i]);
		status = add_directory(&side[0], dirs[i]);
	}
	if (status == EXIT_DONE)
		status = add_list(&side[1], o->against);
	for (int i = 0; i < 2 && status == EXIT_DONE; i++)
		status = divide(&side[i]);
	for (int i = 0; i < 2 && status == EXIT_DONE; i++)
		status = read_side(&side[i], i == 0);
	if (status == EXIT_DONE)
		status = print(&side[0], &side[1], o);
	free_side(&side[0]);
	free_side(&side[1]);
	free(side);
	return status;
}
