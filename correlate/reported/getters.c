/* SPDX-License-Identifier: MIT */
#include "reported/getters.h"

#include <assert.h>
#include <string.h>

#include "reported/rows.h"

#define MG_UNIT_NAME(ID, name) name,
const char *const unit_names[UNITS] = {MG_UNITS(MG_UNIT_NAME)};

struct value figure_value(const struct figure *figure, const void *of)
{
	return figure->known->is && !figure->known->is(of) ? value_unknown()
							   : figure->get.value(of);
}

const struct figure *figure_of(const struct scope *s, const char *name)
{
	for (int i = 0; i < s->figures; i++) {
		const struct figure *g = &s->figure[i], *of = g;

		if (g->type == FIGURE_PART)
			of = figure_of(g->child, name);
		else if (strcmp(g->name, name) != 0)
			of = NULL;
		if (of)
			return of;
	}
	return NULL;
}

const char *figure_label(const struct scope *s, const char *name)
{
	const struct figure *g = figure_of(s, name);

	assert(g && g->label);
	return g->label;
}

#define WORD(ID, name) name,
static const char *const words_of_MG_STATES[] = {MG_STATES(WORD)};

MG_DEFINE_SCOPES(MG_REPORT_SCOPES)
