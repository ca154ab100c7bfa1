/* SPDX-License-Identifier: MIT */
/* The JSON report of a core, and looking at what is in it. */
#ifndef MAGNET_TESTS_REPORTED_H
#define MAGNET_TESTS_REPORTED_H

#include <jansson.h>

#include "connection.h"

/* The report of a core that has been filled, which is freed. */
json_t *reported(struct core *c);
/* Of the recording in connection.h. */
json_t *reported_connection(void);

/* The value at a path such as "flows.0.modulation.M"; fails the test if there is none. */
const json_t *at(const json_t *j, const char *path);
/* An object must have these fields, names separated by spaces. */
void assert_fields(const json_t *j, const char *path, const char *names);
void assert_null_at(const json_t *j, const char *path);
void assert_number_at(const json_t *j, const char *path, double expected);

#endif
