/* SPDX-License-Identifier: MIT */
/*
 * A core's sums by blocks of time, to measure how a figure varies within a recording. The core's
 * totals are read at the end of each block, so the core does no extra work; there are at most
 * SAMPLING_BLOCKS blocks, which double in width as the recording goes on.
 */
#ifndef MAGNET_CORRELATE_SAMPLING_H
#define MAGNET_CORRELATE_SAMPLING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/contract.h"
#include "hash.h"
#include "reported/table_beside.h"

#define SAMPLING_BLOCKS 256

enum subject_kind { SUBJECT_EXCHANGES, SUBJECT_CALL, SUBJECT_FLOW, SUBJECT_SCHEDULER };

/*
 * Role of a flow or of requests, by which those of two recordings are matched, as their cookies
 * differ. All flows of one role are one subject.
 */
struct subject_key {
	uint8_t what; /* enum subject_kind */
	uint8_t kind; /* kind of socket, MG_KIND_* */
	uint8_t rx, side;
	uint16_t call; /* as in struct call_key */
	uint16_t port; /* port of the server; the lower one where the server is not known */
};

/* Sums of each subject; most are rows of the table. */
#define SUM(name, value) name,
enum call_sum { MG_COMPARED_CALL_SUMS(SUM) CALL_SUMS };
enum flow_sum {
	FLOW_STAGE,
	FLOW_STAGE_WEIGHT = FLOW_STAGE + STAGES_MAX,
	FLOW_HELD = FLOW_STAGE_WEIGHT + STAGES_MAX, /* wait in the send buffer, by reason */
	FLOW_MOVED = FLOW_HELD + WHYS, /* bytes times cycles of their shift: J's numerator */
	FLOW_MOVED_WEIGHT,
	FLOW_GAP,
	FLOW_GAPS,
	FLOW_UNITS_FROM,
	FLOW_UNITS_TO,
	FLOW_TIMED, /* stages of sends by the kernel's timestamps */
	FLOW_TIMED_N = FLOW_TIMED + TIMED_STAGES,
	FLOW_TIMED_AT_MOST = FLOW_TIMED_N + TIMED_STAGES,
	FLOW_TIMED_AT_MOST_N,
	MG_COMPARED_FLOW_SUMS(SUM) FLOW_SUMS,
};
enum scheduler_sum { MG_COMPARED_SCHEDULER_SUMS(SUM) SCHEDULER_SUMS };
#undef SUM
#define SUMS_MAX FLOW_SUMS

struct subject {
	struct subject_key key;
	double block[SUMS_MAX][SAMPLING_BLOCKS];
	UT_hash_handle hh;
};

struct sampling {
	struct core *core;
	struct subject *subjects;
	struct seen *seen; /* totals read so far, for each flow and call */
	uint64_t start_ns, width_ns;
	size_t at; /* present block */
	bool begun;
	bool left_out; /* set if there are more roles than fit */
};

/* Returns the role of a flow. */
struct subject_key subject_of_flow(const struct fact_flow *f);

void sampling_init(struct sampling *s, struct core *core);
/* Listener for core_listen(); `arg` is a struct sampling. */
void sampling_event(void *arg, const struct mg_event *e, const struct annotation *a);
/* Ends the last block. Call it after core_finish(). */
void sampling_finish(struct sampling *s);
void sampling_free(struct sampling *s);
const struct subject *sampling_find(const struct sampling *s, const struct subject_key *key);

#endif
