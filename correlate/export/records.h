/* SPDX-License-Identifier: MIT */
/*
 * Facts and events as tables of fixed-width little-endian records, which programs map into memory:
 * a directory with a file for each table, schema.json, which describes them, and strings.json, the
 * texts that records name by number.
 */
#ifndef MAGNET_CORRELATE_EXPORT_RECORDS_H
#define MAGNET_CORRELATE_EXPORT_RECORDS_H

#include "export/export.h"

bool records_begin(struct export *e);
bool records_end(struct export *e, bool is_read);

#endif
