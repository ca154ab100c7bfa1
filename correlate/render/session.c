/* SPDX-License-Identifier: MIT */
#include "session.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "plain_file.h"

#define SESSION_MAX (16u << 20) /* bytes; a command line has 6 MB at most */
#define VALUES_MAX  262144      /* each takes up to 300 bytes of memory */

/* Returns a bound of the number of JSON values, from the punctuation outside strings. */
static size_t count_values(const char *text, size_t size)
{
	bool quoted = false;
	size_t n = 0;

	for (size_t i = 0; i < size; i++) {
		if (quoted && text[i] == '\\')
			i++;
		else if (text[i] == '"')
			quoted = !quoted;
		else if (!quoted && (text[i] == ',' || text[i] == '{' || text[i] == '['))
			n++;
	}
	return n;
}

/* Nesting is bounded by jansson: 2,048 levels. */
json_t *session_load(const char *path, bool named, char *why, size_t why_size)
{
	json_t *session = NULL;
	json_error_t error;
	size_t size = 0;
	char *text;

	*why = 0;
	text = named ? plain_file_read_named(path, SESSION_MAX, &size)
		     : plain_file_read(path, SESSION_MAX, &size);
	if (!text) {
		if (errno != ENOENT && errno != ENOTDIR)
			snprintf(why, why_size, "%.700s: %s", path, plain_file_problem(errno));
		return NULL;
	}
	if (count_values(text, size) > VALUES_MAX)
		snprintf(why, why_size, "%.700s holds more than %d values", path, VALUES_MAX);
	else if (!(session = json_loadb(text, size, 0, &error)))
		snprintf(why, why_size, "%.700s is damaged (line %d: %s)", path, error.line,
			error.text);
	free(text);
	return session;
}

void session_tell(struct core *core, const json_t *session)
{
	const json_t *readings = json_object_get(session, "clock"), *one;
	size_t i;

	core_know_times(core, (uint64_t)json_integer_value(json_object_get(session, "start_ns")),
		(uint64_t)json_integer_value(json_object_get(session, "stop_ns")));
	if (json_is_false(json_object_get(session, "counter_invariant")))
		core_know_no_rate(core);
	if (!json_is_null(json_object_get(session, "kernel_side")) &&
		!json_object_get(json_object_get(session, "kernel_side"), "missing"))
		return;
	json_array_foreach (readings, i, one)
		core_give_clock(core, (uint64_t)json_integer_value(json_object_get(one, "mono_ns")),
			(uint64_t)json_integer_value(json_object_get(one, "cycles")),
			(uint32_t)json_integer_value(json_object_get(one, "half_width")));
}
