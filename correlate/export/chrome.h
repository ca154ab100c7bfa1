/* SPDX-License-Identifier: MIT */
/*
 * JSON trace events, as Chrome's about:tracing, Perfetto's page and speedscope read them: calls and
 * waits of threads, exchanges, counters of connections, and an arrow from each sending call to the
 * call that received the bytes.
 */
#ifndef MAGNET_CORRELATE_EXPORT_CHROME_H
#define MAGNET_CORRELATE_EXPORT_CHROME_H

#include "export/export.h"

bool chrome_begin(struct export *e);
bool chrome_end(struct export *e, bool is_read);

#endif
