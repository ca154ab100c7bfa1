/* SPDX-License-Identifier: MIT */
#include "top_screen.h"

#include <ctype.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "log.h"
#include "top_columns.h"
#include "top_draw.h"
#include "top_list.h"
#include "top_one.h"

#define SCOPE_SECONDS     10
#define SCOPE_SECONDS_MAX 640

/* A program that fails leaves a terminal that can be used. */
static void on_failure(int number)
{
	draw_close();
	signal(number, SIG_DFL);
	raise(number);
}

int top_screen_open(struct top_screen *s, bool colour)
{
	static const int failures[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT};
	const char *name = getenv("TERM");

	*s = (struct top_screen){.scope_seconds = SCOPE_SECONDS};
	if (!isatty(STDOUT_FILENO) || !isatty(STDIN_FILENO)) {
		mg_error("this is not a terminal: give --json for lines that programs read");
		return -1;
	}
	if (draw_open(colour)) {
		mg_error("nothing is known of the terminal '%s': set TERM, or give --json",
			name ? name : "");
		return -1;
	}
	for (size_t i = 0; i < sizeof(failures) / sizeof(failures[0]); i++)
		signal(failures[i], on_failure);
	return 0;
}

void top_screen_close(struct top_screen *s)
{
	draw_close();
	top_rows_free(&s->rows);
}

const struct top_row *top_selected(const struct top_screen *s)
{
	for (size_t i = 0; i < s->rows.n; i++)
		if (s->rows.row[i].sock == s->selected)
			return &s->rows.row[i];
	return s->rows.n ? &s->rows.row[0] : NULL;
}

void top_screen_refresh(struct top_screen *s, struct top *t)
{
	if (s->is_paused)
		return;
	top_rows_free(&s->rows);
	top_rows_make(&s->rows, &t->live, &t->view, top_slots(t));
	/* so that its picture has points when it is shown */
	if (s->page != PAGE_ONE && top_selected(s))
		scope_watch(&t->live.scope, top_selected(s)->sock);
}

void top_screen_draw(struct top_screen *s, const struct top *t)
{
	draw_begin();
	if (draw_lines() < TOP_LINES_MIN || draw_columns() < TOP_COLUMNS_MIN) {
		draw_printf(0, 0, DRAW_PLAIN, "at least %d x %d", TOP_COLUMNS_MIN, TOP_LINES_MIN);
	} else if (s->page == PAGE_HELP) {
		top_draw_help();
	} else {
		int line = top_draw_head(s, t);

		if (s->page == PAGE_ONE)
			top_draw_one(s, t, line);
		else
			top_draw_list(s, t, line);
	}
	draw_end();
}

/* ---- keys ---- */

static void type(struct top_screen *s, struct top *t, int key)
{
	size_t n = strlen(t->view.filter);

	if (key == DRAW_ENTER) {
		s->is_typing = false;
	} else if (key == DRAW_ESCAPE) {
		s->is_typing = false;
		t->view.filter[0] = 0;
	} else if (key == DRAW_BACKSPACE && n) {
		t->view.filter[n - 1] = 0;
	} else if (key < 128 && isprint(key) && n + 1 < sizeof(t->view.filter)) {
		t->view.filter[n] = (char)key;
		t->view.filter[n + 1] = 0;
	}
	top_screen_refresh(s, t);
}

static void select_row(struct top_screen *s, struct scope *watching, int64_t by)
{
	const struct top_row *row = top_selected(s);
	int64_t at = row ? row - s->rows.row : 0;

	at += by;
	at = at < 0 ? 0 : at;
	at = at >= (int64_t)s->rows.n ? (int64_t)s->rows.n - 1 : at;
	s->selected = at >= 0 ? s->rows.row[at].sock : 0;
	scope_watch(watching, s->selected);
}

static void sort_by(struct top_screen *s, struct top *t, int step)
{
	t->view.sort = (uint8_t)((t->view.sort + TOP_COLUMNS_N + step) % TOP_COLUMNS_N);
	snprintf(t->state.notice, sizeof(t->state.notice), "sorted by %s",
		top_columns[t->view.sort].header);
	top_screen_refresh(s, t);
}

static void toggle_save(struct top *t)
{
	const char *text = "the recording is another's: it is kept where it is";

	if (!t->dir && t->recorder.is_kept) {
		text = "the recording is kept (--output)";
	} else if (!t->dir) {
		t->recorder.to_save = !t->recorder.to_save;
		text = t->recorder.to_save
			       ? "the recording will be saved in this directory at the end"
			       : "the recording will not be saved";
	}
	snprintf(t->state.notice, sizeof(t->state.notice), "%s", text);
}

static void list_key(struct top_screen *s, struct top *t, int key)
{
	const struct top_row *row = top_selected(s);

	switch (key) {
	case DRAW_UP:
	case 'k':
		select_row(s, &t->live.scope, -1);
		break;
	case DRAW_DOWN:
	case 'j':
		select_row(s, &t->live.scope, 1);
		break;
	case DRAW_PAGE_UP:
		select_row(s, &t->live.scope, -(int64_t)s->page_rows);
		break;
	case DRAW_PAGE_DOWN:
		select_row(s, &t->live.scope, (int64_t)s->page_rows);
		break;
	case DRAW_HOME:
		select_row(s, &t->live.scope, -(int64_t)s->rows.n);
		break;
	case DRAW_END:
		select_row(s, &t->live.scope, (int64_t)s->rows.n);
		break;
	case DRAW_ENTER:
		if (row) {
			s->selected = row->sock;
			scope_watch(&t->live.scope, row->sock);
			s->page = PAGE_ONE;
		}
		break;
	case 's':
	case 'S':
		sort_by(s, t, key == 's' ? 1 : -1);
		break;
	case 'r':
		t->view.reverse = !t->view.reverse;
		top_screen_refresh(s, t);
		break;
	case 'i':
		t->view.with_idle = !t->view.with_idle;
		top_screen_refresh(s, t);
		break;
	case '/':
		s->is_typing = true;
		t->view.filter[0] = 0;
		break;
	default:
		break;
	}
}

static void one_key(struct top_screen *s, int key)
{
	switch (key) {
	case DRAW_ESCAPE:
	case DRAW_BACKSPACE:
	case DRAW_ENTER:
		s->page = PAGE_LIST;
		break;
	case 'g':
		s->scope = (s->scope + 1) % SCOPE_KINDS;
		break;
	case '+':
		if (s->scope_seconds < SCOPE_SECONDS_MAX)
			s->scope_seconds *= 2;
		break;
	case '-':
		if (s->scope_seconds > 1)
			s->scope_seconds /= 2;
		break;
	default:
		break;
	}
}

static void take_key(struct top_screen *s, struct top *t, int key)
{
	if (key == DRAW_RESIZED)
		return;
	if (s->is_typing) {
		type(s, t, key);
		return;
	}
	t->state.notice[0] = 0;
	if (s->page == PAGE_HELP) {
		s->page = PAGE_LIST;
		return;
	}
	switch (key) {
	case 'q':
		t->is_quitting = true;
		break;
	case 'w':
		toggle_save(t);
		break;
	case 'p':
		s->is_paused = !s->is_paused;
		break;
	case '?':
	case 'h':
		s->page = PAGE_HELP;
		break;
	default:
		if (s->page == PAGE_ONE)
			one_key(s, key);
		else
			list_key(s, t, key);
	}
}

bool top_screen_keys(struct top_screen *s, struct top *t)
{
	bool any = false;
	int key;

	while ((key = draw_key()) >= 0) {
		take_key(s, t, key);
		any = true;
	}
	return any;
}
