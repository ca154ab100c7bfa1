/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "run/status.h"

#include <string.h>
#include <unistd.h>

#include "clock.h"
#include "cpu_time.h"
#include "hooks/hook_table.h"
#include "hooks/hooks.h"
#include "rings/drain.h"
#include "run/loop.h"
#include "run/settings.h"

static json_t *number(uint64_t n)
{
	return json_integer((json_int_t)n);
}

/* Returns the number of the process of --pid, an array of several, or null. */
static json_t *processes(const struct option_processes *p)
{
	json_t *all;

	if (p->count < 2)
		return p->count ? json_integer(p->pid[0]) : json_null();
	all = json_array();
	for (uint32_t i = 0; i < p->count; i++)
		json_array_append_new(all, json_integer(p->pid[i]));
	return all;
}

static json_t *parameters(const struct run *r)
{
	json_t *j = settings_all(r);

	/* the values in use, which may differ from the given ones */
	json_object_set_new(j, "buffer", number(r->hooks.ring_slots * sizeof(struct mg_slot)));
	json_object_set_new(j, "pid", processes(&r->options.hooks.pid));
	json_object_set_new(j, "all", json_boolean(r->options.hooks.all));
	return j;
}

/* Returns how many events there were of each kind that occurred. */
static json_t *counts(const struct run *r)
{
	json_t *j = json_object();
	const struct mg_event_desc *table;
	size_t n;

	table = mg_event_table(&n);
	for (size_t i = 0; i < n; i++) {
		uint64_t sum = ctf_count(r->writer, CTF_OWN_STREAM, table[i].id);

		for (int cpu = 0; cpu < r->hooks.cpus; cpu++)
			sum += ctf_count(r->writer, cpu, table[i].id) +
			       ctf_count(r->writer, CTF_CHOSEN(cpu), table[i].id);
		if (sum)
			json_object_set_new(j, table[i].name, number(sum));
	}
	return j;
}

static json_t *cpus(const struct run *r)
{
	json_t *all = json_array();

	for (int cpu = 0; cpu < r->hooks.cpus; cpu++)
		json_array_append_new(
			all, json_pack("{s:i, s:o, s:o, s:o}", "cpu", cpu, "events",
				     number(ctf_events_of(r->writer, cpu)), "chosen",
				     number(ctf_events_of(r->writer, CTF_CHOSEN(cpu))), "lost",
				     number(drain_lost_on(r->drain, cpu))));
	return all;
}

/* Returns the programs that the kernel skipped because they had interrupted themselves. */
static json_t *skipped(const struct run *r)
{
	json_t *all = json_array();

	for (size_t i = 0; i < hook_count; i++)
		if (r->hooks.misses[i])
			json_array_append_new(
				all, json_pack("{s:s, s:s, s:o}", "event", hook_table[i].event,
					     "program", hook_table[i].program, "skipped",
					     number(r->hooks.misses[i])));
	return all;
}

static json_t *hooks(const struct run *r)
{
	json_t *all = json_array();

	for (size_t i = 0; i < r->hook_count; i++)
		json_array_append_new(all,
			json_pack("{s:s, s:s, s:i, s:o}", "layer", mg_layer_names[r->hook[i].layer],
				"hook", r->hook[i].what, "status", r->hook[i].status, "netns",
				number(r->hook[i].netns)));
	return all;
}

json_t *run_status(const struct run *r)
{
	json_t *j = json_pack("{s:b, s:i, s:s, s:s}", "ok", 1, "pid", (int)getpid(), "state",
		r->paused ? "paused" : "recording", "trace", r->options.given.output);

	json_object_set_new(j, "for_ns", number(own_use_running_ns(&r->use)));
	json_object_set_new(j, "parameters", parameters(r));
	json_object_set_new(j, "events", number(ctf_events(r->writer)));
	json_object_set_new(j, "bytes", number(ctf_bytes(r->writer)));
	json_object_set_new(j, "lost", number(run_lost(r)));
	json_object_set_new(j, "not_recorded", number(drain_not_recorded(r->drain)));
	json_object_set_new(j, "cpu_ns", number(own_use_running_cpu_ns(&r->use)));
	json_object_set_new(j, "counts", counts(r));
	json_object_set_new(j, "cpus", cpus(r));
	json_object_set_new(j, "skipped", skipped(r));
	json_object_set_new(j, "hooks", hooks(r));
	return j;
}
