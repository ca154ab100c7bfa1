/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "follow.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "alloc.h"
#include "direct.h"
#include "merge.h"
#include "trace.h"

#define RUNS_AT_ONCE 20000    /* of events of one stream, before the caller has its turn */
#define OWN_STREAM   "tracer" /* file of the stream with the tracer's clock readings */

struct growing {
	struct stream s; /* the first member: the heap has pointers to it */
	struct followed *of;
	bool in_heap;
};

struct followed {
	struct trace trace;
	char *dir;
	struct stream scout; /* kernel side: the own stream, read ahead */
	bool has_scout;
	int64_t complete; /* key up to which the streams are complete */
	uint64_t told_at; /* when that moved last, by the caller's clock */
	bool ended, stalled;
};

struct follow {
	struct merge m;
	struct followed *trace;
	size_t traces;
	struct growing **stream;
	size_t streams;
	uint64_t late;
};

/* ---- opening ---- */

static int open_trace(struct follow *f, struct followed *t, const char *dir)
{
	const char *why = trace_describe(&t->trace, dir);

	t->complete = INT64_MIN;
	t->dir = mg_strdup(dir);
	if (!why && t != f->trace)
		why = trace_align(&t->trace, f->trace->trace.offset_ns);
	if (!why && t->dir)
		return 0;
	snprintf(f->m.why, f->m.why_size, "%s: %s", dir, why ? why : strerror(ENOMEM));
	return why == stream_no_more_files ? -EMFILE : why ? DIRECT_NOT_OURS : -ENOMEM;
}

int follow_open(struct follow **out, const char *const dirs[], size_t count, struct core *core,
	char *why, size_t why_size)
{
	struct follow *f = mg_calloc(1, sizeof(*f));
	int err = 0;

	*out = f;
	snprintf(why, why_size, "%s", strerror(ENOMEM));
	if (!f)
		return -ENOMEM;
	f->m = (struct merge){.core = core, .reached = INT64_MIN, .why = why, .why_size = why_size};
	f->trace = mg_calloc(count + 1, sizeof(*f->trace));
	if (!f->trace)
		return -ENOMEM;
	while (f->traces < count && !err) {
		struct followed *t = &f->trace[f->traces++];

		err = open_trace(f, t, dirs[t - f->trace]);
	}
	if (!err && count)
		core_know_wall_clock(core, f->trace->trace.offset_ns);
	return err;
}

/* ---- streams ---- */

static int by_place(const void *a, const void *b)
{
	const struct stream *x = &(*(struct growing *const *)a)->s;
	const struct stream *y = &(*(struct growing *const *)b)->s;
	int order = memcmp(x->layout->tsdl.uuid, y->layout->tsdl.uuid, 16);

	return order ? order : strcmp(x->path, y->path);
}

static bool is_known(const struct follow *f, const struct followed *t, const char *name)
{
	for (size_t i = 0; i < f->streams; i++)
		if (f->stream[i]->of == t &&
			strcmp(strrchr(f->stream[i]->s.path, '/') + 1, name) == 0)
			return true;
	return false;
}

static struct stream new_stream(const struct followed *t, char *path)
{
	return (struct stream){.layout = &t->trace.layout,
		.path = path,
		.fd = -1,
		.offset_ns = t->trace.offset_ns,
		.grows = true};
}

/* Adds a file that has appeared. Returns 0 or -ENOMEM. */
static int add_stream(struct follow *f, struct followed *t, char *path)
{
	struct growing **more = mg_realloc(f->stream, (f->streams + 1) * sizeof(*more));
	struct stream **heap = mg_realloc(f->m.heap, (f->streams + 1) * sizeof(*heap));
	struct growing *g = mg_calloc(1, sizeof(*g));

	if (more)
		f->stream = more;
	if (heap)
		f->m.heap = heap;
	if (!more || !heap || !g) {
		free(g);
		free(path);
		return -ENOMEM;
	}
	g->s = new_stream(t, path);
	g->of = t;
	f->stream[f->streams++] = g;
	qsort(f->stream, f->streams, sizeof(struct growing *), by_place);
	for (size_t i = 0; i < f->streams; i++)
		f->stream[i]->s.rank = (uint32_t)i;
	return 0;
}

/* Returns whether a file of a trace's directory is a stream that has begun. */
static bool is_stream(const char *name, const char *path)
{
	struct stat st;

	return name[0] != '.' && strcmp(name, "metadata") != 0 && lstat(path, &st) == 0 &&
	       S_ISREG(st.st_mode) && st.st_size > 0;
}

/* Adds the files that have appeared in a trace's directory. */
static int look_for_streams(struct follow *f, struct followed *t)
{
	DIR *d = mg_checked(opendir(t->dir));
	struct dirent *e;
	int err = 0;

	if (!d) {
		snprintf(f->m.why, f->m.why_size, "%s: %s", t->dir, strerror(errno));
		return -errno;
	}
	while (!err && (e = readdir(d))) {
		char *path;

		if (is_known(f, t, e->d_name))
			continue;
		if (asprintf(&path, "%s/%s", t->dir, e->d_name) < 0)
			err = -ENOMEM;
		else if (is_stream(e->d_name, path))
			err = add_stream(f, t, path);
		else
			free(path);
	}
	closedir(d);
	return err == -ENOMEM ? merge_out_of_memory(&f->m) : err;
}

/* ---- how far all is complete ---- */

static const char *scout_event(struct followed *t)
{
	struct mg_event e;
	const char *what;

	if (t->scout.gap.count)
		return stream_pass_gap(&t->scout);
	what = stream_event(&t->scout, &e, false);
	if (what)
		return what;
	if (e.id == MG_EVENT_clock_sync)
		t->complete = (int64_t)e.clock_sync.mono_ns + t->trace.offset_ns;
	t->ended |= e.id == MG_EVENT_contents;
	return stream_advance(&t->scout);
}

/* Reads the tracer's own stream ahead of the others, up to its last clock reading. */
static int scout(struct follow *f, struct followed *t)
{
	const char *what = NULL;
	struct stat st;
	char *path;

	if (!t->has_scout) {
		if (asprintf(&path, "%s/" OWN_STREAM, t->dir) < 0)
			return merge_out_of_memory(&f->m);
		if (stat(path, &st) != 0 || !st.st_size) {
			free(path);
			return 0;
		}
		t->scout = new_stream(t, path);
		t->has_scout = true;
	}
	what = stream_more(&t->scout);
	while (!what && !t->scout.ended)
		what = scout_event(t);
	return what ? merge_failed(&f->m, &t->scout, what) : 0;
}

/* Takes how far the application side's one stream has got, once it is read to its present end. */
static void look_at_app(const struct follow *f, struct followed *t)
{
	for (size_t i = 0; i < f->streams; i++) {
		const struct growing *g = f->stream[i];

		if (g->of != t)
			continue;
		t->complete = g->s.ended ? (int64_t)g->s.until + g->s.offset_ns : INT64_MAX;
		t->ended |= g->s.ended && g->s.contents;
	}
}

static int64_t complete_until(const struct follow *f)
{
	int64_t least = INT64_MAX;

	for (size_t i = 0; i < f->traces; i++) {
		struct followed *t = &f->trace[i];

		if (t->trace.layout.is_app)
			look_at_app(f, t);
		if (!t->ended && !t->stalled && t->complete < least)
			least = t->complete;
	}
	return least;
}

/* ---- reading ---- */

/* Passes over events that come behind later ones of other streams, and reports them as missing. */
static const char *skip_late(struct follow *f, struct stream *s)
{
	uint64_t late = 0, from = s->time, to = from;
	const char *what = NULL;

	while (!what && !s->ended && !s->gap.count && stream_key(s) < f->m.reached) {
		struct mg_event e;

		to = s->time;
		what = stream_event(s, &e, false);
		late++;
		if (!what)
			what = stream_advance(s);
	}
	f->late += late;
	if (late)
		core_missing_packets(
			f->m.core, stream_side(s), late, from, to, s->has_cpu ? s->cpu : -1);
	return what;
}

/* Puts the streams into the heap that have more to read. */
static int fill_heap(struct follow *f)
{
	f->m.n = 0;
	for (size_t i = 0; i < f->streams; i++) {
		struct stream *s = &f->stream[i]->s;
		const char *what = stream_more(s);

		if (!what)
			what = skip_late(f, s);
		if (what)
			return merge_failed(&f->m, s, what);
		if (!s->ended)
			f->m.heap[f->m.n++] = s;
	}
	merge_order(&f->m);
	return 0;
}

/* Notes when a side last told how far it has got. */
static void look_for_stalls(struct follow *f, const int64_t before[], uint64_t now)
{
	for (size_t i = 0; i < f->traces; i++) {
		struct followed *t = &f->trace[i];

		/* a side with events left to read has told enough */
		if (t->complete != before[i] || t->complete == INT64_MAX || !t->told_at)
			t->told_at = now;
		t->stalled = now - t->told_at > FOLLOW_PATIENCE_NS;
	}
}

int follow_read(struct follow *f, uint64_t now_ns)
{
	int64_t *before = mg_calloc(f->traces + 1, sizeof(*before));
	int err = before ? 0 : merge_out_of_memory(&f->m), runs = 0;

	for (size_t i = 0; i < f->traces && !err; i++) {
		struct followed *t = &f->trace[i];

		before[i] = t->complete;
		err = t->trace.layout.is_app ? 0 : scout(f, t); /* before the files it tells of */
		if (!err)
			err = look_for_streams(f, t);
	}
	if (!err)
		err = fill_heap(f);
	while (!err && f->m.n && runs++ < RUNS_AT_ONCE) {
		f->m.limit = complete_until(f);
		if (stream_key(f->m.heap[0]) > f->m.limit)
			break;
		err = merge_take(&f->m);
	}
	if (!err) {
		f->m.limit = complete_until(f);
		look_for_stalls(f, before, now_ns);
	}
	free(before);
	return err ? err : f->m.n && stream_key(f->m.heap[0]) <= f->m.limit;
}

int follow_finish(struct follow *f)
{
	int err = 0, finished;

	for (size_t i = 0; i < f->traces && !err; i++) {
		f->trace[i].ended = true;
		err = look_for_streams(f, &f->trace[i]);
	}
	if (!err)
		err = fill_heap(f);
	f->m.limit = INT64_MAX;
	while (!err && f->m.n)
		err = merge_take(&f->m);
	for (size_t i = 0; i < f->traces; i++) {
		struct contents sum = {0};

		for (size_t j = 0; j < f->streams; j++) {
			const struct stream *s = &f->stream[j]->s;

			if (f->stream[j]->of != &f->trace[i])
				continue;
			contents_add(&sum, f->m.core, s);
			if (!err && s->next != s->size)
				err = merge_failed(&f->m, s, "the file ends within a packet");
		}
		contents_tell(&sum, f->m.core, &f->trace[i].trace.layout);
	}
	if (err)
		core_know_cut_off(f->m.core, f->m.why);
	finished = core_finish(f->m.core);
	return finished && !err ? merge_out_of_memory(&f->m) : err;
}

void follow_free(struct follow *f)
{
	if (!f)
		return;
	for (size_t i = 0; i < f->streams; i++) {
		stream_close(&f->stream[i]->s);
		free(f->stream[i]->s.path);
		free(f->stream[i]);
	}
	for (size_t i = 0; i < f->traces; i++) {
		if (f->trace[i].has_scout) {
			stream_close(&f->trace[i].scout);
			free(f->trace[i].scout.path);
		}
		trace_close(&f->trace[i].trace);
		free(f->trace[i].dir);
	}
	free(f->stream);
	free(f->trace);
	free(f->m.heap);
	free(f);
}

/* ---- state ---- */

bool follow_has_ended(const struct follow *f)
{
	for (size_t i = 0; i < f->traces; i++)
		if (!f->trace[i].ended)
			return false;
	return f->traces && !f->m.n;
}

uint64_t follow_until_ns(const struct follow *f)
{
	bool waits = f->m.n && stream_key(f->m.heap[0]) <= f->m.limit;
	int64_t key = waits || f->m.limit == INT64_MAX ? f->m.reached : f->m.limit;

	return !f->traces || key == INT64_MIN ? 0 : (uint64_t)(key - f->trace[0].trace.offset_ns);
}

bool follow_is_stalled(const struct follow *f, enum core_side side)
{
	for (size_t i = 0; i < f->traces; i++)
		if (f->trace[i].stalled && !f->trace[i].ended &&
			f->trace[i].trace.layout.is_app == (side == CORE_APP))
			return true;
	return false;
}

uint64_t follow_silent_ns(const struct follow *f, uint64_t now_ns)
{
	uint64_t least = UINT64_MAX;

	for (size_t i = 0; i < f->traces; i++)
		if (!f->trace[i].told_at)
			return 0;
		else if (now_ns - f->trace[i].told_at < least)
			least = now_ns - f->trace[i].told_at;
	return f->traces ? least : 0;
}

uint64_t follow_late(const struct follow *f)
{
	return f->late;
}
