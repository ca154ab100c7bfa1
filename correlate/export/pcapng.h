/* SPDX-License-Identifier: MIT */
/* --format pcapng: packets with headers rebuilt from events (magnet-export(1)). */
#ifndef MAGNET_CORRELATE_EXPORT_PCAPNG_H
#define MAGNET_CORRELATE_EXPORT_PCAPNG_H

#include "export/export.h"

bool pcapng_begin(struct export *e);
bool pcapng_end(struct export *e, bool is_read);

#endif
