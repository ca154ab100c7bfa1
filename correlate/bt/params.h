/* SPDX-License-Identifier: MIT */
/*
 * Component parameters: names and types are checked, so that a misspelt parameter is not ignored.
 */
#ifndef MAGNET_CORRELATE_BT_PARAMS_H
#define MAGNET_CORRELATE_BT_PARAMS_H

#include <babeltrace2/babeltrace.h>
#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/contract.h"

enum param_type { PARAM_TEXT, PARAM_NUMBER };
struct param {
	const char *name; /* NULL ends a list */
	enum param_type type;
};

/* Returns whether all parameters are known and of the right type; else `bad` gets the reason. */
bool params_ok(const bt_value *params, const struct param *known, char *bad, size_t size);
/* Returns the text, NULL if it is not given. */
const char *param_text(const bt_value *params, const char *name);
/* Returns a number of any kind in `value`; false if it is not given. */
bool param_number(const bt_value *params, const char *name, double *value);
/*
 * Reads session=FILE, the recording's session.json, and gives the core its clock. Returns false if
 * the file is damaged.
 */
bool param_session(
	const bt_value *params, struct core *core, json_t **session, char *bad, size_t size);

#endif
