/* SPDX-License-Identifier: MIT */
/*
 * Times and sizes of the application's writes, for ns-3: for each flow that sends, a file for
 * UdpTraceClient (times in ms) and one for TraceFileBurstGenerator (in ns), and a list of the
 * flows.
 */
#ifndef MAGNET_CORRELATE_EXPORT_NS3_H
#define MAGNET_CORRELATE_EXPORT_NS3_H

#include "export/export.h"

bool ns3_begin(struct export *e);
bool ns3_end(struct export *e, bool is_read);

#endif
