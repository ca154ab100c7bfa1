/* SPDX-License-Identifier: MIT */
/* Facts as tab-separated values, or as CSV: a header, then a row a fact. */
#ifndef MAGNET_CORRELATE_RENDER_SHOW_FACTS_H
#define MAGNET_CORRELATE_RENDER_SHOW_FACTS_H

#include <stdbool.h>
#include <stdio.h>

#include "core/contract.h"
#include "filter/filter.h"
#include "line.h"

struct show_facts {
	FILE *to;
	struct core *core;
	const struct fact_desc *fact;
	const char *flow;            /* the only flow to print; NULL prints all */
	const struct filter *filter; /* NULL prints all */
	bool csv; /* as RFC 4180 has it, with plain names in the header; else tab-separated */
	bool has_header;
	struct line line;
};

/* The name of a column's type in the header; NULL for FACT_TYPE_SPANS, whose columns are of
 * FACT_TYPE_SPAN. */
const char *fact_type_name(enum fact_type type);
/* Writes the names of all columns, once: with their types, name:type, if separated by tabs. */
void show_facts_header(struct show_facts *s);
/* Returns whether a kind of facts is about flows. */
bool fact_has_flow(const struct fact_desc *fact);
/* Prints every fact of `s->fact` from now on; `s` is the caller's until the core is freed. */
void show_facts_listen(struct show_facts *s);

#endif
