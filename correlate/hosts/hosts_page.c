/* SPDX-License-Identifier: MIT */
#include "hosts_page.h"

#include <stdlib.h>

#include "alloc.h"
#include "page/fill.h"
#include "page/page.h"

struct filled {
	const struct between *w;
	struct page *page[2];
	const char *one_frame;
	bool unknown; /* the frame of one host's page has a name that is not known */
};

static void name(
	const struct report *r, const struct report *other, const char *otherwise, FILE *to)
{
	char text[HOST_LABEL];

	host_label(r, other, otherwise, text);
	page_escape(text, to);
}

static void first_name(void *arg, FILE *to)
{
	const struct between *w = ((struct filled *)arg)->w;

	name(w->a, w->b, "the first host", to);
}

static void other_name(void *arg, FILE *to)
{
	const struct between *w = ((struct filled *)arg)->w;

	name(w->b, w->a, "the other host", to);
}

static void answer(void *arg, FILE *to)
{
	const struct between *w = ((struct filled *)arg)->w;

	joint_text(&w->joint, to, false);
	between_text(w, to, false);
}

static void answer_wide(void *arg, FILE *to)
{
	page_text(answer, arg, PAGE_WIDE, to);
}

static void answer_narrow(void *arg, FILE *to)
{
	page_text(answer, arg, PAGE_NARROW, to);
}

/* Writes a host's page as the value of an attribute. */
static void page_of(struct filled *f, int i, FILE *to)
{
	const struct report *r = i ? f->w->b : f->w->a;
	char *text;
	size_t size;
	FILE *memory = mg_text_open(&text, &size);

	if (!memory)
		return;
	f->unknown |= !page_write(f->page[i], r, f->one_frame, memory);
	if (!mg_text_close(memory, &text))
		return;
	page_escape(text, to);
	free(text);
}

static void first_page(void *arg, FILE *to)
{
	page_of(arg, 0, to);
}

static void other_page(void *arg, FILE *to)
{
	page_of(arg, 1, to);
}

bool hosts_page_write(const struct between *w, struct page *first, struct page *other,
	const char *frame, const char *one_frame, FILE *to)
{
	static const struct page_part parts[] = {
		{"first-name", first_name},
		{"other-name", other_name},
		{"answer", answer_wide},
		{"answer-narrow", answer_narrow},
		{"first-page", first_page},
		{"other-page", other_page},
	};
	struct filled f = {.w = w, .page = {first, other}, .one_frame = one_frame};

	return page_fill(frame, parts, sizeof(parts) / sizeof(parts[0]), &f, to) && !f.unknown;
}
