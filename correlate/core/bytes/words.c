/* SPDX-License-Identifier: MIT */
/*
 * Encodes words: before each non-zero word stands a byte that gives the number of zeros before it
 * (0 to 6, or 7 and the number of the others in following bytes), and its encoding: low bytes, high
 * bytes (the last bytes of a floating-point number are often zero), or the distance from the last
 * time, times two and inverted if negative. A byte with the form END ends the sequence.
 */

#include "bytes/words.h"

#include <endian.h>
#include <stdbool.h>
#include <string.h>

#define ZEROS_MANY 7
#define FORM_BITS  5
#define FORM_MASK  ((1u << FORM_BITS) - 1)
enum { END = 0, LOW = 0, HIGH = 8, NEAR = 15 }; /* and the number of bytes: 1 to 8, 7, 8 */

/* Words in this range count as times: floating-point numbers are larger. */
#define TIME_FROM (1ull << 32)
#define TIME_TO   (1ull << 56)

static bool is_time(uint64_t v)
{
	return v >= TIME_FROM && v < TIME_TO;
}

static unsigned int bytes_of(uint64_t v)
{
	return (71u - (unsigned int)__builtin_clzll(v | 1)) / 8;
}

/* Writes eight bytes: the next write overwrites the surplus. */
static uint8_t *write_bytes(uint8_t *to, uint64_t v, unsigned int n)
{
	v = htole64(v);
	memcpy(to, &v, sizeof(v));
	return to + n;
}

static uint64_t read_bytes(const uint8_t *from, unsigned int n)
{
	uint64_t v;

	memcpy(&v, from, sizeof(v));
	v = le64toh(v);
	return n < 8 ? v & ((1ull << 8 * n) - 1) : v;
}

static uint8_t *write_zeros(uint8_t *to, size_t more)
{
	for (; more >= 128; more >>= 7)
		*to++ = (uint8_t)(more | 128);
	*to++ = (uint8_t)more;
	return to;
}

static const uint8_t *read_zeros(const uint8_t *from, size_t *zeros)
{
	int shift = 0;

	for (; *from & 128; shift += 7)
		*zeros += (size_t)(*from++ & 127) << shift;
	*zeros += (size_t)*from++ << shift;
	return from;
}

static uint8_t *write_word(uint8_t *to, uint64_t v, size_t zeros, uint64_t *time)
{
	unsigned int low = bytes_of(v), high = 8 - (unsigned int)__builtin_ctzll(v) / 8;
	uint64_t distance = (v - *time) << 1 ^ -((v - *time) >> 63);
	unsigned int near = is_time(v) ? bytes_of(distance) : 9;
	unsigned int form = LOW + low, bytes = low;
	uint64_t written = v;

	if (near < low) {
		form = NEAR + near;
		bytes = near;
		written = distance;
	} else if (high < low) {
		form = HIGH + high;
		bytes = high;
		written = v >> (64 - 8 * high);
	}
	if (is_time(v))
		*time = v;
	*to++ = (uint8_t)((zeros < ZEROS_MANY ? zeros : ZEROS_MANY) << FORM_BITS | form);
	if (zeros >= ZEROS_MANY)
		to = write_zeros(to, zeros - ZEROS_MANY);
	return write_bytes(to, written, bytes);
}

uint8_t *words_write(uint8_t *to, const void *words, size_t n)
{
	const uint8_t *from = words;
	uint64_t v, time = 0;
	size_t zeros = 0;

	for (size_t i = 0; i < n; i++) {
		memcpy(&v, from + i * sizeof(v), sizeof(v));
		if (!v) {
			zeros++;
			continue;
		}
		to = write_word(to, v, zeros, &time);
		zeros = 0;
	}
	*to++ = END;
	return to;
}

const uint8_t *words_read(const uint8_t *from, void *words, size_t n)
{
	uint8_t *to = words;
	uint64_t v, time = 0;

	for (size_t i = 0; *from & FORM_MASK; i++) {
		unsigned int form = *from & FORM_MASK;
		size_t zeros = *from++ >> FORM_BITS;

		if (zeros == ZEROS_MANY)
			from = read_zeros(from, &zeros);
		i += zeros;
		if (i >= n)
			break;
		if (form > NEAR) {
			v = read_bytes(from, form - NEAR);
			v = time + (v >> 1 ^ -(v & 1));
			from += form - NEAR;
		} else if (form > HIGH) {
			v = read_bytes(from, form - HIGH) << (64 - 8 * (form - HIGH));
			from += form - HIGH;
		} else {
			v = read_bytes(from, form);
			from += form;
		}
		if (is_time(v))
			time = v;
		memcpy(to + i * sizeof(v), &v, sizeof(v));
	}
	return from + 1;
}
