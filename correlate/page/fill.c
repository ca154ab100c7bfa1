/* SPDX-License-Identifier: MIT */
#include "page/fill.h"

#include <stdlib.h>
#include <string.h>

#include "alloc.h"
#include "render/table.h"
#include "render/wrap.h"

_Static_assert(PAGE_NARROW >= REPORT_WIDTH_MIN, "PAGE_NARROW");

void page_escape(const char *text, FILE *to)
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

void page_text(void (*print)(void *arg, FILE *to), void *arg, int columns, FILE *to)
{
	char *text, *lines;
	size_t size;
	FILE *memory = mg_text_open(&text, &size);

	text_set_unicode(true);
	text_set_columns(columns);
	if (!memory)
		return;
	print(arg, memory);
	if (!mg_text_close(memory, &text))
		return;
	memory = mg_text_open(&lines, &size);
	if (memory)
		text_wrap(text, memory);
	if (memory && mg_text_close(memory, &lines)) {
		page_escape(lines, to);
		free(lines);
	}
	free(text);
}

static const struct page_part *part_named(
	const struct page_part *parts, size_t n, const char *name, size_t length)
{
	for (size_t i = 0; i < n; i++)
		if (strlen(parts[i].name) == length && strncmp(parts[i].name, name, length) == 0)
			return &parts[i];
	return NULL;
}

bool page_fill(const char *frame, const struct page_part *parts, size_t n, void *arg, FILE *to)
{
	static const char begin[] = "<!--magnet ", end[] = "-->";

	for (const char *next; (next = strstr(frame, begin));) {
		const char *name = next + strlen(begin), *after = strstr(name, end);
		const struct page_part *part =
			after ? part_named(parts, n, name, (size_t)(after - name)) : NULL;

		if (!part)
			return false;
		fwrite(frame, 1, (size_t)(next - frame), to);
		part->write(arg, to);
		frame = after + strlen(end);
	}
	fputs(frame, to);
	return true;
}
