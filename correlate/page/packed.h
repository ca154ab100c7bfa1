/* SPDX-License-Identifier: MIT */
/* Numbers in few bytes, as page/data.mjs reads them: variable length, deflate, base64. */
#ifndef MAGNET_CORRELATE_PAGE_PACKED_H
#define MAGNET_CORRELATE_PAGE_PACKED_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct packed {
	uint8_t *bytes;
	size_t n, cap;
};

/* Adds a number: seven bits a byte, the lowest first, the eighth says that more follow. */
void packed_add(struct packed *p, uint64_t value);
/* Writes all of it to a page and frees it. */
void packed_write(struct packed *p, FILE *to);

#endif
