/* SPDX-License-Identifier: MIT */
#include "rings/kernel_symbols.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct symbol {
	uint64_t address;
	uint32_t name, module; /* where they are in `text`; module 0: the kernel itself */
};

struct kernel_symbols {
	FILE *list; /* NULL: it was read, or cannot be */
	struct symbol *symbol;
	size_t count, room;
	char *text;
	size_t used, text_room;
	uint32_t last_module; /* modules' functions stand together */
};

struct kernel_symbols *kernel_symbols_open(void)
{
	struct kernel_symbols *k = calloc(1, sizeof(*k));

	if (k)
		k->list = fopen("/proc/kallsyms", "re");
	return k;
}

/* Returns where the copy of a text is; 0 without memory. */
static uint32_t keep_text(struct kernel_symbols *k, const char *text, size_t len)
{
	uint32_t at;

	if (k->used + len + 2 > k->text_room) {
		size_t room = k->text_room ? 2 * k->text_room : 1 << 20;
		char *more = realloc(k->text, room);

		if (!more)
			return 0;
		k->text = more;
		k->text_room = room;
	}
	if (!k->used)
		k->text[k->used++] = 0; /* so that no name is at 0 */
	at = (uint32_t)k->used;
	memcpy(k->text + at, text, len);
	k->text[at + len] = 0;
	k->used += len + 1;
	return at;
}

/* Returns where the name of a function's module is, 0 if it is the kernel's own. */
static uint32_t module_of(struct kernel_symbols *k, const char *rest)
{
	size_t len;

	if (*rest != '\t' || rest[1] != '[')
		return 0;
	rest += 2;
	len = strcspn(rest, "]");
	if (!k->last_module || strncmp(k->text + k->last_module, rest, len) != 0 ||
		k->text[k->last_module + len])
		k->last_module = keep_text(k, rest, len);
	return k->last_module;
}

static bool add(struct kernel_symbols *k, uint64_t address, const char *name)
{
	size_t len = strcspn(name, "\t\n");
	struct symbol s = {.address = address};

	if (k->count == k->room) {
		size_t room = k->room ? k->room * 2 : 65536;
		struct symbol *more = realloc(k->symbol, room * sizeof(*more));

		if (!more)
			return false;
		k->symbol = more;
		k->room = room;
	}
	s.name = keep_text(k, name, len);
	s.module = module_of(k, name + len);
	k->symbol[k->count++] = s;
	return s.name != 0;
}

static int by_address(const void *a, const void *b)
{
	const struct symbol *x = a, *y = b;

	return (x->address > y->address) - (x->address < y->address);
}

void kernel_symbols_read(struct kernel_symbols *k)
{
	char line[512];

	while (k->list && fgets(line, sizeof(line), k->list)) {
		char *end;
		uint64_t address = strtoull(line, &end, 16);

		/* parses address, type and name by hand; sscanf() would double the time */
		if (!address || end[0] != ' ' || (end[1] | 32) != 't' || end[2] != ' ')
			continue;
		if (!add(k, address, end + 3)) {
			k->count = 0; /* an incomplete table would give another function's name */
			break;
		}
	}
	if (k->list)
		fclose(k->list);
	k->list = NULL;
	qsort(k->symbol, k->count, sizeof(*k->symbol), by_address);
}

const char *kernel_symbol(const struct kernel_symbols *k, uint64_t address, const char **module)
{
	size_t low = 0, high = k->count;
	const struct symbol *s;

	while (low < high) {
		size_t middle = (low + high) / 2;

		if (k->symbol[middle].address <= address)
			low = middle + 1;
		else
			high = middle;
	}
	if (!low)
		return NULL;
	s = &k->symbol[low - 1];
	if (module)
		*module = s->module ? k->text + s->module : NULL;
	return k->text + s->name;
}

size_t kernel_symbols_count(const struct kernel_symbols *k)
{
	return k->count;
}

void kernel_symbols_free(struct kernel_symbols *k)
{
	if (!k)
		return;
	if (k->list)
		fclose(k->list);
	free(k->symbol);
	free(k->text);
	free(k);
}
