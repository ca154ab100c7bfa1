/* SPDX-License-Identifier: MIT */
#include "text_causes.h"

#include <string.h>

#include "reported/getters.h"
#include "text.h"

/* A cause is told if it takes at least as much of the time. */
#define FIRST_CAUSE  0.40
#define SECOND_CAUSE 0.25
/* Where no cause is told, the largest are listed that take at least as much. */
#define LISTED_CAUSE  0.10
#define LISTED_CAUSES 3
/* The main part of the time in a program is told without its share from here on. */
#define MOST_OF_PROGRAM 0.9

void text_wrapped(FILE *to, int column, int indent, const char *words)
{
	bool first = true;

	while (*words) {
		size_t n = strcspn(words, " ");
		char word[WORDS_MAX];
		int width;

		if (strncmp(words + n, " %", 2) == 0) /* a number and its sign */
			n += 1 + strcspn(words + n + 1, " ");
		snprintf(word, sizeof(word), "%.*s", (int)n, words);
		width = text_width(word);
		if (!first && column + 1 + width > text_columns()) {
			fprintf(to, "\n%*s", indent, "");
			column = indent;
		} else if (!first) {
			fputc(' ', to);
			column++;
		}
		first = false;
		fputs(word, to);
		column += width;
		words += n + strspn(words + n, " ");
	}
	fputc('\n', to);
}

static bool sees_device(const struct report *r)
{
	return core_has_observed(r->core, MG_EVENT_dev_xmit) &&
	       core_observes(r->core, MG_EVENT_dev_recv);
}

/* Between the layers that are recorded may be others than the network. */
static const char *label_of(const struct cause_figures *c)
{
	const struct report *r = c->column->r, *there = c->column->server_report;

	if (c->cause == CAUSE_NETWORK && !(sees_device(r) && (!there || sees_device(there))))
		return "network, or layers that were not recorded (--layers)";
	if (c->cause == CAUSE_AWAY && r->detail.beside_other_host)
		return "network, and the other host";
	if (c->cause == CAUSE_AWAY && answer_has_server(c->column))
		return "network, or the server, whose exchanges could not be matched";
	return cause_label(c->cause);
}

/* Says the cause, and what to do about it. */
static void cause_words(const struct cause_figures *c, const struct answer_doing *did,
	char words[WORDS_MAX], char remedy[REMEDY_MAX])
{
	bool between = cause_is_between(c->cause), whole;
	int n;

	answer_remedy(c, remedy);
	if (did->remedy[0])
		memcpy(remedy, did->remedy, REMEDY_MAX);
	n = snprintf(words, WORDS_MAX, "%s %s%s%s", text_percent(cause_share(c)),
		between ? "" : answer_end(c->column, c->end), between ? "" : ": ",
		c->cause == CAUSE_RECEIVE && did->share > 0 ? "kernel's receive path"
							    : label_of(c));
	if (did->share <= 0)
		return;
	whole = did->share >= MOST_OF_PROGRAM;
	if (c->cause == CAUSE_READER || c->cause == CAUSE_RECEIVE)
		snprintf(words + n, WORDS_MAX - (size_t)n, "%s the reader was %s%s%s%s",
			c->cause == CAUSE_READER ? ":" : ";", did->words, whole ? "" : ", for ",
			whole ? "" : text_percent(did->share), whole ? "" : " of that");
	else
		snprintf(words + n, WORDS_MAX - (size_t)n, ", %s%s%s",
			whole ? "" : text_percent(did->share), whole ? "" : " of that ",
			did->words);
}

void text_cause(const struct cause_figures *c, FILE *to)
{
	char words[WORDS_MAX], remedy[REMEDY_MAX];
	struct answer_doing did;

	answer_doing(c, &did);
	cause_words(c, &did, words, remedy);
	fputs(words, to);
}

static void note_remedy(struct causes_told *told, const char remedy[REMEDY_MAX])
{
	for (int i = 0; remedy[0] && i < told->remedies; i++) {
		bool is_more = strncmp(remedy, told->remedy[i], strlen(told->remedy[i])) == 0;

		if (is_more) /* it begins with that one */
			memcpy(told->remedy[i], remedy, REMEDY_MAX);
		if (is_more || strstr(told->remedy[i], remedy))
			return;
	}
	if (remedy[0] && told->remedies < REMEDIES)
		memcpy(told->remedy[told->remedies++], remedy, REMEDY_MAX);
}

/* Returns whether the cause is the same, apart from its share. */
static bool is_same(const struct named *a, const struct named *b)
{
	return a->cause.cause == b->cause.cause && a->cause.end == b->cause.end &&
	       strcmp(a->did.words, b->did.words) == 0;
}

/* Returns the causes that take most of the time of a column. */
static int name_causes(const struct answer_column_figures *column, struct named to[NAMED])
{
	uintptr_t at = 0;
	int n = 0;

	while (n < NAMED && next_answer_column_causes(column, &at, &to[n].cause) &&
		cause_share(&to[n].cause) >= (n ? SECOND_CAUSE : FIRST_CAUSE)) {
		answer_doing(&to[n].cause, &to[n].did);
		n++;
	}
	return n;
}

/* Prints in one line that a column's causes are those named last. Returns whether they are. */
static bool tell_same(
	const struct causes_told *told, const struct named now[NAMED], int n, FILE *to)
{
	bool swapped = n == 2 && told->named == 2 && is_same(&now[0], &told->last[1]);

	if (!n || n != told->named)
		return false;
	for (int i = 0; i < n; i++)
		if (!is_same(&now[i], &told->last[swapped ? n - 1 - i : i]))
			return false;
	for (int i = 0; i < n; i++)
		fprintf(to, "%s%s", i ? " and " : "",
			text_percent(cause_share(&now[swapped ? n - 1 - i : i].cause)));
	fprintf(to, " the same\n");
	return true;
}

/* Says that no cause takes most of the time, and which take more than others. */
static void list_causes(const struct answer_column_figures *column, uintptr_t most, FILE *to)
{
	char words[LISTED_CAUSES * WORDS_MAX] = "no single cause";
	struct cause_figures c;
	uintptr_t at = 0;

	while (at < most && next_answer_column_causes(column, &at, &c) &&
		cause_share(&c) >= LISTED_CAUSE) {
		size_t n = strlen(words);
		bool between = cause_is_between(c.cause);

		snprintf(words + n, sizeof(words) - n, "%s%s %s%s%s", at > 1 ? "; " : ": ",
			text_percent(cause_share(&c)), between ? "" : answer_end(column, c.end),
			between ? "" : ": ", label_of(&c));
	}
	text_wrapped(to, CAUSE_TITLE_WIDTH + 2, CAUSE_TITLE_WIDTH + 2, words);
}

void text_causes_of(const struct answer_column_figures *column, struct causes_told *told, FILE *to)
{
	struct named now[NAMED];
	int n = name_causes(column, now);
	bool same;

	n = told->only_first && n > 1 ? 1 : n;

	fprintf(to, "  %-*s", CAUSE_TITLE_WIDTH, column->title);
	same = tell_same(told, now, n, to);
	if (!n)
		list_causes(column, told->only_first ? 1 : LISTED_CAUSES, to);
	for (int i = 0; i < n; i++) {
		char words[WORDS_MAX], remedy[REMEDY_MAX];

		cause_words(&now[i].cause, &now[i].did, words, remedy);
		note_remedy(told, remedy);
		if (same)
			continue;
		if (i)
			fprintf(to, "%*s", CAUSE_TITLE_WIDTH + 2, "");
		text_wrapped(to, CAUSE_TITLE_WIDTH + 2, CAUSE_TITLE_WIDTH + 2, words);
	}
	if (!same)
		memcpy(told->last, now, sizeof(now));
	told->named = n;
}

void text_remedies(const struct causes_told *told, FILE *to)
{
	for (int i = 0; i < told->remedies; i++) {
		fprintf(to, "  %s ", text_arrow());
		text_wrapped(to, 4, 4, told->remedy[i]);
	}
}
