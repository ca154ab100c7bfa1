/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "run/parent.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cpu_time.h"
#include "log.h"
#include "process_limits.h"
#include "hooks/calibrate.h"
#include "hooks/hook_table.h"
#include "hooks/hooks.h"
#include "rings/drain.h"
#include "run/loop.h"

int run_fail(const struct run *r, int err, const char *fmt, ...)
{
	char text[512], hint[64];
	va_list ap;
	size_t used;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	used = strlen(text);
	snprintf(text + used, sizeof(text) - used, "%s", mg_limit_hint(err, hint, sizeof(hint)));
	for (char *p = text; *p; p++)
		if (*p == '"' || *p == '\\' || (unsigned char)*p < ' ')
			*p = '\'';
	if (r->options.control < 0)
		mg_error("%s", text);
	else
		dprintf(r->options.control, "{\"failed\": true, \"error\": \"%s\"}\n", text);
	return err;
}

#define CALLERS_MAX 1000 /* hooks are listed for the parent */

/* Writes one program of a process, which it ran until `until`. */
static void say_caller(
	const struct callers *all, const struct caller *p, uint64_t until, FILE *f, int *n)
{
	const char *program = callers_program(all, p);
	char name[sizeof(p->comm)];

	if (!p->moved || *n == CALLERS_MAX)
		return;
	for (size_t i = 0; i < sizeof(name); i++) {
		name[i] = program[i];
		if (name[i] &&
			(name[i] < ' ' || name[i] == '"' || name[i] == '\\' || name[i] > '~'))
			name[i] = '_';
	}
	fprintf(f,
		"%s{\"pid\": %u, \"comm\": \"%s\", \"calls\": %llu, \"from_ns\": %llu, "
		"\"until_ns\": %llu}",
		(*n)++ ? ", " : "", p->pid, name, (unsigned long long)p->calls,
		(unsigned long long)p->since_ns, (unsigned long long)until);
}

static void say_callers(const struct run *r, FILE *f)
{
	const struct callers *all = drain_callers(r->drain);
	const struct caller *p, *tmp;
	int n = 0;

	HASH_ITER (hh, all->all, p, tmp) {
		uint64_t until = INT64_MAX;

		for (const struct caller *one = p; one; one = one->before) {
			say_caller(all, one, until, f, &n);
			until = one->since_ns;
		}
	}
}

void parent_say(const struct run *r, const char *what)
{
	FILE *f;
	int fd;

	if (r->options.control < 0)
		return;
	fd = dup(r->options.control);
	f = fd >= 0 ? fdopen(fd, "w") : NULL;
	if (!f) { /* the trace is not affected by it */
		run_fail(r, -errno, "the recording's figures cannot be reported: %s",
			strerror(errno));
		return;
	}
	fprintf(f,
		"{\"%s\": true, \"events\": %llu, \"own_events\": %llu, \"bytes\": %llu, \"lost\": "
		"%llu, "
		"\"skipped\": %llu, \"cpu_ns\": %llu, \"setup_cpu_ns\": %llu, "
		"\"running_ns\": %llu, \"running_cpu_ns\": %llu, \"ring_bytes\": %llu, "
		"\"drain_ms\": %llu, \"counter_hz\": %llu, "
		"\"invariant\": %s, "
		"\"event_cycles\": %u, \"processes\": %u, \"hooks\": [",
		what, (unsigned long long)ctf_events(r->writer),
		(unsigned long long)ctf_events_of(r->writer, CTF_OWN_STREAM),
		(unsigned long long)ctf_bytes(r->writer), (unsigned long long)run_lost(r),
		(unsigned long long)drain_skipped(r->drain),
		(unsigned long long)(own_cpu_ns() - r->use.began_cpu_ns),
		(unsigned long long)r->use.began_cpu_ns,
		(unsigned long long)own_use_running_ns(&r->use),
		(unsigned long long)own_use_running_cpu_ns(&r->use),
		(unsigned long long)(r->hooks.ring_slots * sizeof(struct mg_slot)),
		(unsigned long long)r->options.given.drain,
		(unsigned long long)r->calibration.counter_hz,
		r->calibration.invariant ? "true" : "false", r->calibration.event_cycles,
		r->ends.followed);
	for (size_t i = 0; i < r->hook_count; i++)
		fprintf(f,
			"%s{\"layer\": \"%s\", \"hook\": \"%s\", \"status\": %d, \"netns\": %u, "
			"\"by\": \"%s\", \"why\": \"%s\"}",
			i ? ", " : "", mg_layer_names[r->hook[i].layer], r->hook[i].what,
			r->hook[i].status, r->hook[i].netns, r->hook[i].by, r->hook[i].why);
	fprintf(f, "], ");
	if (r->why_stopped)
		fprintf(f, "\"stopped\": \"%s\", ", r->why_stopped);
	fprintf(f, "\"callers\": [");
	say_callers(r, f);
	fprintf(f, "]}\n");
	fclose(f);
}

void parent_read(struct run *r)
{
	char line[128];

	if (read(r->options.control, line, sizeof(line)) >= 0 || errno != EINTR)
		r->stop = true;
}
