/* SPDX-License-Identifier: MIT */
/*
 * Inputs of several parts, each with its length in two bytes in front, the least significant first.
 */
#ifndef MAGNET_TESTS_FUZZ_PARTS_H
#define MAGNET_TESTS_FUZZ_PARTS_H

#include "direct/direct.h"

/* Returns the next part, as far as the input goes; `from` becomes the rest. */
static inline struct direct_bytes take_part(struct direct_bytes *from)
{
	struct direct_bytes part = {from->data, 0};

	if (from->size < 2)
		return part;
	part.size = (size_t)(from->data[0] | from->data[1] << 8);
	from->data += 2;
	from->size -= 2;
	if (part.size > from->size)
		part.size = from->size;
	part.data = from->data;
	from->data += part.size;
	from->size -= part.size;
	return part;
}

#endif
