/* SPDX-License-Identifier: MIT */
/* Fills the frame of a page with what belongs into it. */
#include "page/page.h"

#include <stdlib.h>
#include <string.h>

#include "alloc.h"
#include "page/content.h"
#include "render/table.h"
#include "render/wrap.h"

#define TITLE_MAX 100

/* Columns of the first screen: of a terminal, and of a telephone. */
#define WIDE   88
#define NARROW REPORT_WIDTH_MIN

static void escaped(const char *text, FILE *to)
{
	for (; *text; text++)
		switch (*text) {
		case '&':
			fputs("&amp;", to);
			break;
		case '<':
			fputs("&lt;", to);
			break;
		case '>':
			fputs("&gt;", to);
			break;
		case '"':
			fputs("&quot;", to);
			break;
		default:
			putc_unlocked(*text, to);
		}
}

static void title(struct page *p, const struct report *r, FILE *to)
{
	const char *command = json_string_value(json_object_get(r->session, "command"));
	const char *name = command ? command : r->source ? r->source : "recording";

	(void)p;
	escaped(text_plain(name, TITLE_MAX), to);
	if (strlen(name) > TITLE_MAX)
		fputs("...", to);
}

/* Writes a text of the report in lines of at most so many columns. */
static void text_of(void (*print)(const struct report *r, FILE *to), const struct report *r,
	int columns, FILE *to)
{
	char *text, *lines;
	size_t size;
	FILE *memory = mg_text_open(&text, &size);

	text_set_unicode(true);
	text_set_columns(columns);
	if (!memory)
		return;
	print(r, memory);
	if (!mg_text_close(memory, &text))
		return;
	memory = mg_text_open(&lines, &size);
	if (memory)
		text_wrap(text, memory);
	if (memory && mg_text_close(memory, &lines)) {
		escaped(lines, to);
		free(lines);
	}
	free(text);
}

static void answer(const struct report *r, FILE *to)
{
	report_text_answer(r, to, false);
}

static void whole(const struct report *r, FILE *to)
{
	report_text(r, to, NULL, false);
}

static void answer_wide(struct page *p, const struct report *r, FILE *to)
{
	(void)p;
	text_of(answer, r, WIDE, to);
}

static void answer_narrow(struct page *p, const struct report *r, FILE *to)
{
	(void)p;
	text_of(answer, r, NARROW, to);
}

static void whole_text(struct page *p, const struct report *r, FILE *to)
{
	(void)p;
	text_of(whole, r, WIDE, to);
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

static void report(struct page *p, const struct report *r, FILE *to)
{
	char *json;
	size_t size;
	FILE *memory = mg_text_open(&json, &size);

	(void)p;
	if (!memory)
		return;
	report_json_print(r, NULL, REPORT_DIGITS, memory);
	if (!mg_text_close(memory, &json))
		return;
	script_json(json, to);
	free(json);
}

static void index_of_tracks(struct page *p, const struct report *r, FILE *to)
{
	json_t *j = content_json(p, r);
	char *json = mg_checked(json_dumps(
		j, JSON_COMPACT | JSON_ENSURE_ASCII | JSON_REAL_PRECISION(REPORT_DIGITS)));

	json_decref(j);
	if (json)
		script_json(json, to);
	free(json);
}

static void tracks(struct page *p, const struct report *r, FILE *to)
{
	content_tracks(p, r, to);
}

static const struct part {
	const char *name;
	void (*write)(struct page *p, const struct report *r, FILE *to);
} parts[] = {
	{"title", title},
	{"answer", answer_wide},
	{"answer-narrow", answer_narrow},
	{"text", whole_text},
	{"report", report},
	{"index", index_of_tracks},
	{"tracks", tracks},
};

static const struct part *part_named(const char *name, size_t length)
{
	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
		if (strlen(parts[i].name) == length && strncmp(parts[i].name, name, length) == 0)
			return &parts[i];
	return NULL;
}

bool page_write(struct page *p, const struct report *r, const char *frame, FILE *to)
{
	static const char begin[] = "<!--magnet ", end[] = "-->";

	tracks_sort(&p->tracks);
	for (const char *next; (next = strstr(frame, begin));) {
		const char *name = next + strlen(begin), *after = strstr(name, end);
		const struct part *part = after ? part_named(name, (size_t)(after - name)) : NULL;

		if (!part)
			return false;
		fwrite(frame, 1, (size_t)(next - frame), to);
		part->write(p, r, to);
		frame = after + strlen(end);
	}
	fputs(frame, to);
	return true;
}
