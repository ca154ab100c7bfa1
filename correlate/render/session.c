/* SPDX-License-Identifier: MIT */
#include "session.h"

void session_tell(struct core *core, const json_t *session)
{
	const json_t *readings = json_object_get(session, "clock"), *one;
	size_t i;

	core_know_times(core, (uint64_t)json_integer_value(json_object_get(session, "start_ns")),
		(uint64_t)json_integer_value(json_object_get(session, "stop_ns")));
	if (json_is_false(json_object_get(session, "counter_invariant")))
		core->clock.ns_only = true;
	if (!json_is_null(json_object_get(session, "kernel_side")) &&
		!json_object_get(json_object_get(session, "kernel_side"), "missing"))
		return;
	json_array_foreach (readings, i, one)
		core_give_clock(core, (uint64_t)json_integer_value(json_object_get(one, "mono_ns")),
			(uint64_t)json_integer_value(json_object_get(one, "cycles")),
			(uint32_t)json_integer_value(json_object_get(one, "half_width")));
}
