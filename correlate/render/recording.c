/* SPDX-License-Identifier: MIT */
/* Figures of the recording as a whole: its clock, its length, and what recording cost. */
#include <math.h>

#include "event_table.h"
#include "report.h"

double report_ns(const struct report *r, double cycles)
{
	return r->hz > 0 ? cycles * 1e9 / r->hz : NAN;
}

const char *report_no_clock_error(const struct report *r)
{
	const struct fact_recording *c = &r->recording;

	if (c->ns_only)
		return "times are CLOCK_MONOTONIC: the program's are those of the nearest readings";
	if (c->clock_points < 2)
		return "there are neither two readings of the counter nor two calls to estimate "
		       "its rate from";
	if (c->clock == CLOCK_GUESSED && !c->clock_bounded)
		return "there are no readings of the counter: its rate is that of the first and "
		       "the last call";
	return NULL;
}

double report_clock_error_ns(const struct report *r)
{
	const struct fact_recording *c = &r->recording;

	if (report_no_clock_error(r))
		return NAN;
	return report_ns(r, c->clock == CLOCK_GUESSED ? c->clock_error_over : c->clock_error);
}

double report_join_error(const struct report *r)
{
	return r->recording.clock_error +
	       (r->recording.cpus_compared ? r->recording.cpus_error : 0);
}

double report_rate_error_ppm(const struct report *r)
{
	return report_no_clock_error(r) ? NAN : r->recording.clock_rate_error * 1e6;
}

double report_cpu_offset_ns(const struct report *r)
{
	return r->recording.cpus_compared && !r->recording.ns_only
		       ? report_ns(r, r->recording.cpus_error)
		       : NAN;
}

double report_quantile_error(const struct report *r)
{
	return (double)(1u << figures_of(r->core)->memory.dists.coarse) / 1024;
}

double report_duration_ns(const struct report *r)
{
	json_int_t ns = json_integer_value(json_object_get(r->session, "duration_ns"));

	return ns ? (double)ns : (double)(r->recording.last - r->recording.first);
}

/* Adds the CPU time that a recorder took while it recorded, and that of its start and end. */
static void add_recorder(
	struct own_cost *c, const json_t *side, const char *all_cpu, double duration_ns)
{
	double cpu = json_number_value(json_object_get(side, all_cpu));
	double running_ns = json_number_value(json_object_get(side, "running_ns"));
	double running_cpu = json_number_value(json_object_get(side, "running_cpu_ns"));
	double setup_cpu = json_number_value(json_object_get(side, "setup_cpu_ns"));

	if (!json_object_get(side, all_cpu))
		return;
	if (running_ns > 0) {
		c->cpu_share += running_cpu / running_ns;
		c->setup_cpu_ns += setup_cpu + cpu - running_cpu;
	} else { /* recorded by a version that did not separate the two */
		c->cpu_share += cpu / duration_ns;
		c->setup_cpu_ns = NAN;
	}
}

struct own_cost report_own_cost(const struct report *r)
{
	const json_t *kernel = json_object_get(r->session, "kernel_side");
	const json_t *app = json_object_get(r->session, "app");
	struct own_cost c = {NAN, NAN, NAN, NAN};
	double duration = report_duration_ns(r);

	if (figures_of(r->core)->calls.logged.n)
		c.app_ns_per_call = report_ns(r, dist_mean(&figures_of(r->core)->calls.logged));
	if (r->recording.calibrated && r->recording.event_cycles)
		c.kernel_ns_per_event = report_ns(r, r->recording.event_cycles);
	/* the CPU time of magnet's processes is known only once the recording has ended */
	if (!json_integer_value(json_object_get(r->session, "duration_ns")))
		return c;
	c.cpu_share = c.setup_cpu_ns = 0;
	add_recorder(&c, kernel, "cpu_ns", duration);
	add_recorder(&c, app, "daemon_cpu_ns", duration);
	if (!isnan(c.app_ns_per_call))
		c.cpu_share += c.app_ns_per_call * (double)r->recording.app_events / duration;
	if (!isnan(c.kernel_ns_per_event))
		c.cpu_share +=
			c.kernel_ns_per_event * (double)r->recording.kernel_events / duration;
	if (json_object_get(app, "lttng_session")) /* its daemons work for others, too */
		c.cpu_share = NAN;
	return c;
}

const char *report_no_switch_cost(const struct report *r)
{
	struct fact_hook hook;
	uintptr_t at = 0;

	if (mg_events_have(core_hooked(r->core, 0), MG_EVENT_sched_cost))
		return NULL;
	while (core_next_hook(r->core, &at, &hook))
		if (hook.event == MG_EVENT_sched_cost)
			return "this kernel does not report it (Linux 6.15 and newer do)";
	if (r->recording.kernel_tracer)
		return "the kernel's tracer does not record it";
	return "not recorded (--layers +switch)";
}

bool report_has_window(const struct report *r)
{
	return r->filter && filter_has_window(r->filter);
}

bool report_next_mark(const struct report *r, uintptr_t *at, struct fact_mark *to)
{
	while (core_next_mark(r->core, at, to))
		if (!r->filter || filter_takes_fact(r->filter, r->core, FACT_mark, to))
			return true;
	return false;
}

bool report_has_app(const struct report *r)
{
	return r->recording.app_events || json_is_object(json_object_get(r->session, "app"));
}

double report_steal_share(const struct report *r)
{
	const json_t *steal = json_object_get(r->session, "steal_ns");

	return json_is_integer(steal) ? (double)json_integer_value(steal) /
						(report_duration_ns(r) * report_cpus(r))
				      : NAN;
}
