/* SPDX-License-Identifier: MIT */
/* Parameters of components: names and types are checked, so that a misspelt one passes for no
 * default. */
#ifndef MAGNET_CORRELATE_BT_PARAMS_H
#define MAGNET_CORRELATE_BT_PARAMS_H

#include <babeltrace2/babeltrace.h>
#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core.h"

enum param_type { PARAM_TEXT, PARAM_NUMBER };
struct param {
	const char *name; /* NULL ends a list */
	enum param_type type;
};

/* False, and why in `bad`, if there is another one or one of another type. */
bool params_ok(const bt_value *params, const struct param *known, char *bad, size_t size);
/* NULL if it is not given. */
const char *param_text(const bt_value *params, const char *name);
/* False if it is not given. Any kind of number will do. */
bool param_number(const bt_value *params, const char *name, double *value);
/* session=FILE: the recording's session.json, and the core gets its clock. False if it is damaged.
 */
bool param_session(
	const bt_value *params, struct core *core, json_t **session, char *bad, size_t size);

#endif
