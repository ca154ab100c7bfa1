/* SPDX-License-Identifier: MIT */
#include "top_list.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "render/table.h"
#include "top_columns.h"
#include "top_draw.h"

#define GAP    1 /* between columns */
#define MARGIN 2 /* for the mark of the selected row */

/* ---- head ---- */

void top_put(int *line, int *column, int left, enum draw_style style, const char *text)
{
	if (*column > left && *column + text_width(text) > draw_columns()) {
		++*line;
		*column = left;
	}
	*column = draw_text(*line, *column, style, text) + 3;
}

/* Begins in the first column. */
static void put(int *line, int *column, enum draw_style style, const char *text)
{
	top_put(line, column, 0, style, text);
}

static const char *share(double v)
{
	return isnan(v) ? "n/a" : text_percent(v);
}

static void put_rate(int *line, int *column, const char *what, uint64_t bytes, double seconds)
{
	char text[80];

	if (bytes != FACT_NONE && seconds > 0)
		snprintf(text, sizeof(text), "%s %s/s", what, text_bytes((double)bytes / seconds));
	else
		snprintf(text, sizeof(text), "%s n/a", what);
	put(line, column, DRAW_PLAIN, text);
}

const char *top_count(uint64_t n)
{
	return n == FACT_NONE ? "n/a" : text_count(n);
}

static bool is_any(uint64_t n)
{
	return n && n != FACT_NONE;
}

/* Returns the line behind the last. */
static int draw_totals(const struct top *t)
{
	uint32_t slots = top_slots(t);
	double s = (double)live_span_ns(&t->live, 1) / 1e9;
	const struct live_counts *sum = &t->live.total;
	char text[200];
	int line = 1, column = 0;

	put_rate(&line, &column, "sent", sum->bytes[0], s);
	put_rate(&line, &column, "received", sum->bytes[1], s);
	if (sum->exchanges == FACT_NONE)
		snprintf(text, sizeof(text), "exchanges n/a");
	else
		snprintf(text, sizeof(text), "exchanges %.0f/s",
			s > 0 ? (double)sum->exchanges / s : 0);
	put(&line, &column, DRAW_PLAIN, text);
	snprintf(text, sizeof(text), "(last %s)", text_ns((double)live_span_ns(&t->live, 1)));
	put(&line, &column, DRAW_PLAIN, text);
	line++;
	column = 0;
	snprintf(text, sizeof(text), "retransmits %s, drops %s", top_count(sum->retransmits),
		top_count(sum->drops));
	put(&line, &column,
		is_any(sum->retransmits) || is_any(sum->drops) ? DRAW_WARNING : DRAW_PLAIN, text);
	snprintf(text, sizeof(text), "events lost: %s app, %s kernel, %s late",
		text_count(t->state.lost_app), text_count(t->state.lost_kernel),
		text_count(t->state.late));
	put(&line, &column,
		t->state.lost_app + t->state.lost_kernel + t->state.late ? DRAW_WARNING
									 : DRAW_PLAIN,
		text);
	line++;
	column = 0;
	snprintf(text, sizeof(text), "CPU: top %s, recorders %s", share(t->state.cpu_share),
		share(t->state.recorders_cpu_share));
	put(&line, &column, DRAW_PLAIN, text);
	put(&line, &column, DRAW_PLAIN,
		t->dir                ? "recording: another's"
		: t->recorder.is_kept ? "recording: kept"
		: t->recorder.to_save ? "recording: saved at the end"
				      : "recording: temporary");
	snprintf(text, sizeof(text), "rows: last %s",
		text_ns((double)live_span_ns(&t->live, slots)));
	put(&line, &column, DRAW_PLAIN, text);
	return line + 1;
}

int top_draw_head(const struct top_screen *s, const struct top *t)
{
	char title[200], time[80];
	double seconds = (double)(t->state.until_ns - t->state.begin_ns) / 1e9;
	int room;

	snprintf(time, sizeof(time), "%s%s%.1f s ", s->is_paused ? "PAUSED  " : "",
		t->state.ended            ? "ENDED  "
		: core_is_paused(t->core) ? "RECORDING PAUSED  "
					  : "",
		t->state.begin_ns ? seconds : 0);
	room = draw_columns() - (int)strlen(time) - 2;
	snprintf(title, sizeof(title), " magnet top: %s", t->what);
	if (room > 3 && (int)strlen(title) > room && room < (int)sizeof(title))
		memcpy(title + room - 3, "...", 4);
	draw_bar(0, DRAW_REVERSE, title, time);
	return draw_totals(t);
}

void top_draw_keys(const char *all, const char *few)
{
	draw_bar(
		draw_lines() - 1, DRAW_REVERSE, (int)strlen(all) <= draw_columns() ? all : few, "");
}

/* ---- rows ---- */

struct layout {
	int width[TOP_COLUMNS_N];    /* 0: not shown */
	bool unknown[TOP_COLUMNS_N]; /* no row has a value: such columns are left out first */
	char hidden[200];
};

static void measure(struct layout *l, const struct top_rows *r)
{
	char cell[TOP_CELL];
	bool timed = false;

	for (size_t n = 0; n < r->n; n++)
		timed |= !isnan(r->row[n].ack_high);
	for (int i = 0; i < TOP_COLUMNS_N; i++) {
		l->width[i] = i == TOP_ack && !timed ? 0 : (int)strlen(top_columns[i].header);
		if (!l->width[i])
			continue;
		l->unknown[i] = r->n > 0;
		for (size_t n = 0; n < r->n; n++) {
			top_columns[i].text(&r->row[n], cell);
			l->unknown[i] &= strcmp(cell, "n/a") == 0;
			if (text_width(cell) > l->width[i])
				l->width[i] = text_width(cell);
		}
	}
}

static int sum_of(const struct layout *l)
{
	int sum = MARGIN - GAP;

	for (int i = 0; i < TOP_COLUMNS_N; i++)
		sum += l->width[i] ? l->width[i] + GAP : 0;
	return sum;
}

/* Returns whether a column is left out before another one. */
static bool leaves_before(const struct layout *l, int a, int b)
{
	if (l->unknown[a] != l->unknown[b])
		return l->unknown[a];
	return top_columns[a].keep < top_columns[b].keep;
}

/* Leaves out columns until the others fit. */
static void fit(struct layout *l, int room)
{
	size_t used = 0;

	l->hidden[0] = 0;
	while (sum_of(l) > room) {
		int least = -1;

		for (int i = 0; i < TOP_COLUMNS_N; i++)
			if (l->width[i] && i != TOP_remote &&
				(least < 0 || leaves_before(l, i, least)))
				least = i;
		if (least < 0)
			break;
		l->width[least] = 0;
		if (used < sizeof(l->hidden))
			used += (size_t)snprintf(l->hidden + used, sizeof(l->hidden) - used, "%s%s",
				used ? ", " : "", top_columns[least].header);
	}
}

/* Returns the column of a text within a column: numbers end where it ends. */
static int place(int i, int column, int width, const char *text)
{
	return top_columns[i].is_text || i == TOP_waits ? column
							: column + width - text_width(text);
}

static void draw_headers(const struct layout *l, const struct top_view *v, int line)
{
	int column = MARGIN;

	draw_bar(line, DRAW_BOLD, "", "");
	for (int i = 0; i < TOP_COLUMNS_N; i++) {
		if (!l->width[i])
			continue;
		draw_text(line, place(i, column, l->width[i], top_columns[i].header),
			i == v->sort ? DRAW_REVERSE : DRAW_BOLD, top_columns[i].header);
		column += l->width[i] + GAP;
	}
}

static void draw_row(const struct layout *l, const struct top_row *r, int line, bool selected)
{
	enum draw_style style = selected ? DRAW_REVERSE : DRAW_PLAIN;
	char cell[TOP_CELL];
	int column = MARGIN;

	if (selected)
		draw_bar(line, style, ">", "");
	for (int i = 0; i < TOP_COLUMNS_N; i++) {
		if (!l->width[i])
			continue;
		top_columns[i].text(r, cell);
		draw_text(line, place(i, column, l->width[i], cell), style, cell);
		column += l->width[i] + GAP;
	}
}

/* Keeps the selected row on the screen. Returns its number. */
static size_t scroll(struct top_screen *s)
{
	const struct top_row *row = top_selected(s);
	size_t at = row ? (size_t)(row - s->rows.row) : 0;

	if (at < s->first)
		s->first = at;
	if (s->page_rows && at >= s->first + s->page_rows)
		s->first = at - s->page_rows + 1;
	if (s->rows.n <= s->page_rows)
		s->first = 0;
	return at;
}

/* Says what is not among the rows. */
static void draw_left_out(const struct top_screen *s, const struct top *t, int line)
{
	const struct top_rows *r = &s->rows;

	if (r->n && !r->hidden && !r->idle && !t->live.left_out)
		return;
	if (!r->n && !t->state.begin_ns)
		draw_text(line, MARGIN, DRAW_PLAIN, "waiting for the recording to begin");
	else if (!r->n && !r->hidden && !r->idle)
		draw_text(line, MARGIN, DRAW_PLAIN, "no connection has moved a byte yet");
	else
		draw_printf(line, MARGIN, DRAW_PLAIN,
			"not listed: %zu idle (i), %zu by the filter (/)%s", r->idle, r->hidden,
			t->live.left_out ? ", more that were idle for long" : "");
}

void top_draw_list(struct top_screen *s, const struct top *t, int line)
{
	struct layout l;
	size_t at, n;
	int first = line + 2, lines = draw_lines() - first - 2; /* what is left out, and the keys */

	measure(&l, &s->rows);
	fit(&l, draw_columns());
	if (s->is_typing)
		draw_printf(line, 0, DRAW_BOLD, "filter: %s_  (Enter takes it, Esc clears it)",
			t->view.filter);
	else if (t->state.notice[0])
		draw_text(line, 0, DRAW_WARNING, t->state.notice);
	else if (t->view.filter[0])
		draw_printf(line, 0, DRAW_BOLD, "filter: %s", t->view.filter);
	else if (l.hidden[0])
		draw_printf(line, 0, DRAW_PLAIN, "too narrow for: %s", l.hidden);
	draw_headers(&l, &t->view, line + 1);
	s->page_rows = lines > 0 ? (size_t)lines : 0;
	at = scroll(s);
	for (n = s->first; n < s->rows.n && n < s->first + s->page_rows; n++)
		draw_row(&l, &s->rows.row[n], first + (int)(n - s->first), n == at);
	draw_left_out(s, t, first + (int)(n - s->first));
	top_draw_keys("q quit  Enter one  s sort  r reverse  / filter  i idle  w save  p pause  ? "
		      "help",
		"q quit  Enter one  s sort  / filter  ? help (all keys)");
}

/* ---- help ---- */

void top_draw_help(void)
{
	static const char *const keys[] = {
		"Up Down PgUp PgDn Home End  select a connection",
		"Enter  show it alone            Esc  back to the list",
		"s S    sort by the next, or the previous column; r reverses the order",
		"/      list only what has a text in its program, address or protocol",
		"i      list idle connections too",
		"w      save the recording at the end; again: do not",
		"p      pause the display, not the recording",
		"g + -  of one connection: size or delay over time; a longer or shorter time",
		"q      end the recording, and quit",
	};
	int line = 0;

	draw_bar(line++, DRAW_REVERSE, " magnet top: help", "any key goes back ");
	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
		draw_text(line++, 1, DRAW_PLAIN, keys[i]);
	draw_text(line++, 0, DRAW_BOLD, "Columns (magnet-top(1) says more):");
	for (int i = 0; i < TOP_COLUMNS_N; i++) {
		char doc[80];
		const char *end;

		/* the first part of the sentence has what fits */
		snprintf(doc, sizeof(doc), "%.79s", top_columns[i].doc);
		end = strpbrk(doc, ",;");
		if (end)
			doc[end - doc] = 0;
		draw_printf(line++, 1, DRAW_PLAIN, "%-13s  %s", top_columns[i].header, doc);
	}
}
