/* SPDX-License-Identifier: MIT */
/* Prints the answer of two hosts together. */
#include "joint.h"

#include <string.h>

#include "between.h"
#include "render/text.h"
#include "render/text_answer.h"
#include "render/text_causes.h"
#include "render/text_left_out.h"
#include "reported/exchanges.h"

#define LINE_MAX_WORDS 400
#define NAMED_MAX      5 /* other answers that are named */

static const char *program_of(const struct exchange_group *g)
{
	return g->key.program[0] ? text_plain(g->key.program, 15) : "a program";
}

static uint64_t exchanges_of(const struct cause_bins *b)
{
	return b ? b->n : 0;
}

/* Says whose exchanges these are. */
static void whose(const struct joint_group *g, char words[LINE_MAX_WORDS])
{
	struct exchange_group_figures client =
		exchange_group_figures_of(g->client_report, g->client);
	char name[16], client_host[HOST_LABEL], server_host[HOST_LABEL];

	/* each call of text_plain() may reuse its memory */
	snprintf(name, sizeof(name), "%s", program_of(g->client));
	host_label(g->client_report, g->server_report, "the client's host", client_host);
	host_label(g->server_report, g->client_report, "the other host", server_host);
	snprintf(words, LINE_MAX_WORDS, "%s at %s with %s at %s (%s)", name, client_host,
		program_of(g->server), server_host,
		client.address[0] ? client.address : "address not known");
}

static void print(const struct joint_group *g, FILE *to, bool colour)
{
	uint64_t n = exchanges_of(g->causes), all = exchanges_of(g->client->causes);
	struct causes_told told = {0};
	struct answer_columns columns = {0};
	char words[LINE_MAX_WORDS], line[LINE_MAX_WORDS + 100];

	for (uintptr_t at = 0;
		columns.n < ANSWER_COLUMNS && joint_column(g, &at, &columns.column[columns.n]);)
		columns.n++;
	whose(g, words);
	snprintf(line, sizeof(line), "where the time of %s exchange%s of %s went", text_count(n),
		plural(n), words);
	fprintf(to, "%sAnswer of both hosts%s: ", colour ? "\033[1m" : "", colour ? "\033[0m" : "");
	text_wrapped(to, 22, 2, line);
	if (n < all) {
		snprintf(line, sizeof(line),
			"%s of the client's %s exchanges, with %s of their time; %s", text_count(n),
			text_count(all), text_percent(g->share),
			g->of_client >= all ? "the others are in other answers of both hosts"
			: g->of_client > n  ? "the others are in other answers of both hosts, or "
					      "could not be matched"
					    : "the others could not be matched");
		fprintf(to, "  ");
		text_wrapped(to, 2, 4, line);
	}
	if (g->by_clocks) {
		snprintf(line, sizeof(line),
			"%s%s divided by the hosts' clocks, whose relation is known to %s%s",
			g->by_clocks < n ? text_count(g->by_clocks) : "they",
			g->by_clocks < n ? " of them are" : " are", text_plus_minus(),
			text_ns(g->clock_half));
		fprintf(to, "  ");
		text_wrapped(to, 2, 4, line);
	}
	text_left_out(g->client_report, g->client, to);
	text_answer_table(&columns, !text_has_all(g->client_report), to);
	for (int i = 0; i < columns.n; i++)
		text_causes_of(&columns.column[i], &told, to);
	text_remedies(&told, to);
}

void joint_text(const struct joint *j, FILE *to, bool colour)
{
	char why[LINE_MAX_WORDS];
	size_t printed = 0;

	if (!j->n) {
		fprintf(to, "No answer of both hosts: ");
		snprintf(why, sizeof(why), "%s%s%s", j->of ? host_name(j->of, "one of them") : "",
			j->of ? " " : "", j->why_none);
		text_wrapped(to, 25, 2, why);
		fprintf(to, "\n");
		return;
	}
	for (; printed < j->n && (!printed || text_has_all(j->v[0].client_report)); printed++) {
		print(&j->v[printed], to, colour);
		fprintf(to, "\n");
	}
	if (printed == j->n)
		return;
	fprintf(to, "Other answers of both hosts (--all prints them)\n");
	for (size_t i = printed; i < j->n && i < printed + NAMED_MAX; i++) {
		char words[LINE_MAX_WORDS], line[LINE_MAX_WORDS + 40];
		uint64_t n = exchanges_of(j->v[i].causes);

		whose(&j->v[i], words);
		snprintf(
			line, sizeof(line), "%s exchange%s of %s", text_count(n), plural(n), words);
		fprintf(to, "  ");
		text_wrapped(to, 2, 4, line);
	}
	if (j->n > printed + NAMED_MAX)
		fprintf(to, "  and %s more\n", text_count(j->n - printed - NAMED_MAX));
	fprintf(to, "\n");
}
