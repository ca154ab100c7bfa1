/* SPDX-License-Identifier: MIT */
#include "loader.h"

#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "alloc.h"
#include "bt/graph.h"
#include "commands.h"
#include "direct/direct.h"
#include "filter/text.h"
#include "log.h"
#include "plain_file.h"
#include "progress_line.h"
#include "read/inspect.h"
#include "read/metadata.h"
#include "recordings.h"
#include "render/session.h"
#include "render/show.h"

/* Returns the first session.json that can be read; `why` gets what is wrong with one that cannot.
 */
static json_t *read_session(char *const dirs[], int count, char *why, size_t why_size)
{
	for (int i = 0; i < count; i++) {
		char path[PATH_MAX];
		json_t *session;

		if (!session_path(dirs[i], path, sizeof(path)))
			continue;
		session = session_load(path, false, why, why_size);
		if (session)
			return session;
		if (*why)
			snprintf(why + strlen(why), why_size - strlen(why), ": read without it");
	}
	return NULL;
}

/*
 * Damage that traces_inspect() cannot find ends in an assertion of babeltrace2's, which it has
 * printed.
 */
static void on_abort(int signal_number)
{
	static const char text[] = "magnet: the trace is damaged: babeltrace2 gave up on it\n";

	(void)signal_number;
	if (write(STDERR_FILENO, text, sizeof(text) - 1) < 0)
		_exit(EXIT_FAILED);
	_exit(EXIT_FAILED);
}

enum reader { READER_ANY, READER_DIRECT, READER_BABELTRACE2 };

static bool wanted_reader(enum reader *r)
{
	static const char *const names[] = {"", "direct", "babeltrace2"};
	const char *name = getenv("MAGNET_READER");

	for (*r = READER_ANY; *r <= READER_BABELTRACE2; (*r)++)
		if (strcmp(name ? name : "", names[*r]) == 0)
			return true;
	mg_error("MAGNET_READER is '%s': give direct or babeltrace2, or leave it out", name);
	return false;
}

/* Reads magnet's own traces directly, since babeltrace2 takes five times as long; others by it. */
static int read_traces(enum reader reader, const struct mg_traces *t, struct core *core, char *why,
	size_t why_size)
{
	struct progress_line line;
	int err = DIRECT_NOT_OURS;

	progress_begin(&line, core_listener(core) == show_event);
	if (reader != READER_BABELTRACE2)
		err = direct_read((const char *const *)t->path, t->count, core, &line.progress, why,
			why_size);
	if (err == DIRECT_NOT_OURS && reader == READER_ANY)
		mg_debug("read by babeltrace2: %s", why);
	if (err == DIRECT_NOT_OURS && reader != READER_DIRECT) {
		signal(SIGABRT, on_abort);
		signal(SIGFPE, on_abort); /* babeltrace2 divides by values of traces */
		err = mg_read_traces(t, core, &line.progress, why, why_size);
		signal(SIGABRT, SIG_DFL);
		signal(SIGFPE, SIG_DFL);
	}
	progress_end(&line);
	return err;
}

/* Notes that reading ended early, for the report. Returns -1 if nothing was read before. */
static int read_in_part(struct core *core, const char *why)
{
	struct fact_recording r;

	core_recording(core, &r);
	if (!r.app_events && !r.kernel_events)
		return -1;
	core_know_cut_off(core, why);
	return LOADED_IN_PART;
}

/* Returns whether the directory can be read and holds one recording, after a message if not. */
static bool is_readable(const char *dir)
{
	struct stat st;

	errno = 0;
	if (stat(dir, &st) == 0 && !S_ISDIR(st.st_mode))
		errno = ENOTDIR;
	else if (access(dir, R_OK | X_OK) == 0)
		return holds_one_recording(dir);
	mg_error("%s: %s", dir, strerror(errno));
	return false;
}

/* Returns whether no two directories were recorded one after the other, after a message if so. */
static bool are_of_one_time(char *const dirs[], int count)
{
	for (int i = 1; i < count; i++) {
		if (!recordings_are_apart(dirs[0], dirs[i]))
			continue;
		mg_error("%s and %s were recorded at different times: give one, or compare them "
			 "with --against",
			dirs[0], dirs[i]);
		return false;
	}
	return true;
}

/* Finds the traces below the directories. Returns false after a message. */
static bool find_traces(struct mg_traces *t, struct core *core, char *const dirs[], int count)
{
	char why[1024];
	int err;

	for (int i = 0; i < count; i++)
		if (!is_readable(dirs[i]))
			return false;
	if (!are_of_one_time(dirs, count))
		return false;
	err = mg_traces_find(t, (const char *const *)dirs, count);
	if (!err && t->count && traces_inspect(t, core, why, sizeof(why)) == 0)
		return true;
	if (err || !t->count)
		snprintf(why, sizeof(why), "%.500s: %s%s%.400s", dirs[0],
			err ? mg_traces_problem(-err) : "there is no trace in it",
			!err && t->link ? "; links in it are not followed: " : "",
			!err && t->link ? t->link : "");
	if (!err && !t->count && t->unreadable)
		snprintf(why, sizeof(why), "%.900s: %s", t->unreadable, strerror(EACCES));
	mg_error("%s", why);
	mg_traces_free(t);
	return false;
}

/* Returns the offset of the first trace's clock from the epoch, ns; 0: not known. */
static int64_t clock_offset(const struct mg_traces *t)
{
	char why[256];
	size_t size;
	char *text = t->count ? metadata_text(t->path[0], &size, why, sizeof(why)) : NULL;
	int64_t offset = text ? metadata_clock_offset(text) : 0;

	free(text);
	return offset;
}

void loader_begin(void)
{
	mg_memory_is_vital();
	signal(SIGPIPE, SIG_DFL); /* some shells run us with it ignored */
}

void loaded_init_facts(struct loaded *l)
{
	l->core = core_new();
	l->session = NULL;
	l->name = NULL;
	l->reported = false;
	l->filter = NULL;
	l->again = false;
}

void loaded_init(struct loaded *l)
{
	loaded_init_facts(l);
	figures_attach(l->core);
}

/* Returns whether the filter's window begins after everything that was read, after a message. */
static bool begins_too_late(const struct loaded *l)
{
	struct fact_recording r;
	double length;

	if (!l->filter || !l->filter->from_ns)
		return false;
	core_recording(l->core, &r);
	if (r.last < r.first || l->filter->from_ns <= r.last - r.first)
		return false;
	length = (double)(r.last - r.first) / 1e9;
	mg_error("%s: --from is after the last event, which is %.6f s after the first", l->name,
		length);
	return true;
}

/* Prints a word as a shell takes it. */
static void print_word(const char *word, FILE *to)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
				    "_-./,:+=@%";

	if (word[0] && !word[strspn(word, plain)]) {
		fputs(word, to);
		return;
	}
	putc('\'', to);
	for (; *word; word++)
		if (*word == '\'')
			fputs("'\\''", to);
		else
			putc(*word, to);
	putc('\'', to);
}

static void name_source(struct loaded *l, char *const dirs[], int count)
{
	FILE *to = fmemopen(l->source, sizeof(l->source), "w");

	l->name = dirs[0];
	for (int i = 0; to && i < count; i++) {
		if (i)
			putc(' ', to);
		print_word(dirs[i], to);
	}
	if (to)
		fclose(to);
	l->source[sizeof(l->source) - 1] = 0;
}

int loaded_read(struct loaded *l, char *const dirs[], int count)
{
	char why[1024], no_session[1024] = "";
	struct mg_traces traces;
	enum reader reader;
	int err;

	name_source(l, dirs, count);
	if (!wanted_reader(&reader) || !find_traces(&traces, l->core, dirs, count))
		return -1;
	l->session = read_session(dirs, count, no_session, sizeof(no_session));
	core_know_wall_clock(l->core, clock_offset(&traces));
	session_tell(l->core, l->session);
	if (core_attached(l->core) && !core_listener(l->core))
		figures_apart(l->core);
	err = read_traces(reader, &traces, l->core, why, sizeof(why));
	if (err) {
		if (!l->again)
			mg_error("%s: %s", dirs[0], why);
		err = err == -EMFILE ? -1 : read_in_part(l->core, why);
	} else if (!l->again) {
		if (no_session[0])
			mg_warn("%s", no_session);
		if (traces.link)
			mg_warn("%s: %s", traces.link, plain_file_problem(ELOOP));
	}
	if (!err && traces.unreadable) {
		if (!l->again)
			mg_error("%s: %s: read without it", traces.unreadable, strerror(EACCES));
		err = LOADED_IN_PART;
	}
	mg_traces_free(&traces);
	return err >= 0 && begins_too_late(l) ? -1 : err;
}

/* Reads all to learn which sockets and threads are chosen. Returns 0, or -1 after a message. */
static int learn(struct filter *f, char *const dirs[], int count)
{
	struct loaded before = {.core = core_new()};
	char options[FILTER_TEXT];
	int err = 0;

	if (!before.core || !filter_learn(f, before.core)) {
		mg_error("%s", strerror(ENOMEM));
		err = -1;
	} else if (loaded_read(&before, dirs, count) < 0) {
		err = -1;
	} else if (!filter_learned(f, before.core)) {
		filter_text(f, options, sizeof(options));
		mg_error("nothing in this recording matches %s (magnet report --json has its "
			 "processes and flows)",
			options);
		err = -1;
	}
	loaded_free(&before);
	return err;
}

int loaded_filter(struct loaded *l, struct filter *f, char *const dirs[], int count)
{
	if (!filter_chooses_sockets(f) && !filter_chooses_threads(f) && !filter_begin(f)) {
		mg_error("%s", strerror(ENOMEM));
		return -1;
	}
	if (filter_chooses_sockets(f) || filter_chooses_threads(f)) {
		if (learn(f, dirs, count))
			return -1;
		l->again = true;
	}
	l->filter = f;
	figures_filter(l->core, f);
	return 0;
}

int loaded_report(struct loaded *l)
{
	int err = report_init(&l->report, l->core, l->session, l->source);

	l->reported = true;
	if (err)
		mg_error("%s", strerror(ENOMEM));
	return err;
}

void loaded_free(struct loaded *l)
{
	if (l->reported)
		report_free(&l->report);
	core_delete(l->core);
	if (l->filter)
		filter_free(l->filter);
	json_decref(l->session);
}

int loaded_no_flow(const char *id)
{
	mg_error("there is no flow %s in this recording (magnet report names them)", id);
	return EXIT_FAILED;
}
