/* SPDX-License-Identifier: MIT */
#include "capture/block.h"

#include <stdlib.h>
#include <string.h>

#include "alloc.h"

void block_raw(struct block *b, const void *from, size_t size)
{
	if (b->room - b->n < size) {
		size_t room = 2 * (b->n + size) + 256;
		uint8_t *more = mg_realloc(b->v, room);

		if (!more) {
			b->failed = true;
			return;
		}
		b->v = more;
		b->room = room;
	}
	if (size)
		memcpy(b->v + b->n, from, size);
	b->n += size;
}

void block_16(struct block *b, uint16_t value)
{
	value = b->swapped ? __builtin_bswap16(value) : value;
	block_raw(b, &value, sizeof(value));
}

void block_32(struct block *b, uint32_t value)
{
	value = b->swapped ? __builtin_bswap32(value) : value;
	block_raw(b, &value, sizeof(value));
}

void block_64(struct block *b, uint64_t value)
{
	value = b->swapped ? __builtin_bswap64(value) : value;
	block_raw(b, &value, sizeof(value));
}

void block_bytes(struct block *b, const void *from, size_t size)
{
	static const uint8_t padding[4];

	block_raw(b, from, size);
	block_raw(b, padding, -size & 3);
}

void block_begin(struct block *b, uint32_t type)
{
	b->n = 0;
	b->failed = false;
	block_32(b, type);
	block_32(b, 0); /* block_finish() knows the length */
}

void block_option(struct block *b, uint16_t code, const void *value, size_t size)
{
	block_16(b, code);
	block_16(b, (uint16_t)size);
	block_bytes(b, value, size);
}

void block_text(struct block *b, uint16_t code, const char *text)
{
	size_t size = strlen(text);

	block_option(b, code, text, size < OPTION_MOST ? size : OPTION_MOST);
}

void block_finish(struct block *b)
{
	uint32_t length;

	block_32(b, 0); /* OPTION_END, of no length */
	block_32(b, 0);
	if (b->failed)
		return;
	length = b->swapped ? __builtin_bswap32((uint32_t)b->n) : (uint32_t)b->n;
	memcpy(b->v + 4, &length, 4);
	memcpy(b->v + b->n - 4, &length, 4);
}

bool block_write(const struct block *b, FILE *to)
{
	return !b->failed && fwrite(b->v, 1, b->n, to) == b->n;
}

void block_free(struct block *b)
{
	free(b->v);
	memset(b, 0, sizeof(*b));
}

void block_begin_section(struct block *b)
{
	block_begin(b, BLOCK_SECTION);
	block_32(b, BLOCK_MAGIC);
	block_16(b, 1); /* version 1.0 */
	block_16(b, 0);
	block_64(b, UINT64_MAX); /* the section's length is not given */
}

void block_begin_interface(struct block *b, uint16_t link_type, uint32_t snaplen)
{
	block_begin(b, BLOCK_INTERFACE);
	block_16(b, link_type);
	block_16(b, 0);
	block_32(b, snaplen);
}

void block_begin_packet(struct block *b, uint32_t interface, uint64_t ticks, const void *data,
	uint32_t length, uint32_t original)
{
	block_begin(b, BLOCK_PACKET);
	block_32(b, interface);
	block_32(b, (uint32_t)(ticks >> 32));
	block_32(b, (uint32_t)ticks);
	block_32(b, length);
	block_32(b, original);
	block_bytes(b, data, length);
}
