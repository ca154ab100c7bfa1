/* SPDX-License-Identifier: MIT */
/* The layer "wire" as JSON, by the table of figures. */
#ifndef MAGNET_CORRELATE_CAPTURE_WIRE_JSON_H
#define MAGNET_CORRELATE_CAPTURE_WIRE_JSON_H

#include <jansson.h>

#include "capture/wire.h"

/* Returns a new reference. */
json_t *wire_json(const struct wire *w);

#endif
