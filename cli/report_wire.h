/* SPDX-License-Identifier: MIT */
/* magnet report and show --pcap: a capture beside the recording. */
#ifndef MAGNET_CLI_REPORT_WIRE_H
#define MAGNET_CLI_REPORT_WIRE_H

#include "capture/reader.h"
#include "capture/wire.h"

struct report_wire {
	const char *path; /* NULL: there is no capture, and all functions do nothing */
	struct capture_reader capture;
	struct traffic traffic;
	struct wire wire;
};

/* Opens the capture and listens to the core. Returns false after a message. */
bool report_wire_begin(struct report_wire *w, const char *path, struct core *core);
/* Compares the two when the recording is read. Returns false after a message. */
bool report_wire_read(struct report_wire *w);
void report_wire_free(struct report_wire *w);

#endif
