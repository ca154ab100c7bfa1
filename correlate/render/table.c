/* SPDX-License-Identifier: MIT */
#include "table.h"

#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "alloc.h"
#include "printable.h"

static bool unicode = true;

void text_set_unicode(bool on)
{
	unicode = on;
}

#define BETWEEN  2  /* spaces between columns */
#define SHORTEST 12 /* columns that a shortened text keeps */

static int line_columns = REPORT_WIDTH;

static bool columns_known;

void text_set_columns(int columns)
{
	columns_known = columns != 0;
	line_columns = columns ? columns : REPORT_WIDTH;
	if (line_columns < REPORT_WIDTH_MIN)
		line_columns = REPORT_WIDTH_MIN;
}

int text_columns(void)
{
	return line_columns;
}

const char *text_arrow(void)
{
	return unicode ? "\xe2\x86\x92" : "->";
}

const char *text_plus_minus(void)
{
	return unicode ? "\xc2\xb1" : "+-";
}

const char *text_at_least(void)
{
	return unicode ? "\xe2\x89\xa5 " : ">= ";
}

void table_begin(struct table *t, const char *align)
{
	memset(t, 0, sizeof(*t));
	for (t->columns = 0; align[t->columns] && t->columns < TABLE_COLUMNS; t->columns++)
		t->left[t->columns] = align[t->columns] == 'l';
}

void table_row(struct table *t, const char *fmt, ...)
{
	char text[TABLE_COLUMNS * CELL_SIZE], *at = text;
	va_list ap;

	if (t->rows == t->rows_cap) {
		int cap = t->rows_cap ? t->rows_cap * 2 : 16;
		void *more = mg_realloc(t->cell, (size_t)cap * sizeof(*t->cell));

		if (!more)
			return;
		t->cell = more;
		t->rows_cap = cap;
	}
	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	memset(t->cell[t->rows], 0, sizeof(*t->cell));
	for (int c = 0; c < t->columns; c++) {
		size_t len = strcspn(at, "\t");

		snprintf(t->cell[t->rows][c], CELL_SIZE, "%.*s", (int)len, at);
		at += len;
		if (*at)
			at++;
	}
	t->rows++;
}

/* Counts every byte except UTF-8 continuation bytes. */
int text_width(const char *s)
{
	int n = 0;

	for (; *s; s++)
		n += (*s & 0xc0) != 0x80;
	return n;
}

/* Returns whether the row is a heading: its only cell, the first, takes the whole line. */
static bool is_heading(const struct table *t, int row)
{
	for (int c = 1; c < t->columns; c++)
		if (t->cell[row][c][0])
			return false;
	return row && t->columns > 1 && t->left[0];
}

static void widths(const struct table *t, int widest[TABLE_COLUMNS])
{
	memset(widest, 0, TABLE_COLUMNS * sizeof(*widest));
	for (int r = 0; r < t->rows; r++)
		for (int c = 0; c < t->columns && !is_heading(t, r); c++)
			if (text_width(t->cell[r][c]) > widest[c])
				widest[c] = text_width(t->cell[r][c]);
}

void table_fit(struct table *t, int columns)
{
	int widest[TABLE_COLUMNS], last = t->columns - 1;

	widths(t, widest);
	for (int c = 0; c < last; c++)
		columns -= widest[c] + 2;
	for (int r = 1; r < t->rows; r++)
		while (t->cell[r][last][0] && text_width(t->cell[r][last]) > columns) {
			char *cell = t->cell[r][last];

			for (int words = 0; words < 2; words++) {
				char *space = strrchr(cell, ' ');

				*(space ? space : cell) = 0;
			}
		}
}

void table_drops(struct table *t, const char *columns)
{
	t->drops = columns;
}

static int whole_width(const struct table *t, const int widest[TABLE_COLUMNS])
{
	int width = 0;

	for (int c = 0; c < t->columns; c++)
		width += widest[c] + (c ? BETWEEN : 0);
	return width;
}

static void drop_column(struct table *t, int column)
{
	for (int r = 0; r < t->rows; r++)
		memmove(t->cell[r][column], t->cell[r][column + 1],
			(size_t)(t->columns - column - 1) * CELL_SIZE);
	for (int c = column; c + 1 < t->columns; c++)
		t->left[c] = t->left[c + 1];
	t->columns--;
}

/* Cuts a text to this many columns, the last of which say that something is missing. */
static void shorten(char *text, int columns)
{
	static const char rest[] = "...";
	int n = 0;

	if (text_width(text) <= columns)
		return;
	while (*text && (n < columns - 3 || (*text & 0xc0) == 0x80))
		n += (*++text & 0xc0) != 0x80;
	memcpy(text, rest, sizeof(rest));
}

/* Shortens the widest left-aligned column. Returns false if there is none that can be shorter. */
static bool shorten_column(struct table *t, const int widest[TABLE_COLUMNS], int excess)
{
	int column = -1, columns;

	for (int c = 0; c < t->columns; c++)
		if (t->left[c] && (column < 0 || widest[c] > widest[column]))
			column = c;
	if (column < 0 || widest[column] <= SHORTEST)
		return false;
	columns = widest[column] - excess < SHORTEST ? SHORTEST : widest[column] - excess;
	for (int r = 0; r < t->rows; r++)
		if (!is_heading(t, r))
			shorten(t->cell[r][column], columns);
	return true;
}

/* Makes the table as narrow as the terminal, and computes the widths of its columns. */
static void narrow(struct table *t, int columns, int widest[TABLE_COLUMNS])
{
	int dropped[TABLE_COLUMNS] = {0}, excess;

	for (const char *d = t->drops ? t->drops : "";; d += *d != 0) {
		int before = 0, column = *d - '0';

		widths(t, widest);
		excess = whole_width(t, widest) - columns;
		if (excess <= 0 || !columns_known)
			return;
		if (!*d)
			break;
		for (int c = 0; c < column; c++)
			before += dropped[c];
		drop_column(t, column - before);
		dropped[column] = 1;
	}
	while (excess > 0) {
		if (!shorten_column(t, widest, excess))
			drop_column(t, t->columns - 1);
		widths(t, widest);
		excess = whole_width(t, widest) - columns;
	}
}

void table_print(struct table *t, FILE *to, int indent, bool colour)
{
	int widest[TABLE_COLUMNS];

	narrow(t, line_columns - indent, widest);
	for (int r = 0; r < t->rows; r++) {
		char line[TABLE_COLUMNS * CELL_SIZE * 2];
		size_t used = 0, len;

		if (is_heading(t, r) && columns_known)
			shorten(t->cell[r][0], line_columns - indent);
		for (int c = 0; c < t->columns; c++) {
			int pad = is_heading(t, r) ? 0 : widest[c] - text_width(t->cell[r][c]);

			used += (size_t)snprintf(line + used, sizeof(line) - used, "%s%*s%s%*s",
				c ? "  " : "", t->left[c] ? 0 : pad, "", t->cell[r][c],
				t->left[c] ? pad : 0, "");
		}
		len = strlen(line);
		while (len && line[len - 1] == ' ')
			line[--len] = 0;
		if (colour && r == 0)
			fprintf(to, "%*s\033[1m%s\033[0m\n", indent, "", line);
		else
			fprintf(to, "%*s%s\n", indent, "", line);
	}
	free(t->cell);
	memset(t, 0, sizeof(*t));
}

#define BUFFERS 16
static char *buffer(void)
{
	static char text[BUFFERS][128];
	static int next;

	return text[next++ % BUFFERS];
}

/* Returns the number of decimals for three significant digits, without an exponent. */
static int digits(double v)
{
	v = fabs(v);
	return v >= 99.95 ? 0 : v >= 9.995 ? 1 : 2;
}

const char *text_ns(double ns)
{
	static const char *const units[] = {"ns", "\xc2\xb5s", "ms", "s"};
	char *out = buffer();
	int u = 0;

	if (isnan(ns)) {
		snprintf(out, 128, "n/a");
		return out;
	}
	if (fabs(ns) >= 99.5) /* below a microsecond, tenths are easier to read in microseconds */
		for (ns /= 1000, u = 1; fabs(ns) >= 999.5 && u < 3; u++)
			ns /= 1000;
	snprintf(out, 128, "%.*f %s", u ? digits(ns) : 0, ns, u == 1 && !unicode ? "us" : units[u]);
	return out;
}

/* A lower quantile says no more than the median, which stands beside it. */
#define HIGH_LEAST 0.6

static const char *quantile(double q, double ns)
{
	char *out = buffer();

	if (q >= 1)
		snprintf(out, 128, "max %s", text_ns(ns));
	else
		snprintf(out, 128, "p%.0f %s", floor(q * 100), text_ns(ns));
	return out;
}

const char *text_high(double q, double ns)
{
	if (isnan(ns) || q == 0.99)
		return text_ns(ns);
	return q < HIGH_LEAST ? "-" : quantile(q, ns);
}

const char *text_named_high(double q, double ns)
{
	return isnan(ns) ? text_ns(ns) : quantile(q, ns);
}

const char *text_bytes(double bytes)
{
	static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB"};
	char *out = buffer();
	int u = 0;

	while (bytes >= 9999.5 && u < 4) {
		bytes /= 1024;
		u++;
	}
	snprintf(out, 128, "%.*f %s", u ? 1 : 0, bytes, units[u]);
	return out;
}

const char *text_count(uint64_t n)
{
	char plain[32], *out = buffer(), *to = out;
	int len = snprintf(plain, sizeof(plain), "%llu", (unsigned long long)n);

	for (int i = 0; i < len; i++) {
		if (i && (len - i) % 3 == 0)
			*to++ = ',';
		*to++ = plain[i];
	}
	*to = 0;
	return out;
}

const char *text_percent(double share)
{
	char *out = buffer();

	if (isnan(share))
		snprintf(out, 128, "n/a");
	else
		snprintf(out, 128, "%.*f %%", fabs(share) < 0.1 ? 1 : 0, share * 100);
	return out;
}

const char *text_coverage(double share)
{
	char *out;

	if (isnan(share) || share <= 0 || share >= 1)
		return text_percent(share);
	out = buffer();
	snprintf(out, 128, "%.2f %%", floor(share * 10000) / 100);
	return out;
}

const char *text_bar(double share, int width_max)
{
	char *out = buffer(), *to = out;
	int eighths = (int)lround(share * width_max * 8);

	if (share > 0 && eighths == 0)
		eighths = 1;
	if (!unicode) {
		for (int i = 0; i < (eighths + 7) / 8; i++)
			*to++ = '#';
		*to = 0;
		return out;
	}
	for (; eighths >= 8; eighths -= 8)
		to = stpcpy(to, "\xe2\x96\x88");
	if (eighths) { /* U+2588 is a full block, U+258F an eighth */
		*to++ = '\xe2';
		*to++ = '\x96';
		*to++ = (char)(0x90 - eighths);
	}
	*to = 0;
	return out;
}

const char *text_plain(const char *s, size_t max)
{
	char *out = buffer();
	size_t left = strlen(s), used = 0;

	while (left) {
		bool may;
		size_t n = mg_character(s, left, &may);

		if (used + (may ? n : 1) > max) /* does not cut a character */
			break;
		if (may)
			memcpy(out + used, s, n);
		else
			out[used] = *s == '\n' || *s == '\t' ? ' ' : '?';
		used += may ? n : 1;
		s += n;
		left -= n;
	}
	out[used] = 0;
	return out;
}
