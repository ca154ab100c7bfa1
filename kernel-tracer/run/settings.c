/* SPDX-License-Identifier: MIT */
#include "run/settings.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "options.h"
#include "hooks/hook_table.h"
#include "hooks/hooks.h"
#include "run/commands.h"
#include "run/open_connections.h"
#include "run/outcomes.h"
#include "run/selection.h"

/*
 * Attaches and detaches hooks. Notes one change for each layer, since a list would not fit an
 * event, and one where `protocols` changed with them.
 */
static int change_layers(struct run *r, const struct tracer_options *new, bool protocols)
{
	char text[PATH_MAX];
	uint32_t layers = new->hooks.layers, changed = r->options.hooks.layers ^ layers;
	int err = run_set_layers(r, layers);

	run_time_connections(r);
	r->options.given.layers = new->given.layers;
	selection_text(&new->hooks.settings, "protocol", text, sizeof(text));
	if (protocols)
		run_note_change(r, "protocol", text);
	for (int i = 0; i < MG_LAYER_END; i++)
		if (changed & 1u << i)
			run_note_change(r, mg_layer_names[i], layers & 1u << i ? "on" : "off");
	return err;
}

/* Makes the changed options those of the run. Returns 0 or a negative errno. */
static int change(struct run *r, const struct option_row *row, const char *value,
	const struct tracer_options *changed)
{
	const struct mg_bpf_settings *was = &r->options.hooks.settings,
				     *new = &changed->hooks.settings;
	bool protocols = (was->active ^ new->active) & MG_FILTERS_PROTOCOL;
	int err;

	err = hooks_set(&r->hooks, &changed->hooks.settings);
	if (err)
		return err;
	r->options.hooks.settings = changed->hooks.settings;
	r->options.chose_protocols = changed->chose_protocols;
	if (row->type == &option_type_layers)
		return change_layers(r, changed, protocols);
	r->options = *changed;
	err = run_set_layers(r, r->options.hooks.layers); /* the filters may need other hooks */
	if (err)
		return err;
	if (row->use & MG_FILTER)
		run_time_connections(r);
	/* ports and addresses are what --anonymize leaves out */
	run_note_change(r, option_row_name(row),
		row->use & MG_FILTER && r->options.given.anonymize ? "anonymized" : value);
	return 0;
}

static void list_settable(char *why, size_t size)
{
	size_t used = (size_t)snprintf(why, size, "no such setting; these can be set:");
	const char *comma = "";

	for (size_t i = 0; i < recorder_option_count; i++)
		if (recorder_option_rows[i].use & MG_SETTABLE && used < size) {
			used += (size_t)snprintf(why + used, size - used, "%s %s", comma,
				option_row_name(&recorder_option_rows[i]));
			comma = ",";
		}
}

int setting_set(struct run *r, const char *name, const char *value, char *why, size_t size)
{
	const struct option_row *row =
		option_find(recorder_option_rows, recorder_option_count, name);
	struct tracer_options changed = r->options;
	int err;

	if (!row || !(row->use & MG_SETTABLE)) {
		list_settable(why, size);
		return -EINVAL;
	}
	if (tracer_options_set(&changed, row, value, why, size))
		return -EINVAL;
	err = change(r, row, value, &changed);
	if (err)
		snprintf(why, size, "%s cannot be set: %s", name, strerror(-err));
	return err;
}

static json_t *list_json(const struct option_list *l)
{
	json_t *j = json_array();

	for (size_t i = 0; i < l->count; i++)
		json_array_append_new(j, json_string(l->text[i]));
	return j;
}

/* Options that can be set are texts, as `set` takes them; others have the JSON type of their own.
 */
static json_t *value_json(const struct run *r, const struct option_row *row)
{
	const void *value = (const char *)&r->options.given + row->at;
	char text[PATH_MAX];

	if (row->use & MG_FILTER) {
		selection_text(
			&r->options.hooks.settings, option_row_name(row), text, sizeof(text));
		return json_string(text);
	}
	if (row->type == &option_type_flag)
		return json_boolean(*(const bool *)value);
	if (row->type->is_list)
		return list_json(value);
	option_text(row, &r->options.given, text, sizeof(text));
	if (!text[0])
		return json_null();
	if (row->use & MG_SETTABLE ||
		(row->type != &option_type_number && row->type != &option_type_size))
		return json_string(text);
	return json_integer((json_int_t) * (const uint64_t *)value);
}

json_t *settings_all(const struct run *r)
{
	json_t *all = json_object();

	for (size_t i = 0; i < recorder_option_count; i++) {
		const struct option_row *row = &recorder_option_rows[i];

		if (row->commands & MG_TRACER && !(row->use & OPTION_LAST))
			json_object_set_new(all, option_row_name(row), value_json(r, row));
	}
	return all;
}
