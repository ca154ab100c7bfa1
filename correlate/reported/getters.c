/* SPDX-License-Identifier: MIT */
#include "reported/getters.h"

#include "reported/rows.h"

#define MG_UNIT_NAME(ID, name) name,
const char *const unit_names[UNITS] = {MG_UNITS(MG_UNIT_NAME)};

struct value figure_value(const struct figure *figure, const void *of)
{
	return figure->known->is && !figure->known->is(of) ? value_unknown()
							   : figure->get.value(of);
}

#define WORD(ID, name) name,
static const char *const words_of_MG_STATES[] = {MG_STATES(WORD)};

MG_DEFINE_SCOPES(MG_REPORT_SCOPES)
