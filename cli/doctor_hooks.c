/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "doctor.h"
#include "event_table.h"

const char *doctor_text(const json_t *j, const char *key, const char *otherwise)
{
	const char *s = json_string_value(json_object_get(j, key));

	return s ? s : otherwise;
}

/* Attached, or the only one to say why not. */
static const json_t *outcome(const json_t *hooks, const char *layer, const char *event)
{
	const json_t *h, *found = NULL;
	size_t i;

	json_array_foreach (hooks, i, h) {
		if (strcmp(doctor_text(h, "layer", ""), layer) != 0 ||
			strcmp(doctor_text(h, "hook", ""), event) != 0)
			continue;
		if (!found || json_integer_value(json_object_get(h, "status")) == 0)
			found = h;
	}
	return found;
}

static bool is_first(const json_t *hooks, size_t index, const char *layer, const char *event)
{
	const json_t *h;
	size_t i;

	json_array_foreach (hooks, i, h)
		if (strcmp(doctor_text(h, "layer", ""), layer) == 0 &&
			strcmp(doctor_text(h, "hook", ""), event) == 0)
			return i == index;
	return false;
}

const json_t *doctor_hook_missing(const json_t *hooks, size_t index)
{
	const json_t *h = json_array_get(hooks, index);
	const char *layer = doctor_text(h, "layer", ""), *event = doctor_text(h, "hook", "");

	if (!is_first(hooks, index, layer, event))
		return NULL;
	h = outcome(hooks, layer, event);
	return json_integer_value(json_object_get(h, "status")) ? h : NULL;
}

json_t *doctor_not_observable(const json_t *hooks)
{
	const char *why = hooks ? "" : "the kernel side does not work";
	json_t *list = json_pack("[o]", doctor_native_xdp());
	const json_t *h;
	char text[256];
	size_t i;

	json_array_foreach (hooks, i, h)
		if (mg_hook_is_of_lock(doctor_text(h, "hook", "")) &&
			json_integer_value(json_object_get(h, "status")) != 0)
			why = doctor_text(h, "why", "");
	if (!why[0])
		return list;
	snprintf(text, sizeof(text),
		"waiting for a socket's lock and releasing it have no tracepoint, and the "
		"functions cannot be hooked: %.60s; waits are known all the same (locked_out_ns)",
		why);
	json_array_insert_new(list, 0,
		json_pack("{s:s, s:s}", "what", "states lock and release of system calls", "why",
			text));
	return list;
}

void doctor_print_not_observable(const json_t *list)
{
	const json_t *one;
	size_t i;

	json_array_foreach (list, i, one)
		printf("not observable: %s: %s\n", doctor_text(one, "what", "?"),
			doctor_text(one, "why", "?"));
}

void doctor_print_hooks(const json_t *hooks)
{
	for (int layer = 0; layer < MG_LAYER_END; layer++) {
		const char *name = mg_layer_names[layer];
		bool named = false;
		const json_t *h;
		size_t i;

		json_array_foreach (hooks, i, h) {
			const char *event = doctor_text(h, "hook", "?"), *why;
			int status;

			if (!is_first(hooks, i, name, event))
				continue;
			h = outcome(hooks, name, event);
			status = (int)json_integer_value(json_object_get(h, "status"));
			why = doctor_text(h, "why", "");
			printf("  %-9s  %-28s  ", named ? "" : name, event);
			named = true;
			if (status == 0)
				printf("%s\n", doctor_text(h, "by", ""));
			else
				printf("none: %s\n", why[0] ? why : strerror(-status));
		}
	}
}
