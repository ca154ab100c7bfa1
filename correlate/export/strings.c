/* SPDX-License-Identifier: MIT */
#include "export/strings.h"

#include <string.h>

#include "export/json_text.h"
#include "hash.h"

struct string {
	UT_hash_handle hh;
	uint32_t number, length;
	char text[];
};

void strings_free(struct strings *s)
{
	HASH_CLEAR(hh, s->by_text);
	for (uint32_t i = 0; i < s->n; i++)
		free(s->of[i]);
	free(s->of);
	memset(s, 0, sizeof(*s));
}

static struct string *add(struct strings *s, const char *text, size_t length)
{
	struct string *new;

	if (s->n == s->room) {
		uint32_t room = s->room ? 2 * s->room : 256;
		struct string **of = mg_realloc(s->of, room * sizeof(struct string *));

		if (!of)
			return NULL;
		s->of = of;
		s->room = room;
	}
	new = mg_calloc(1, sizeof(*new) + length);
	if (!new)
		return NULL;
	memcpy(new->text, text, length);
	new->length = (uint32_t)length;
	new->number = s->n + 1;
	HASH_ADD_KEYPTR(hh, s->by_text, new->text, length, new);
	new = hash_kept(new);
	if (new)
		s->of[s->n++] = new;
	return new;
}

uint32_t strings_number(struct strings *s, const char *text, size_t length)
{
	struct string *found;

	if (!length)
		return 0;
	HASH_FIND(hh, s->by_text, text, length, found);
	if (!found)
		found = add(s, text, length);
	return found ? found->number : 0;
}

void strings_json(const struct strings *s, FILE *to)
{
	fputs("[\"\"", to);
	for (uint32_t i = 0; i < s->n; i++) {
		fputs(",\n", to);
		json_print_text(to, s->of[i]->text, s->of[i]->length);
	}
	fputs("]\n", to);
}
