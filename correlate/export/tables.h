/* SPDX-License-Identifier: MIT */
/* A directory with a file of text for each fact: tab-separated values, or CSV by RFC 4180. */
#ifndef MAGNET_CORRELATE_EXPORT_TABLES_H
#define MAGNET_CORRELATE_EXPORT_TABLES_H

#include "export/export.h"

bool tsv_begin(struct export *e);
bool tsv_end(struct export *e, bool is_read);
bool csv_begin(struct export *e);
bool csv_end(struct export *e, bool is_read);

#endif
