/* SPDX-License-Identifier: MIT */
#include "page/texts.h"

#include <string.h>

#include "hash.h"
#include "render/report.h"

struct text_entry {
	char *text;
	uint32_t number;
	UT_hash_handle hh;
};

uint32_t texts_number(struct texts *t, const char *text)
{
	struct text_entry *e;

	HASH_FIND_STR(t->table, text, e);
	if (e)
		return e->number;
	e = mg_calloc(1, sizeof(*e));
	if (e)
		e->text = mg_strdup(text);
	if (!e || !e->text) {
		free(e);
		return 0;
	}
	e->number = HASH_COUNT(t->table);
	HASH_ADD_KEYPTR(hh, t->table, e->text, strlen(e->text), e);
	if (e->hh.tbl)
		return e->number;
	free(e->text);
	free(e);
	return 0;
}

json_t *texts_json(const struct texts *t)
{
	json_t *all = json_array();

	for (const struct text_entry *e = t->table; e; e = e->hh.next)
		json_array_append_new(all, json_text(e->text));
	return all;
}

void texts_free(struct texts *t)
{
	struct text_entry *e, *next;

	HASH_ITER (hh, t->table, e, next) {
		HASH_DEL(t->table, e);
		free(e->text);
		free(e);
	}
}
