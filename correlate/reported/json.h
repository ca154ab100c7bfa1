/* SPDX-License-Identifier: MIT */
/* Figures as JSON, by the table. */
#ifndef MAGNET_CORRELATE_REPORTED_JSON_H
#define MAGNET_CORRELATE_REPORTED_JSON_H

#include <jansson.h>

#include "reported/getters.h"

/* Returns an object with the figures of a scope; `of` points to what it is asked of. */
json_t *figures_json(const struct scope *scope, const void *of);
/* Returns one value; null if it is not known. */
json_t *value_json(struct value v);

/* The same with the type checked: json_of_call(figures) and so on. */
#define MG_JSON_OF(S, ctype, doc)                          \
	static inline json_t *json_of_##S(const ctype *of) \
	{                                                  \
		return figures_json(&scope_##S, of);       \
	}
MG_SCOPES(MG_JSON_OF)
#undef MG_JSON_OF

#endif
