/* SPDX-License-Identifier: MIT */
#include "text_in_program.h"

#include <string.h>

#include "reported/getters.h"
#include "text.h"

#define PORTS_SHOWN 4
#define PARTS_SHOWN 5
#define TIMES_SHOWN 3

static void port(const struct exchange_group_figures *f, struct table *t)
{
	const struct exchange_key *k = &f->g->key;
	const char *program = k->program[0] ? text_plain(k->program, 15) : "?";
	struct program_part_figures part;
	uint32_t shown = 0;
	char words[128], name[64];

	if (k->port)
		snprintf(name, sizeof(name), "%s :%u", program, k->port);
	else
		snprintf(name, sizeof(name), "%s", program);
	for (uintptr_t at = 0;
		shown < PARTS_SHOWN && next_exchange_group_program_parts(f, &at, &part); shown++) {
		program_words(&part.row->key, words);
		table_row(t, "  %s\t%s\t%s\t%s\t%s\t%s", shown ? "" : name, words,
			text_value(get_program_part_share(&part), IN_SHARE),
			text_value(get_program_part_share_p50(&part), IN_SHARE),
			text_value(get_program_part_share_p99(&part), IN_SHARE),
			text_value(get_program_part_max_ns(&part), IN_NS));
	}
}

void text_in_program(const struct report *r, FILE *to, bool colour)
{
	struct report_figures all = {.r = r};
	struct exchange_group_figures f;
	struct table t;
	uint32_t shown = 0;

	for (uintptr_t at = 0; shown < PORTS_SHOWN && next_whole_exchanges(&all, &at, &f);) {
		if (!f.g->program.n)
			continue;
		if (!shown++) {
			table_begin(&t, "llrrrr");
			table_drops(&t, "2");
			table_row(&t, "  %s\t%s\t%s\t%s\t%s\t%s", "in the program", "",
				LABEL(program_part, share), LABEL(program_part, share_p50),
				LABEL(program_part, share_p99), LABEL(program_part, max_ns));
		}
		port(&f, &t);
	}
	if (!shown)
		return;
	table_print(&t, to, 0, colour);
}

void text_program_times(const struct slow_exchange_figures *f, FILE *to)
{
	struct program_time_figures part;
	char words[128];
	uint32_t shown = 0;

	for (uintptr_t at = 0;
		shown < TIMES_SHOWN && next_slow_exchange_program_parts(f, &at, &part); shown++) {
		program_words(&part.time->key, words);
		fprintf(to, "%s%s %s", shown ? ", " : "\n    in the program: ", words,
			text_value(get_program_time_ns(&part), IN_NS));
	}
}
