/* SPDX-License-Identifier: MIT */
#include "top_columns.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "live/window_figures.h"
#include "options.h"
#include "render/table.h"

/* ---- cells ---- */

static void put(char out[TOP_CELL], bool known, const char *text)
{
	snprintf(out, TOP_CELL, "%s", known ? text : "n/a");
}

/* Does the same without blanks between a number and its unit. */
static void put_short(char out[TOP_CELL], bool known, const char *text)
{
	char *to = out;

	put(out, known, text);
	for (const char *from = out; *from; from++)
		/* the one behind "p79" stays */
		if (*from != ' ' || (out[0] >= 'a' && from - out < 4))
			*to++ = *from;
	*to = 0;
}

static void cell_program(const struct top_row *r, char out[TOP_CELL])
{
	if (r->pid)
		snprintf(out, TOP_CELL, "%s[%llu]", r->program, (unsigned long long)r->pid);
	else
		put(out, true, r->program);
}

static void cell_remote(const struct top_row *r, char out[TOP_CELL])
{
	put(out, true, r->remote);
}

static void cell_local(const struct top_row *r, char out[TOP_CELL])
{
	put(out, true, r->local);
}

static void cell_protocol(const struct top_row *r, char out[TOP_CELL])
{
	put(out, true, r->protocol);
}

static void cell_sent(const struct top_row *r, char out[TOP_CELL])
{
	put_short(out, !isnan(r->rate[0]), text_bytes(r->rate[0]));
}

static void cell_received(const struct top_row *r, char out[TOP_CELL])
{
	put_short(out, !isnan(r->rate[1]), text_bytes(r->rate[1]));
}

/* The short names fit a narrow terminal; the view of one connection has the long ones. */
static void cell_waits(const struct top_row *r, char out[TOP_CELL])
{
	char words[TOP_CELL];

	if (r->stage < 0) {
		put(out, false, "");
		return;
	}
	snprintf(words, sizeof(words), "%.40s", live_stage_name(r->stage));
	for (char *c = words; *c; c++)
		*c = *c == '_' ? ' ' : *c;
	snprintf(out, TOP_CELL, "%.40s %.0f%%", words, 100 * r->stage_share);
}

static void cell_p50(const struct top_row *r, char out[TOP_CELL])
{
	put_short(out, !isnan(r->reply_p50_ns), text_ns(r->reply_p50_ns));
}

static void cell_high(const struct top_row *r, char out[TOP_CELL])
{
	put_short(out, !isnan(r->reply_high_ns), text_high(r->reply_high, r->reply_high_ns));
}

static void cell_ack(const struct top_row *r, char out[TOP_CELL])
{
	put_short(out, !isnan(r->ack_p50_ns), text_ns(r->ack_p50_ns));
}

static void cell_retransmits(const struct top_row *r, char out[TOP_CELL])
{
	put(out, r->retransmits != FACT_NONE, text_count(r->retransmits));
}

static void cell_modulation(const struct top_row *r, char out[TOP_CELL])
{
	char text[16];

	if (r->modulation > 0 && r->modulation < 0.005)
		snprintf(text, sizeof(text), "<.01");
	else
		snprintf(text, sizeof(text), r->modulation < 10 ? "%.2f" : "%.0f", r->modulation);
	put(out, !isnan(r->modulation), text);
}

static void cell_rtt(const struct top_row *r, char out[TOP_CELL])
{
	put_short(out, r->of->srtt_us != FACT_NONE, text_ns((double)r->of->srtt_us * 1000));
}

/* ---- values to sort by ---- */

static double number_sent(const struct top_row *r)
{
	return r->rate[0];
}

static double number_received(const struct top_row *r)
{
	return r->rate[1];
}

static double number_waits(const struct top_row *r)
{
	return r->stage_share;
}

static double number_p50(const struct top_row *r)
{
	return r->reply_p50_ns;
}

static double number_high(const struct top_row *r)
{
	return r->reply_high_ns;
}

static double number_ack(const struct top_row *r)
{
	return r->ack_p50_ns;
}

static double number_retransmits(const struct top_row *r)
{
	return r->retransmits != FACT_NONE ? (double)r->retransmits : NAN;
}

static double number_modulation(const struct top_row *r)
{
	return r->modulation;
}

static double number_rtt(const struct top_row *r)
{
	return r->of->srtt_us == FACT_NONE ? NAN : (double)r->of->srtt_us;
}

/* columns without a number are sorted as texts */
#define number_program  NULL
#define number_remote   NULL
#define number_local    NULL
#define number_protocol NULL
#define COLUMN(name, header, keep, doc) \
	{#name, header, doc, keep, number_##name == NULL, cell_##name, number_##name},
const struct top_column_desc top_columns[TOP_COLUMNS_N] = {TOP_COLUMNS(COLUMN)};

int top_compare(enum top_column by, const struct top_row *a, const struct top_row *b)
{
	const struct top_column_desc *c = &top_columns[by];
	char x[TOP_CELL], y[TOP_CELL];
	double m, n;

	if (c->is_text) {
		c->text(a, x);
		c->text(b, y);
		return strcmp(x, y);
	}
	m = c->number(a);
	n = c->number(b);
	if (isnan(m) || isnan(n)) /* what is not known comes last */
		return isnan(m) - isnan(n);
	return m > n ? -1 : m < n;
}

#define NAME(name, header, keep, doc) " " #name

static bool parse_column(const struct option_row *row, const char *text, void *value)
{
	(void)row;
	for (uint8_t i = 0; i < TOP_COLUMNS_N; i++)
		if (strcmp(text, top_columns[i].name) == 0) {
			*(uint8_t *)value = i;
			return true;
		}
	return option_refuse("a column:" TOP_COLUMNS(NAME));
}

const struct option_type top_type_column = {parse_column, NULL};
