/* SPDX-License-Identifier: MIT */
#include "page/page.h"

#include <stdlib.h>
#include <string.h>

#include "alloc.h"
#include "page/content.h"
#include "page/fill.h"
#include "render/table.h"

#define TITLE_MAX 100

struct filled {
	struct page *p;
	const struct report *r;
};

static void title(void *arg, FILE *to)
{
	const struct report *r = ((struct filled *)arg)->r;
	const char *command = json_string_value(json_object_get(r->session, "command"));
	const char *name = command ? command : r->source ? r->source : "recording";

	page_escape(text_plain(name, TITLE_MAX), to);
	if (strlen(name) > TITLE_MAX)
		fputs("...", to);
}

static void answer(void *arg, FILE *to)
{
	report_text_answer(((struct filled *)arg)->r, to, false);
}

static void whole(void *arg, FILE *to)
{
	report_text(((struct filled *)arg)->r, to, NULL, false);
}

static void answer_wide(void *arg, FILE *to)
{
	page_text(answer, arg, PAGE_WIDE, to);
}

static void answer_narrow(void *arg, FILE *to)
{
	page_text(answer, arg, PAGE_NARROW, to);
}

static void whole_text(void *arg, FILE *to)
{
	page_text(whole, arg, PAGE_WIDE, to);
}

/*
 * Writes JSON for a script element: no `<` may be there, which JSON has in strings only, and no
 * indentation is needed.
 */
static void script_json(const char *json, FILE *to)
{
	for (; *json; json++) {
		if (*json == '<')
			fputs("\\u003c", to);
		else if (*json != '\n')
			putc_unlocked(*json, to);
		else
			json += strspn(json, "\n ") - 1;
	}
}

static void report(void *arg, FILE *to)
{
	char *json;
	size_t size;
	FILE *memory = mg_text_open(&json, &size);

	if (!memory)
		return;
	report_json_print(((struct filled *)arg)->r, NULL, REPORT_DIGITS, memory);
	if (!mg_text_close(memory, &json))
		return;
	script_json(json, to);
	free(json);
}

static void index_of_tracks(void *arg, FILE *to)
{
	struct filled *f = arg;
	json_t *j = content_json(f->p, f->r);
	char *json = mg_checked(json_dumps(
		j, JSON_COMPACT | JSON_ENSURE_ASCII | JSON_REAL_PRECISION(REPORT_DIGITS)));

	json_decref(j);
	if (json)
		script_json(json, to);
	free(json);
}

static void tracks(void *arg, FILE *to)
{
	struct filled *f = arg;

	content_tracks(f->p, f->r, to);
}

bool page_write(struct page *p, const struct report *r, const char *frame, FILE *to)
{
	static const struct page_part parts[] = {
		{"title", title},
		{"answer", answer_wide},
		{"answer-narrow", answer_narrow},
		{"text", whole_text},
		{"report", report},
		{"index", index_of_tracks},
		{"tracks", tracks},
	};
	struct filled f = {p, r};

	tracks_sort(&p->tracks);
	return page_fill(frame, parts, sizeof(parts) / sizeof(parts[0]), &f, to);
}
