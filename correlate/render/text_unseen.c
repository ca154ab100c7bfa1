/* SPDX-License-Identifier: MIT */
/* Prints whose calls libmagnet.so did not see, and the points that programs marked. */
#include <string.h>

#include "text.h"
#include "text_causes.h"

#define MARKS_SHOWN  5 /* kinds */
#define UNSEEN_SHORT 3 /* programs named in the short form */

static const char *comm_of(const struct fact_bypass *u)
{
	return u->program ? text_plain(u->program, 15) : "an unknown program";
}

#define WHY_UNSEEN \
	"(static programs, privileged ones, those started without it, or calls made inside libc"

/* Ends the list of programs with the reasons why calls may be unseen. */
static void say_unseen(const struct report *r, const char *list, FILE *to)
{
	char text[600];

	snprintf(text, sizeof(text), "not seen by libmagnet.so: %s %s%s)", list, WHY_UNSEEN,
		r->side[CORE_APP].begins_late ? "; or before the kept part of the application side"
					      : "");
	fputs("  ", to);
	text_wrapped(to, 2, 4, text);
}

/* Prints of which programs libmagnet.so saw no calls: the first ones, or each in a line of its own.
 */
static void unseen(const struct report *r, bool all, FILE *to)
{
	struct fact_bypass u;
	char list[300] = "";
	uintptr_t at = 0;
	size_t used = 0;
	int n = 0;

	while (core_next_bypass(r->core, &at, &u)) {
		if (!u.calls || (n++ >= UNSEEN_SHORT && !all))
			continue;
		used = all ? 0 : used;
		used += (size_t)snprintf(list + used, sizeof(list) - used, "%s%s%s of %s",
			used ? ", " : "", text_count(u.calls), used ? "" : " calls", comm_of(&u));
		if (all)
			say_unseen(r, list, to);
	}
	if (n > UNSEEN_SHORT && !all)
		snprintf(list + used, sizeof(list) - used, ", and those of %d more programs",
			n - UNSEEN_SHORT);
	if (n && !all)
		say_unseen(r, list, to);
}

/* Prints the names of what magnet cannot see. */
void text_unseen(const struct report *r, FILE *to)
{
	struct fact_bypass u;
	uintptr_t at = 0;

	if (!report_has_app(r))
		return;
	unseen(r, text_has_calls(r), to);
	while (core_next_bypass(r->core, &at, &u))
		if (u.io_uring)
			fprintf(to,
				"  not followed: work that %s submitted by %s calls of "
				"io_uring_enter\n",
				comm_of(&u), text_count(u.io_uring));
}

/* Prints how many marks of each kind there were, in the order of their first one. */
void text_marks(const struct report *r, FILE *to)
{
	struct {
		const char *name;
		uint64_t n, sent;
	} kind[MARKS_SHOWN];
	struct fact_mark m;
	size_t kinds = 0;
	uintptr_t at = 0;

	while (report_next_mark(r, &at, &m)) {
		size_t k = 0;

		while (k < kinds && strcmp(kind[k].name, m.name) != 0)
			k++;
		if (k == MARKS_SHOWN)
			continue;
		if (k == kinds) {
			kind[kinds].name = m.name;
			kind[kinds].n = kind[kinds].sent = 0;
			kinds++;
		}
		kind[k].n++;
		kind[k].sent += m.sent.sock != 0;
	}
	for (size_t k = 0; k < kinds; k++)
		fprintf(to, "%s%s %s (%s followed by sent bytes)", k ? ", " : "\nMarks       ",
			text_count(kind[k].n), text_plain(kind[k].name, 24),
			or_na(r->side[CORE_KERNEL].known, text_count(kind[k].sent)));
	if (kinds)
		fprintf(to, "\n");
}
