/* SPDX-License-Identifier: MIT */
#include "export/tables.h"

#include <errno.h>
#include <stdlib.h>

#include "alloc.h"
#include "export/text_file.h"
#include "render/show_facts.h"

struct tables {
	struct text_file file[FACTS];
	struct show_facts show[FACTS];
};

static bool close_all(struct export *e, bool is_kept)
{
	struct tables *t = e->state;
	bool good = true;

	for (int i = 0; i < FACTS; i++)
		good = text_file_close(&t->file[i], e, is_kept) && good;
	for (int i = 0; i < FACTS && !good; i++)
		text_file_remove(&t->file[i]);
	if (!is_kept || !good)
		export_remove_directory(e);
	free(t);
	return good;
}

static bool begin(struct export *e, const char *suffix, bool csv)
{
	struct tables *t = mg_calloc(1, sizeof(*t));

	if (!t)
		return export_refuse(e, e->to, ENOMEM);
	if (!export_directory(e)) {
		free(t);
		return false;
	}
	e->state = t;
	for (int i = 0; i < FACTS; i++) {
		struct show_facts *s = &t->show[i];

		if (!text_file_open(&t->file[i], e, "%s.%s", fact_table[i].name, suffix)) {
			close_all(e, false);
			return false;
		}
		s->to = t->file[i].to;
		s->core = e->core;
		s->fact = &fact_table[i];
		s->filter = e->filter && !filter_lacks(e->filter, (enum fact)i) ? e->filter : NULL;
		s->csv = csv;
		show_facts_header(s);
		show_facts_listen(s);
	}
	return true;
}

bool tsv_begin(struct export *e)
{
	return begin(e, "tsv", false);
}

bool csv_begin(struct export *e)
{
	return begin(e, "csv", true);
}

bool tsv_end(struct export *e, bool is_read)
{
	return close_all(e, is_read);
}

bool csv_end(struct export *e, bool is_read)
{
	return close_all(e, is_read);
}
