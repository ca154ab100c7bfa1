/* SPDX-License-Identifier: MIT */
/*
 * Lines of the Universal Logger Message format, as NetLogger has them: an event of a call or of a
 * packet each, in order of time.
 */
#ifndef MAGNET_CORRELATE_EXPORT_ULM_H
#define MAGNET_CORRELATE_EXPORT_ULM_H

#include "export/export.h"

bool ulm_begin(struct export *e);
bool ulm_end(struct export *e, bool is_read);

#endif
