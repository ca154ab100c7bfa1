/* SPDX-License-Identifier: MIT */
/* The JSON report of a core, and access to its values. */
#ifndef MAGNET_TESTS_REPORTED_H
#define MAGNET_TESTS_REPORTED_H

#include <jansson.h>

#include "connection.h"

/* Returns the report of a filled core and frees the core. */
json_t *reported(struct core *c);
/* Returns the report of the recording in connection.h. */
json_t *reported_connection(void);

/* Returns the value at a path such as "flows.0.modulation.M"; fails the test if there is none. */
const json_t *at(const json_t *j, const char *path);
/* Checks that an object has these fields, names separated by spaces. */
void assert_fields(const json_t *j, const char *path, const char *names);
void assert_null_at(const json_t *j, const char *path);
void assert_number_at(const json_t *j, const char *path, double expected);

#endif
