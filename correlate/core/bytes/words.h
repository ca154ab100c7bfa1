/* SPDX-License-Identifier: MIT */
/*
 * Compression of memory that is mostly zero: 64-bit words, of which zeros are counted and others
 * take the bytes they need. Times lie near each other, so their differences are stored.
 */
#ifndef MAGNET_CORRELATE_WORDS_H
#define MAGNET_CORRELATE_WORDS_H

#include <stddef.h>
#include <stdint.h>

/* Bytes that this many words need at most. */
#define WORDS_ROOM(n) ((n)*10 + 16)
/* Bytes that may be read beyond the last one. */
#define WORDS_BEYOND 8

/* Both return the end of the bytes. */
uint8_t *words_write(uint8_t *to, const void *words, size_t n);
/* The words must be zero before. */
const uint8_t *words_read(const uint8_t *from, void *words, size_t n);

#endif
