/* SPDX-License-Identifier: MIT */
#include "page/packed.h"

#include <stdlib.h>
#include <zlib.h>

#include "alloc.h"

#define LONGEST 10 /* bytes of a number */
/* The level that zlib has by default takes a third longer for 2 % less. */
#define LEVEL 5

void packed_add(struct packed *p, uint64_t value)
{
	if (p->cap - p->n < LONGEST) {
		size_t cap = p->cap ? 2 * p->cap : 4096;
		uint8_t *more = mg_realloc(p->bytes, cap);

		if (!more)
			return;
		p->bytes = more;
		p->cap = cap;
	}
	for (; value > 127; value >>= 7)
		p->bytes[p->n++] = (uint8_t)(value | 128);
	p->bytes[p->n++] = (uint8_t)value;
}

static void write_base64(const uint8_t *at, size_t n, FILE *to)
{
	static const char digit[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

	for (size_t i = 0; i < n; i += 3) {
		size_t there = n - i < 3 ? n - i : 3;
		uint32_t bits = (uint32_t)at[i] << 16;

		if (there > 1)
			bits |= (uint32_t)at[i + 1] << 8;
		if (there > 2)
			bits |= at[i + 2];
		for (size_t k = 0; k < 4; k++)
			putc_unlocked(k <= there ? digit[bits >> (18 - 6 * k) & 63] : '=', to);
	}
}

void packed_write(struct packed *p, FILE *to)
{
	uLongf size = compressBound(p->n);
	uint8_t *small = mg_malloc(size);

	if (small && compress2(small, &size, p->bytes, p->n, LEVEL) == Z_OK)
		write_base64(small, size, to);
	free(small);
	free(p->bytes);
	*p = (struct packed){0};
}
