/* SPDX-License-Identifier: MIT */
#include "record_tell.h"

#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "log.h"
#include "printable.h"
#include "unseen.h"

static const char no_call[] =
	"magnet: no socket call was recorded. If a running service does the work, record it with "
	"--pid or --cgroup. If COMMAND only starts another program, it must wait for that program "
	"to end.\n";

/* Warns of events that are lost, by their cause. */
static void tell_losses(const struct collector_result *app, long long kernel, bool in_session)
{
	uint64_t full = app->discarded - app->unfinished - app->no_room - app->untimed -
			app->unserved - app->unreached;

	if (kernel || full)
		mg_warn("events lost: %lld kernel, %llu application (try a larger --buffer%s)",
			kernel, (unsigned long long)full,
			in_session ? ", and larger subbuffers of the session's channel" : "");
	if (app->unfinished)
		mg_warn("events lost: %llu calls whose logging was cut short (killed, or left by "
			"siglongjmp)",
			(unsigned long long)app->unfinished);
	if (app->no_room)
		mg_warn("events lost: %llu calls of programs whose limit on address space leaves "
			"no "
			"room for a buffer (raise ulimit -v, or try a smaller --buffer)",
			(unsigned long long)app->no_room);
	if (app->untimed)
		mg_warn("events lost: %llu calls of programs that have forbidden themselves the "
			"cycle counter (strict seccomp, PR_SET_TSC)",
			(unsigned long long)app->untimed);
	if (app->not_outer)
		mg_warn("%llu application calls keep the process numbers of an inner PID namespace "
			"and are not joined with the kernel side: their processes ended too early, "
			"or shared a number with others",
			(unsigned long long)app->not_outer);
	if (app->unserved)
		mg_warn("events lost: all calls of %llu programs for which there was no buffer: %s",
			(unsigned long long)app->unserved, app->why_unserved);
	if (app->unreached)
		mg_warn("events lost: all calls of %llu programs and of the programs they started, "
			"because magnet's files are not visible there (chroot)",
			(unsigned long long)app->unreached);
}

void record_process_name(int pid, char name[32])
{
	char path[40];
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/comm", pid);
	f = fopen(path, "re");
	if (!f || !fgets(name, 32, f))
		name[0] = 0;
	name[strcspn(name, "\n")] = 0;
	if (f)
		fclose(f);
}

static void name_process(int pid, char *out, size_t size)
{
	char name[32], plain[80];

	record_process_name(pid, name);
	snprintf(out, size, "%d (%s)", pid,
		name[0] ? mg_escape(plain, sizeof(plain), name) : "its name is not known");
}

void record_tell_begin(const struct recording *r)
{
	const struct recorder_options *o = &r->o.given;
	long long all = json_integer_value(json_object_get(r->tracer.ready, "processes"));
	char what[200], length[24];

	if (o->quiet || r->o.command)
		return;
	fprintf(stderr, "magnet: recording ");
	if (o->pid.count == 1) {
		name_process(o->pid.pid[0], what, sizeof(what));
		fprintf(stderr, "process %s", what);
	} else if (o->pid.count) {
		fprintf(stderr, "%u processes", o->pid.count);
	} else {
		fprintf(stderr, o->all ? "every process" : "the cgroup %s", o->cgroup);
	}
	if (o->pid.count && all > o->pid.count)
		fprintf(stderr, " and %lld child process%s", all - o->pid.count,
			all - o->pid.count > 1 ? "es" : "");
	if (o->duration)
		fprintf(stderr, " for %s", option_time_text(length, o->duration));
	fputs(": Ctrl-C ends the recording\n", stderr);
}

/* Returns whether a side recorded calls, or cannot tell that there were none. */
static bool saw_calls(const struct recording *r)
{
	const json_t *done = r->tracer.done;
	bool tells = r->tracer_runs && r->o.given.layers & 1u << MG_LAYER_SYSCALL;

	if (r->app_result.events || json_array_size(json_object_get(done, "callers")))
		return true;
	if (r->app_result.discarded || json_integer_value(json_object_get(done, "lost")))
		return true;
	return !tells && !r->collector_runs; /* LTTng does not say */
}

void record_tell(const struct recording *r, bool failed)
{
	char dir[PATH_MAX];
	const json_t *done = r->tracer.done;
	/* as the report counts: without the tracer's own, which are about the recording */
	long long kernel = json_integer_value(json_object_get(done, "events")) -
			   json_integer_value(json_object_get(done, "own_events"));
	long long skipped = json_integer_value(json_object_get(done, "skipped"));
	long long lost = json_integer_value(json_object_get(done, "lost")) - skipped;
	char not_recorded[48] = "";

	tell_losses(&r->app_result, lost, r->session_runs);
	if (r->o.given.quiet)
		return;
	if (r->tracer_runs && r->collector_runs && r->app_result.complete)
		tell_unseen(json_object_get(done, "callers"), &r->app_result.callers);
	if (skipped) /* no buffer helps: an interrupt found the tracer at work on its CPU */
		snprintf(not_recorded, sizeof(not_recorded), " (%lld more skipped)", skipped);
	if (failed) { /* their counts are of what was seen, not of what was written */
		fprintf(stderr, "magnet: what was recorded until then is in %s\n",
			mg_escape(dir, sizeof(dir), r->dir.dir));
		return;
	}
	fputs("magnet: ", stderr);
	if (r->collector_runs)
		fprintf(stderr, "%llu application%s", (unsigned long long)r->app_result.events,
			r->tracer_runs ? " and " : "");
	if (r->session_runs) /* LTTng does not count what it records */
		fprintf(stderr, "the application events of the LTTng session %s%s",
			r->info.app_session, r->tracer_runs ? " and " : "");
	if (r->tracer_runs)
		fprintf(stderr, "%lld kernel", kernel);
	fprintf(stderr, "%s%s in %s\n", r->tracer_runs || r->collector_runs ? " events" : "",
		not_recorded, mg_escape(dir, sizeof(dir), r->dir.dir));
	if (!saw_calls(r))
		fputs(no_call, stderr);
}
