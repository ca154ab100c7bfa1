/* SPDX-License-Identifier: MIT */
/*
 * A core's sums by blocks of time, for those who ask how much a figure varies within a recording.
 * It reads the core's totals at the end of each block, so the core itself does no more than else;
 * the blocks are at most SAMPLING_BLOCKS and double in width as the recording goes on.
 */
#ifndef MAGNET_CORRELATE_SAMPLING_H
#define MAGNET_CORRELATE_SAMPLING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core.h"
#include "hash.h"

#define SAMPLING_BLOCKS 256

enum subject_kind { SUBJECT_CALL, SUBJECT_FLOW, SUBJECT_SCHEDULER };

/*
 * Flows of two recordings have other cookies: they are told by their role. All flows of a role are
 * one subject.
 */
struct subject_key {
	uint8_t what; /* enum subject_kind */
	uint8_t kind; /* of socket, MG_KIND_* */
	uint8_t rx, side;
	uint16_t call; /* as in struct call_key */
	uint16_t port; /* of the server; the lower one where nobody knows who that is */
};

/* What is summed for each. */
enum call_sum {
	CALL_TOTAL,
	CALL_N,
	CALL_OVERHEAD,
	CALL_OVERHEAD_N,
	CALL_BLOCKING,
	CALL_BLOCKING_N,
	CALL_BLOCKED,
	CALL_COMPLETE,
	CALL_PROBES,
};
enum flow_sum {
	FLOW_STAGE,
	FLOW_STAGE_WEIGHT = FLOW_STAGE + STAGES_MAX,
	FLOW_HELD = FLOW_STAGE_WEIGHT + STAGES_MAX, /* of the send buffer, by reason */
	FLOW_RESIDENCE = FLOW_HELD + WHYS,
	FLOW_RESIDENCE_WEIGHT,
	FLOW_MOVED, /* bytes times the cycles they were moved by: J's numerator */
	FLOW_MOVED_WEIGHT,
	FLOW_GAP,
	FLOW_GAPS,
	FLOW_UNITS_FROM,
	FLOW_UNITS_TO,
	FLOW_BYTES,
	FLOW_LIFE, /* cycles from its first event to its last */
	FLOW_WIRE,
	FLOW_AGAIN,
	FLOW_SEGMENTS,
	FLOW_SUMS,
};
enum scheduler_sum { SCHED_WAKEUP, SCHED_WAKEUP_N, SCHED_WAIT, SCHED_WAIT_N };
#define SUMS_MAX FLOW_SUMS

struct subject {
	struct subject_key key;
	double block[SUMS_MAX][SAMPLING_BLOCKS];
	UT_hash_handle hh;
};

struct sampling {
	struct core *core;
	struct subject *subjects;
	struct seen *seen; /* what was read of each flow and call so far */
	uint64_t start_ns, width_ns;
	size_t at; /* the block that is being filled */
	bool begun;
	bool left_out; /* more roles than are told apart */
};

void sampling_init(struct sampling *s, struct core *core);
/* A listener for core_listen(); `arg` is a struct sampling. */
void sampling_event(void *arg, const struct mg_event *e, const struct annotation *a);
/* After core_finish(). */
void sampling_finish(struct sampling *s);
void sampling_free(struct sampling *s);
const struct subject *sampling_find(const struct sampling *s, const struct subject_key *key);

#endif
