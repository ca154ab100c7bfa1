/* SPDX-License-Identifier: MIT */
/* Describes a layout of records to readers, as schema.json has it. */
#ifndef MAGNET_CORRELATE_EXPORT_SCHEMA_H
#define MAGNET_CORRELATE_EXPORT_SCHEMA_H

#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>

#include "export/layout.h"

/* Returns name, doc, record_bytes and columns; NULL without memory. */
json_t *schema_of_layout(const struct record_layout *l);
/* Writes the whole schema. Returns false without memory. */
bool schema_print(const json_t *schema, FILE *to);

#endif
