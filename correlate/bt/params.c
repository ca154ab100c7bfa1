/* SPDX-License-Identifier: MIT */
#include "params.h"

#include <stdio.h>

#include "json_memory.h"
#include "render/session.h"

static bool is_number(const bt_value *v)
{
	return bt_value_is_signed_integer(v) || bt_value_is_unsigned_integer(v) ||
	       bt_value_is_real(v);
}

bool params_ok(const bt_value *params, const struct param *known, char *bad, size_t size)
{
	uint64_t seen = 0;

	for (; known->name; known++) {
		const bt_value *v = bt_value_map_borrow_entry_value_const(params, known->name);

		if (!v)
			continue;
		seen++;
		if (known->type == PARAM_TEXT ? !bt_value_is_string(v) : !is_number(v)) {
			snprintf(bad, size, "parameter `%s` must be a %s", known->name,
				known->type == PARAM_TEXT ? "string" : "number");
			return false;
		}
	}
	if (seen == bt_value_map_get_size(params))
		return true;
	snprintf(bad, size, "unknown parameter (see babeltrace2 help, or magnet-plugin(7))");
	return false;
}

const char *param_text(const bt_value *params, const char *name)
{
	const bt_value *v = bt_value_map_borrow_entry_value_const(params, name);

	return v && bt_value_is_string(v) ? bt_value_string_get(v) : NULL;
}

bool param_number(const bt_value *params, const char *name, double *value)
{
	const bt_value *v = bt_value_map_borrow_entry_value_const(params, name);

	if (!v || !is_number(v))
		return false;
	*value = bt_value_is_real(v)             ? bt_value_real_get(v)
		 : bt_value_is_signed_integer(v) ? (double)bt_value_integer_signed_get(v)
						 : (double)bt_value_integer_unsigned_get(v);
	return true;
}

bool param_session(
	const bt_value *params, struct core *core, json_t **session, char *bad, size_t size)
{
	const char *path = param_text(params, "session");

	if (!path)
		return true;
	json_memory_begin();
	*session = session_load(path, true, bad, size);
	json_memory_end();
	if (!*session) {
		if (!*bad)
			snprintf(bad, size, "%s is not there", path);
		return false;
	}
	session_tell(core, *session);
	return true;
}
