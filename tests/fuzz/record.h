/* SPDX-License-Identifier: MIT */
/*
 * Input of the core's target: one byte of options, then events of equal size, so that mutations
 * leave other events in place. Payloads are laid out as in the event table.
 */
#ifndef MAGNET_TESTS_FUZZ_RECORD_H
#define MAGNET_TESTS_FUZZ_RECORD_H

#include <stdbool.h>
#include <stdint.h>

#include "event.h"

#define RECORD_PAYLOAD 88 /* longest payload of the table */

struct record {
	uint8_t id;
	uint8_t scale; /* its low 6 bits shift the time difference left */
	int16_t cpu;
	int32_t delta; /* ns since the previous event; negative values test invalid order */
	uint32_t tid, pid;
	uint8_t payload[RECORD_PAYLOAD];
};

/*
 * Id of LTTng's discarded events, which are not in the event table; payload: count, from_ns, to_ns.
 */
#define RECORD_LOST_APP 126

#define OPTION_CLOCK   1 /* a clock reading is known before the first event */
#define OPTION_NS_ONLY 2
#define OPTION_LISTEN  4 /* all events are shown */
#define OPTION_TSV     8
#define OPTION_DEMAND  16 /* all statistics on demand */

/*
 * Converts a record to an event; returns false if it is none. `time_ns` holds the previous event's
 * time and is advanced to this one's.
 */
bool record_to_event(const struct record *r, uint64_t *time_ns, struct mg_event *e);
/* Converts an event to a record; `before_ns` is the previous event's time. */
void record_from_event(struct record *r, const struct mg_event *e, uint64_t before_ns);

#endif
