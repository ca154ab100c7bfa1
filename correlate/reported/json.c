/* SPDX-License-Identifier: MIT */
#include "reported/json.h"

#include "render/report.h"

json_t *value_json(struct value v)
{
	switch (v.kind) {
	case VALUE_COUNT:
		return json_integer((json_int_t)v.count);
	case VALUE_SIGNED:
		return json_integer(v.signed_count);
	case VALUE_NUMBER:
		return json_real(v.number);
	case VALUE_TEXT:
		return json_text(v.text);
	case VALUE_FLAG:
		return json_boolean(v.flag);
	case VALUE_ANY:
		return json_deep_copy(v.any);
	case VALUE_GIVEN:
		return v.given;
	default:
		return json_null();
	}
}

static json_t *object(const struct figure *g, const void *of)
{
	union any_figures child;

	return g->get.into(of, &child) ? figures_json(g->child, &child) : json_null();
}

static json_t *list(const struct figure *g, const void *of)
{
	json_t *all = json_array();
	union any_figures child;
	uintptr_t at = 0;

	while (g->get.next(of, &at, &child))
		json_array_append_new(all, figures_json(g->child, &child));
	return all;
}

static json_t *texts(const struct figure *g, const void *of)
{
	json_t *all = json_array();
	uintptr_t at = 0;
	struct value v;

	while ((v = g->get.next_text(of, &at)).kind != VALUE_UNKNOWN)
		json_array_append_new(all, value_json(v));
	return all;
}

/* Returns an object of null where the figure is not known: its members are always there. */
static json_t *words(const struct figure *g, const void *of, bool known)
{
	json_t *all = json_object();

	for (int i = 0; i < g->words_n; i++)
		json_object_set_new_nocheck(
			all, g->words[i], value_json(known ? g->get.word(of, i) : value_unknown()));
	return all;
}

static void add(json_t *to, const struct scope *scope, const void *of)
{
	for (int i = 0; i < scope->figures; i++) {
		const struct figure *g = &scope->figure[i];
		bool known = !g->known->is || g->known->is(of);
		union any_figures part;
		json_t *j;

		if (g->type == FIGURE_PART) {
			if (!known)
				continue;
			g->get.into(of, &part);
			add(to, g->child, &part);
			continue;
		}
		if (g->type == FIGURE_WORDS)
			j = words(g, of, known);
		else if (!known)
			j = json_null();
		else if (g->type == FIGURE_OBJECT)
			j = object(g, of);
		else if (g->type == FIGURE_LIST)
			j = list(g, of);
		else if (g->type == FIGURE_TEXTS)
			j = texts(g, of);
		else
			j = value_json(g->get.value(of));
		json_object_set_new_nocheck(to, g->name, j);
	}
}

json_t *figures_json(const struct scope *scope, const void *of)
{
	json_t *j = json_object();

	add(j, scope, of);
	return j;
}
