/* SPDX-License-Identifier: MIT */
/*
 * Memory that is zero for the most part, in few bytes: words of 64 bits, of which zeros are counted
 * and others take the bytes they need. Times lie near each other: the distance from the last one is
 * kept.
 */
#ifndef MAGNET_CORRELATE_WORDS_H
#define MAGNET_CORRELATE_WORDS_H

#include <stddef.h>
#include <stdint.h>

/* The room that so many words need at most, bytes. */
#define WORDS_ROOM(n) ((n)*10 + 16)
/* Bytes that may be read beyond the last one. */
#define WORDS_BEYOND 8

/* Both return where the bytes end. */
uint8_t *words_write(uint8_t *to, const void *words, size_t n);
/* The words are zero before. */
const uint8_t *words_read(const uint8_t *from, void *words, size_t n);

#endif
