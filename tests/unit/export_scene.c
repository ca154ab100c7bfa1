/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "export_scene.h"

#include <ftw.h>
#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>

void scene_begin(struct scene *s, const char *name, scene_begin_fn begin)
{
	memset(s, 0, sizeof(*s));
	strcpy(s->dir, "/tmp/magnet-unit-XXXXXX");
	assert_non_null(mkdtemp(s->dir));
	if (name[0] == '/')
		snprintf(s->to, sizeof(s->to), "%s", name);
	else
		snprintf(s->to, sizeof(s->to), "%s/%s", s->dir, name);
	core_init(&s->c);
	core_give_clock(&s->c, 1, 1, 0);
	core_give_clock(&s->c, 1000000000, 1000000000, 0);
	s->c.times.wall_clock_ns = WALL_CLOCK;
	s->session = json_pack("{s:s}", "host", "here");
	s->e = (struct export){.core = &s->c, .to = s->to, .session = &s->session};
	if (begin)
		assert_true(begin(&s->e));
}

void scene_feed(struct scene *s)
{
	struct core *c = &s->c;

	ev_fork(c, 5, 1, SENDER, AWKWARD);
	ev_fork(c, 6, 1, READER, "reader");
	ev_opened(c, 10, A, 999, 4999);
	ev_opened(c, 20, B, 4999, 999);
	feed_send(c, SENDER, A, 1000, 300, 1000, 1);
	feed_segment(c, B, 1000, 300, 1500, 1);
	feed_recv(c, READER, B, 1000, 300, 2000, 1);
	ev_enter(c, 2101, SENDER, A, MG_SYS_sendto, 1300);
	ev_exit(c, 2110, SENDER, A, MG_SYS_sendto, 1300, -11);
	ev_app(c, SENDER, MG_FN_send, 2100, 2111, -11);
	feed_send(c, SENDER, A, 1300, 200, 3000000, 1);
}

bool scene_write(struct scene *s, scene_end_fn end)
{
	assert_int_equal(core_finish(&s->c), 0);
	return end(&s->e, true);
}

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *at)
{
	(void)st;
	(void)type;
	(void)at;
	return remove(path);
}

void scene_end(struct scene *s)
{
	core_free(&s->c);
	json_decref(s->session);
	assert_int_equal(nftw(s->dir, remove_one, 8, FTW_DEPTH | FTW_PHYS), 0);
}

char *scene_text(const struct scene *s, const char *name)
{
	char path[256], *text;
	FILE *f;
	long size;

	snprintf(path, sizeof(path), "%s%s%s", s->to, name ? "/" : "", name ? name : "");
	f = fopen(path, "rb");
	assert_non_null(f);
	fseek(f, 0, SEEK_END);
	size = ftell(f);
	rewind(f);
	text = calloc(1, (size_t)size + 1);
	assert_int_equal(fread(text, 1, (size_t)size, f), size);
	fclose(f);
	return text;
}

bool scene_is_there(const struct scene *s)
{
	return access(s->to, F_OK) == 0;
}

/* Returns where a line's cell begins; NULL if it has fewer. */
static const char *cell_at(const char *line, char separator, int column)
{
	while (column--) {
		line += strcspn(line, (char[]){separator, '\n', 0});
		if (*line++ != separator)
			return NULL;
	}
	return line;
}

char *scene_cell(const char *table, char separator, const char *column, int row)
{
	const char *ends = (char[]){separator, '\r', '\n', 0}, *at;
	size_t length = strlen(column);
	int n = 0;

	for (; (at = cell_at(table, separator, n)); n++)
		if (strncmp(at, column, length) == 0 && strchr(ends, at[length]))
			break;
	assert_non_null(at);
	for (; row >= 0; row--) {
		table = strchr(table, '\n');
		assert_non_null(table);
		table++;
	}
	at = cell_at(table, separator, n);
	assert_non_null(at);
	return strndup(at, strcspn(at, ends));
}

void scene_limit_files(uint64_t bytes)
{
	struct rlimit limit;

	signal(SIGXFSZ, SIG_IGN);
	getrlimit(RLIMIT_FSIZE, &limit);
	limit.rlim_cur = bytes ? bytes : limit.rlim_max;
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
}
