/* SPDX-License-Identifier: MIT */
/* Prints the report's first lines: whether the recording is complete and was read. */
#include "report.h"
#include "text.h"

#define COMMENT_MAX 120

static void begin(FILE *to, const char *word, bool colour)
{
	fprintf(to, "%s%s%s: ", colour ? "\033[31m" : "", word, colour ? "\033[0m" : "");
}

/* Prints whether other parts come before or after those read. Returns whether they do. */
static bool in_parts(const struct report *r, FILE *to, bool colour)
{
	const struct fact_recording *c = &r->recording;
	const struct fact_side *s = &r->side[CORE_KERNEL];
	bool app_before = c->first_app_part > 1 && !r->side[CORE_APP].begins_late;
	bool before = c->first_part > 1 && !s->begins_late;
	bool after = c->part_ended && !c->has_end && !s->ends_early;

	if (app_before) {
		begin(to, "INCOMPLETE", colour);
		fprintf(to,
			"the application side begins with part %llu: earlier parts are missing\n",
			(unsigned long long)c->first_app_part);
	}
	if (before) {
		begin(to, "INCOMPLETE", colour);
		fprintf(to, "the kernel side begins with part %llu: earlier parts are missing\n",
			(unsigned long long)c->first_part);
	}
	if (after) {
		begin(to, "INCOMPLETE", colour);
		fprintf(to, "the kernel side continues after part %llu, the last one present\n",
			(unsigned long long)c->part);
	}
	return before || after || app_before;
}

/* Prints that a side begins after the recording did, or after calls of the program. */
static void late(const struct report *r, enum core_side which, const char *what, FILE *to)
{
	const struct fact_recording *c = &r->recording;
	const struct fact_side *s = &r->side[which], *app = &r->side[CORE_APP];

	if (c->begin)
		fprintf(to,
			"%s: the %s side begins %.6f s after the recording did: earlier events "
			"were not kept\n",
			what, which == CORE_APP ? "application" : "kernel",
			(double)(s->from - c->begin) / 1e9);
	else /* a tracer that was started by hand */
		fprintf(to,
			"%s: the kernel side begins at %.6f s, after %s of the application side: "
			"%s not joined\n",
			what, (double)(s->from - c->first) / 1e9,
			app->until < s->from ? "all calls" : "the first calls",
			app->until < s->from ? "they are" : "those are");
}

/*
 * Prints where a side does not cover all of the time. Returns whether one does not. Times count
 * from the first event read, as everywhere.
 */
static bool incomplete(const struct report *r, FILE *to, bool colour)
{
	static const char *const names[] = {"application", "kernel"};
	const struct fact_recording *c = &r->recording;
	bool any = false;

	for (int i = 0; i < CORE_SIDES; i++) {
		const struct fact_side *s = &r->side[i];
		double whole = (double)(c->last - c->first) / 1e9;
		char what[40];

		snprintf(what, sizeof(what), "%sINCOMPLETE%s", colour ? "\033[31m" : "",
			colour ? "\033[0m" : "");
		any |= s->known && (s->begins_late || s->ends_early);
		if (s->known && s->begins_late)
			late(r, i, what, to);
		if (!s->known || !s->ends_early)
			continue;
		fprintf(to, "%s: the %s side ends at %.6f s", what, names[i],
			(double)(s->until - c->first) / 1e9);
		if (s->end_known) /* otherwise its end is not known */
			fprintf(to, " of %.6f s", whole);
		fprintf(to, ": %s\n", text_plain(report_side_end(r, i), COMMENT_MAX));
	}
	any |= in_parts(r, to, colour);
	if (r->session && !c->end && !any) {
		fprintf(to,
			"%sINCOMPLETE%s: magnet record was killed before its program ended, or "
			"still runs: nothing after %.6f s is recorded\n",
			colour ? "\033[31m" : "", colour ? "\033[0m" : "",
			(double)(c->last - c->first) / 1e9);
		any = true;
	}
	return any;
}

/* Prints what is missing or cannot be read. Returns whether anything is. */
static bool not_all(const struct report *r, FILE *to, bool colour)
{
	static const char word[] = "INCOMPLETE";
	struct missing_events m = report_missing_events(r);
	bool files = m.app || m.kernel || m.packets || m.parts;

	if (m.app || m.kernel) {
		begin(to, word, colour);
		fprintf(to,
			"%s application and %s kernel events are missing: files of the recording "
			"were removed or truncated\n",
			text_count(m.app), text_count(m.kernel));
	} else if (files) {
		begin(to, word, colour);
		fprintf(to, "some of the recording's files were removed or truncated\n");
	}
	for (int i = 0; i < CORE_SIDES; i++) {
		if (!m.side[i])
			continue;
		begin(to, word, colour);
		fprintf(to, "the %s side was recorded too, but its trace is missing\n",
			i == CORE_APP ? "application" : "kernel");
	}
	if (m.undescribed) {
		begin(to, word, colour);
		fprintf(to, "%s has events, but its metadata file is missing\n",
			text_plain(m.undescribed, COMMENT_MAX));
	}
	if (m.without_end) {
		begin(to, word, colour);
		fprintf(to, "%u trace%s lack%s the final event: files are missing or damaged\n",
			m.without_end, plural(m.without_end), m.without_end == 1 ? "s" : "");
	}
	if (m.unknown) {
		begin(to, word, colour);
		fprintf(to,
			"%s events are of unknown kinds, such as %s: the recording was made by a "
			"newer version, or is damaged\n",
			text_count(m.unknown), text_plain(m.unknown_name, 32));
	}
	if (m.too_many) {
		begin(to, "TOO MANY EVENTS", colour);
		fprintf(to,
			"%s more than were written: some of the recording's files are duplicated "
			"or "
			"damaged\n",
			text_count(m.too_many));
	}
	return files || m.side[CORE_APP] || m.side[CORE_KERNEL] || m.undescribed || m.without_end ||
	       m.unknown || m.too_many;
}

/*
 * Returns whether it is known how much was written: LTTng's traces give the losses of its rings,
 * but no totals, so files may be gone.
 */
static bool totals_are_known(const struct report *r)
{
	const struct fact_recording *c = &r->recording;
	const struct fact_side *app = &r->side[CORE_APP];
	bool by_session =
		json_is_true(json_object_get(json_object_get(r->session, "app"), "written_out"));

	if (!c->app_events && !c->kernel_events && !app->traces_ended &&
		!r->side[CORE_KERNEL].traces_ended)
		return false; /* may be another tracer's, or one with a damaged name */
	return !c->kernel_tracer && (!c->app_events || app->traces || app->tells_end || by_session);
}

bool text_whole(const struct report *r, FILE *to, bool colour)
{
	const struct fact_recording *c = &r->recording;
	bool in_part;

	if (c->cut_off) {
		fprintf(to, "%sREAD IN PART%s, up to %.6f s: %s\n", colour ? "\033[31m" : "",
			colour ? "\033[0m" : "", (double)(c->last - c->first) / 1e9,
			text_plain(c->cut_off, COMMENT_MAX));
		return false;
	}
	in_part = incomplete(r, to, colour);
	return !not_all(r, to, colour) && !in_part && totals_are_known(r);
}
