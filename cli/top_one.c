/* SPDX-License-Identifier: MIT */
#include "top_one.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "live/window_figures.h"
#include "render/table.h"
#include "top_columns.h"
#include "top_draw.h"
#include "top_list.h"

#define STAGES_SHOWN 5
#define AXIS         11 /* columns of the numbers left of the picture */
#define PICTURE_MAX  400
#define BAR_MAX      30
#define PART         (3 * TOP_CELL)

static const struct live_connection *watched(const struct top *t)
{
	const struct live_connection *c = NULL;

	HASH_FIND(hh, t->live.connections, &t->live.scope.sock, sizeof(t->live.scope.sock), c);
	return c;
}

/* ---- its figures ---- */

static void draw_life(const struct top *t, uint64_t sock, int line)
{
	struct fact_flow tx, rx;
	uint64_t first = 0, last = 0;

	if (core_flow(t->core, sock, false, &tx) && core_flow(t->core, sock, true, &rx)) {
		first = tx.first && (!rx.first || tx.first < rx.first) ? tx.first : rx.first;
		last = tx.last > rx.last ? tx.last : rx.last;
	}
	if (!first || !t->state.begin_ns)
		draw_text(line, 1, DRAW_PLAIN, "its life: n/a");
	else
		draw_printf(line, 1, DRAW_PLAIN, "seen from %.1f s to %.1f s of the recording%s",
			((double)core_ns(t->core, first) - (double)t->state.begin_ns) / 1e9,
			((double)core_ns(t->core, last) - (double)t->state.begin_ns) / 1e9,
			tx.opened ? ", opened in it" : "");
}

/* Draws some figures in one line, or in several where they do not fit. Returns the line behind. */
static int draw_parts(int line, int n, char part[][PART])
{
	int column = 1;

	for (int i = 0; i < n; i++)
		top_put(&line, &column, 1, DRAW_PLAIN, part[i]);
	return line + 1;
}

/* Writes a rate, which is not known if it is NAN, and the sum since the begin. */
static void rate_and_sum(char part[PART], const char *what, double rate, const char *rate_text,
	uint64_t sum, const char *sum_text)
{
	if (sum == FACT_NONE)
		snprintf(part, PART, "%s n/a", what);
	else if (isnan(rate))
		snprintf(part, PART, "%s n/a now, %s in all", what, sum_text);
	else
		snprintf(part, PART, "%s %s/s, %s in all", what, rate_text, sum_text);
}

/* Returns the line behind. */
static int draw_figures(const struct top *t, const struct live_connection *c, int line)
{
	struct top_row r = {.of = c};
	char rtt[TOP_CELL], m[TOP_CELL], high[TOP_CELL], p50[TOP_CELL], sent[TOP_CELL],
		received[TOP_CELL], exchanges[TOP_CELL], part[4][PART];
	const struct live_counts n = live_whole(&t->live, c);

	top_row_figures(&r, &t->live, top_slots(t));
	top_row_identify(&r, t->core, c->sock);
	top_columns[TOP_rtt].text(&r, rtt);
	top_columns[TOP_modulation].text(&r, m);
	top_columns[TOP_high].text(&r, high);
	top_columns[TOP_p50].text(&r, p50);
	top_columns[TOP_sent].text(&r, sent);
	top_columns[TOP_received].text(&r, received);
	draw_printf(line, 0, DRAW_BOLD, "Connection %llu (%s) of %s[%llu]",
		(unsigned long long)c->sock, r.protocol, r.program, (unsigned long long)r.pid);
	draw_printf(line + 1, 1, DRAW_PLAIN, "%s %s %s", r.local, text_arrow(), r.remote);
	draw_life(t, c->sock, line + 2);
	line += 3;
	rate_and_sum(part[0], "sent", r.rate[0], sent, n.bytes[0], text_bytes((double)n.bytes[0]));
	rate_and_sum(part[1], "received", r.rate[1], received, n.bytes[1],
		text_bytes((double)n.bytes[1]));
	line = draw_parts(line, 2, part);
	snprintf(exchanges, sizeof(exchanges), "%.0f", r.exchanges);
	rate_and_sum(
		part[0], "exchanges", r.exchanges, exchanges, n.exchanges, top_count(n.exchanges));
	snprintf(part[1], PART, "reply p50 %s, %s%s", p50,
		r.reply_high >= 0.99 && r.reply_high < 1 ? "p99 " : "", high);
	line = draw_parts(line, 2, part);
	if (!isnan(r.ack_high)) {
		top_columns[TOP_ack].text(&r, p50);
		snprintf(part[0], PART, "send to acknowledgement p50 %s, %s", p50,
			text_high(r.ack_high, r.ack_high_ns));
		line = draw_parts(line, 1, part);
	}
	if (n.retransmits != FACT_NONE)
		snprintf(part[0], PART, "retransmits %s, %s in all", top_count(r.retransmits),
			text_count(n.retransmits));
	else
		snprintf(part[0], PART, "retransmits n/a");
	snprintf(part[1], PART, "M %s", m);
	snprintf(part[2], PART, "round trip %s", rtt);
	if (c->cwnd != FACT_NONE)
		snprintf(part[3], PART, "congestion window %s segments", text_count(c->cwnd));
	else
		snprintf(part[3], PART, "congestion window n/a");
	return draw_parts(line, 4, part);
}

/* ---- where its bytes wait ---- */

struct stage_time {
	int stage;
	double time;
};

static int by_time(const void *a, const void *b)
{
	double x = ((const struct stage_time *)a)->time, y = ((const struct stage_time *)b)->time;

	return x > y ? -1 : x < y;
}

/* Returns the line behind. */
static int draw_stages(const struct top *t, const struct live_connection *c, int line, int most)
{
	struct stage_time stage[LIVE_STAGES];
	double time[LIVE_STAGES], sum;
	struct live_sums sums;

	live_sum(&t->live, c, top_slots(t), &sums);
	sum = live_stages(&sums, time);
	for (int i = 0; i < LIVE_STAGES; i++)
		stage[i] = (struct stage_time){i, time[i]};
	live_sums_free(&sums);
	qsort(stage, LIVE_STAGES, sizeof(stage[0]), by_time);
	draw_text(line++, 0, DRAW_BOLD, "Where its bytes wait, share of their time in the stack");
	if (!(sum > 0))
		draw_text(
			line++, 1, DRAW_PLAIN, "n/a: no byte has passed every layer in this time");
	for (int i = 0; i < most && sum > 0 && stage[i].time > 0; i++) {
		char bar[BAR_MAX + 1];
		double part = stage[i].time / sum;
		int length = (int)(part * BAR_MAX + 0.5);

		memset(bar, '#', sizeof(bar));
		bar[length] = 0;
		draw_printf(line++, 1, DRAW_PLAIN, "%-4s %-28s %6s %s",
			live_stage_is_sent(stage[i].stage) ? "sent" : "recv",
			live_stage_label(stage[i].stage), text_percent(part), bar);
	}
	return line;
}

/* ---- the oscilloscope ---- */

static const char *value_text(enum scope_kind kind, double v)
{
	return kind == SCOPE_SIZE ? text_bytes(v) : text_ns(v);
}

static void draw_point(int top, int height, int column, double value, double most, bool received)
{
	int up = most > 0 ? (int)(value / most * (height - 1) + 0.5) : 0;

	if (!isnan(value))
		draw_text(top + height - 1 - up, column, received ? DRAW_RECEIVED : DRAW_SENT,
			received ? "o" : "*");
}

static void draw_scope(const struct top_screen *s, const struct top *t, int line)
{
	static struct scope_column column[PICTURE_MAX];
	uint64_t span = (uint64_t)s->scope_seconds * 1000000000;
	uint64_t to = t->state.until_ns, from = to > span ? to - span : 0;
	int width = draw_columns() - AXIS - 1, height = draw_lines() - line - 4;
	double most;

	draw_printf(line, 0, DRAW_BOLD, "%s",
		s->scope == SCOPE_SIZE ? "Size of calls, largest of each column"
				       : "Delay of bytes in the stack, longest of each column");
	draw_text(line, draw_columns() - 22, DRAW_SENT, "* sent");
	draw_text(line, draw_columns() - 12, DRAW_RECEIVED, "o received");
	width = width < PICTURE_MAX ? width : PICTURE_MAX;
	if (height < 2 || width < 10)
		return;
	line++;
	most = scope_columns(&t->live.scope, s->scope, from, to, column, (uint32_t)width);
	draw_printf(line, 0, DRAW_PLAIN, "%10s", most > 0 ? value_text(s->scope, most) : "");
	draw_printf(line + height - 1, 0, DRAW_PLAIN, "%10s", value_text(s->scope, 0));
	for (int i = 0; i < height; i++)
		draw_text(line + i, AXIS - 1, DRAW_PLAIN, "|");
	for (int i = 0; i < width; i++) {
		draw_text(line + height, AXIS + i, DRAW_PLAIN, "-");
		for (int rx = 0; rx < 2; rx++)
			draw_point(line, height, AXIS + i, column[i].most[rx], most, rx);
	}
	if (!(most > 0))
		draw_text(line + height / 2, AXIS + 2, DRAW_PLAIN, "nothing in this time");
	draw_printf(line + height + 1, AXIS, DRAW_PLAIN, "%u s ago", s->scope_seconds);
	draw_text(line + height + 1, AXIS + width - 3, DRAW_PLAIN, "now");
}

void top_draw_one(const struct top_screen *s, const struct top *t, int line)
{
	const struct live_connection *c = watched(t);
	int stages;

	if (t->state.notice[0])
		draw_text(line, 0, DRAW_WARNING, t->state.notice);
	line++;
	if (c) {
		line = draw_figures(t, c, line);
		stages = draw_lines() - line - 10;
		line = draw_stages(t, c, line,
			stages < 2              ? 2
			: stages > STAGES_SHOWN ? STAGES_SHOWN
						: stages);
		draw_scope(s, t, line);
	} else {
		draw_text(line, 0, DRAW_PLAIN, "This connection is not known any more.");
	}
	top_draw_keys("Esc back  g size or delay  + - longer or shorter  w save  p pause  q quit",
		"Esc back  g size or delay  + - time  q quit");
}
