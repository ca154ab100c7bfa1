/* SPDX-License-Identifier: MIT */
/*
 * Statistics on demand. They need every packet one by one, so the core must have kept them
 * (figures_keep_series()). Each has a name and may have parameters.
 */
#ifndef MAGNET_CORRELATE_DEMAND_H
#define MAGNET_CORRELATE_DEMAND_H

#include <jansson.h>
#include <stdint.h>
#include <stdio.h>

#include "table.h"

struct fact_flow;
struct report;

/* clang-format off */
#define DEMAND_ID(NAME, ...) DEMAND_##NAME,
enum demand_figure { MG_DEMAND_STATISTICS(DEMAND_ID) MG_DEMAND_WHOLE(DEMAND_ID) DEMAND_FIGURES };
#undef DEMAND_ID

/* bits of the statistics of all flows together */
#define DEMAND_BIT_FLOW(NAME)                      0
#define DEMAND_BIT_ALL(NAME)                       (1u << DEMAND_##NAME)
#define DEMAND_BIT_IF_ALL(NAME, key, name, OF, ...) | DEMAND_BIT_##OF(NAME)
#define DEMAND_OF_ALL                              (0 MG_DEMAND_WHOLE(DEMAND_BIT_IF_ALL))

/* X(NAME, kind of value): parameters; the user writes the names in lower case */
#define DEMAND_PARAMETERS(X) \
	X(GAP, MS) X(BIN, MS) X(RATE, BIT_S) X(BUCKET, BYTES) X(SCR, NUMBER) X(PCR, NUMBER) \
	X(LINE, BIT_S) X(LINK, BYTES) X(FROM, NUMBER) X(TO, NUMBER) X(MIN, BYTES)
/* clang-format on */
#define DEMAND_PARAMETER_ID(NAME, kind) DEMAND_##NAME,
enum demand_parameter { DEMAND_PARAMETERS(DEMAND_PARAMETER_ID) DEMAND_PARAMETERS_END };
#undef DEMAND_PARAMETER_ID

/* Memory limit of all packets kept, bytes; some 30 million packets. */
#define DEMAND_MEMORY (256u << 20)

struct demand {
	uint32_t figures; /* bits 1 << enum demand_figure */
	double parameter[DEMAND_FIGURES][DEMAND_PARAMETERS_END];
};

/*
 * Parses "ks,bursts:gap=5,contract:rate=10Mbit:bucket=32KiB", or "all". Returns 0, or -EINVAL with
 * the reason in `why`.
 */
int demand_parse(struct demand *d, const char *text, char *why, size_t why_size);
/* Prints all names with their parameters. */
void demand_list(FILE *to);
/* Returns the statistic's key in JSON. */
const char *demand_key(enum demand_figure figure);

/* Returns the chosen statistics of one flow, by demand_key(); a new reference. */
json_t *demand_of_flow(const struct report *r, const struct fact_flow *f);
/* Returns those of all flows together; a new reference. */
json_t *demand_of_all(const struct report *r);

#endif
