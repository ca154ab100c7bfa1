/* SPDX-License-Identifier: MIT */
/* A line of JSON for each interval of magnet top. */
#ifndef MAGNET_CLI_TOP_JSON_H
#define MAGNET_CLI_TOP_JSON_H

#include "top.h"

/* Prints the interval that ended last. Returns false after a message if it cannot be written. */
bool top_json(const struct top *t);

#endif
