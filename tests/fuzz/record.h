/* SPDX-License-Identifier: MIT */
/*
 * An input of the core's target: one byte of options, then events of one size each, so that
 * mutations leave the others in place. Payloads are laid out as in the event table.
 */
#ifndef MAGNET_TESTS_FUZZ_RECORD_H
#define MAGNET_TESTS_FUZZ_RECORD_H

#include <stdbool.h>
#include <stdint.h>

#include "event.h"

#define RECORD_PAYLOAD 88 /* the longest of the table */

struct record {
	uint8_t id;
	uint8_t scale; /* the time passed is shifted left by the low 6 bits of this */
	int16_t cpu;
	int32_t delta; /* since the event before, ns; negative ones test what must not be */
	uint32_t tid, pid;
	uint8_t payload[RECORD_PAYLOAD];
};

/* Not in the event table: LTTng's discarded events; payload: count, from_ns, to_ns. */
#define RECORD_LOST_APP 126

#define OPTION_CLOCK   1 /* a reading of the clock is known before the first event */
#define OPTION_NS_ONLY 2
#define OPTION_LISTEN  4 /* all events are shown */
#define OPTION_TSV     8
#define OPTION_DEMAND  16 /* all figures on demand */

/* False for one that is no event. `time_ns` is the event before's, and becomes this one's. */
bool record_to_event(const struct record *r, uint64_t *time_ns, struct mg_event *e);
/* `before_ns` is the time of the event before. */
void record_from_event(struct record *r, const struct mg_event *e, uint64_t before_ns);

#endif
