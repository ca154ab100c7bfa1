/* SPDX-License-Identifier: MIT */
/* The table of what can be set while the tracer records. */
#include "run/settings.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "options.h"
#include "hooks/hook_table.h"
#include "hooks/hooks.h"
#include "run/commands.h"
#include "run/outcomes.h"
#include "run/selection.h"

/* Each returns false if the value is none, and changes nothing then. */
static bool set_drain(struct run *r, const char *value, int *err)
{
	uint64_t n;

	(void)err;
	if (!option_number(value, 1, 10000, &n))
		return false;
	r->options.drain_ms = (unsigned int)n;
	run_note_change(r, "drain", value);
	return true;
}

static void get_drain(const struct run *r, char *text, size_t size)
{
	snprintf(text, size, "%u", r->options.drain_ms);
}

/* One change a layer: the list would not fit an event. */
static bool set_layers(struct run *r, const char *value, int *err)
{
	uint32_t before = r->options.hooks.layers, layers;

	if (!option_layers(value, &layers))
		return false;
	*err = run_set_layers(r, layers);
	for (int i = 0; i < MG_LAYER_END; i++)
		if ((before ^ layers) & 1u << i) {
			char what[16];

			snprintf(what, sizeof(what), "%.15s", mg_layer_names[i]);
			run_note_change(r, what, layers & 1u << i ? "on" : "off");
		}
	return true;
}

static void get_layers(const struct run *r, char *text, size_t size)
{
	size_t used = 0;

	snprintf(text, size, "none");
	for (int i = 0; i < MG_LAYER_END; i++)
		if (r->options.hooks.layers & 1u << i)
			used += (size_t)snprintf(text + used, size - used, "%s%s", used ? "," : "",
				mg_layer_names[i]);
}

/* What the programs are told. */
static int tell(struct run *r, const struct mg_bpf_settings *s, const char *name, const char *value)
{
	int err = hooks_set(&r->hooks, s);

	if (err)
		return err;
	r->options.hooks.settings = *s;
	run_note_change(r, name, value);
	return 0;
}

static bool set_level(struct run *r, const char *value, int *err)
{
	struct mg_bpf_settings s = r->options.hooks.settings;

	if (!option_level(value, &s.level))
		return false;
	*err = tell(r, &s, "level", value);
	return true;
}

static void get_level(const struct run *r, char *text, size_t size)
{
	static const char *const names[] = {"none", "light", "full"};

	snprintf(text, size, "%s", names[r->options.hooks.settings.level % 3]);
}

static const struct setting {
	const char *name, *values;
	bool (*set)(struct run *r, const char *value, int *err);
	void (*get)(const struct run *r, char *text, size_t size);
} settings[] = {
	{"drain", "1 to 10000, milliseconds", set_drain, get_drain},
	{"layers", "of " MG_LAYER_CHOICES ", or none", set_layers, get_layers},
	{"level", "none, light or full", set_level, get_level},
};
#define COUNT (sizeof(settings) / sizeof(settings[0]))

static int set_filter(struct run *r, const char *name, const char *value, char *why, size_t size)
{
	struct mg_bpf_settings s = r->options.hooks.settings;
	int used = snprintf(why, size, "bad value for %s: ", name);
	int err = selection_set(&s, name, value, why + used, size - (size_t)used);

	if (!err) {
		/* ports and addresses are what --anonymize leaves out */
		err = tell(r, &s, name, r->options.hooks.anonymize ? "anonymized" : value);
		snprintf(why, size, "%s cannot be set: %s", name, strerror(-err));
	}
	return err;
}

int setting_set(struct run *r, const char *name, const char *value, char *why, size_t size)
{
	size_t used = 0;
	int err = 0;

	for (size_t i = 0; i < COUNT; i++) {
		if (strcmp(settings[i].name, name) != 0)
			continue;
		if (!settings[i].set(r, value, &err)) {
			snprintf(why, size, "bad value for %s: %s", name, settings[i].values);
			return -EINVAL;
		}
		if (err)
			snprintf(why, size, "%s cannot be set: %s", name, strerror(-err));
		return err;
	}
	if (selection_is(name))
		return set_filter(r, name, value, why, size);
	used = (size_t)snprintf(why, size, "nothing of this name can be set; there are");
	for (size_t i = 0; i < COUNT; i++)
		used += (size_t)snprintf(
			why + used, size - used, "%s %s", i ? "," : "", settings[i].name);
	for (int i = 0; selection_names[i]; i++)
		used += (size_t)snprintf(why + used, size - used, ", %s", selection_names[i]);
	return -EINVAL;
}

json_t *settings_all(const struct run *r)
{
	json_t *all = json_object();
	char text[200];

	for (size_t i = 0; i < COUNT; i++) {
		settings[i].get(r, text, sizeof(text));
		json_object_set_new(all, settings[i].name, json_string(text));
	}
	for (int i = 0; selection_names[i]; i++) {
		selection_text(&r->options.hooks.settings, selection_names[i], text, sizeof(text));
		json_object_set_new(all, selection_names[i], json_string(text));
	}
	return all;
}
