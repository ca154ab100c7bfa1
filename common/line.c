/* SPDX-License-Identifier: MIT */
#include "line.h"

#include <math.h>

#include "printable.h"

void line_flush(struct line *l)
{
	fwrite_unlocked(l->at, 1, l->used, l->to);
	l->used = 0;
}

void line_bytes(struct line *l, const char *s, size_t length)
{
	if (length > sizeof(l->at) - l->used) {
		line_flush(l);
		if (length > sizeof(l->at)) {
			fwrite_unlocked(s, 1, length, l->to);
			return;
		}
	}
	memcpy(l->at + l->used, s, length);
	l->used += length;
}

void line_words(struct line *l, const char *s, size_t length)
{
	while (length) {
		bool may;
		size_t n = mg_character(s, length, &may);

		if (!may || *s == ' ')
			line_char(l, '_');
		else
			line_bytes(l, s, n);
		s += n;
		length -= n;
	}
}

/* Returns how many decimal digits a number has. */
static uint32_t digits_of(uint64_t value)
{
	static const uint64_t power[] = {0, 10, 100, 1000, 10000, 100000, 1000000, 10000000,
		100000000, 1000000000, 10000000000, 100000000000, 1000000000000, 10000000000000,
		100000000000000, 1000000000000000, 10000000000000000, 100000000000000000,
		1000000000000000000, 10000000000000000000u};
	/* log10(2) is 1233 / 4096, too small by less than one digit */
	uint32_t n = (64 - (uint32_t)__builtin_clzll(value | 1)) * 1233 >> 12;

	return n + (value >= power[n]);
}

void line_unsigned(struct line *l, uint64_t value)
{
	static const char pairs[] = "00010203040506070809101112131415161718192021222324"
				    "25262728293031323334353637383940414243444546474849"
				    "50515253545556575859606162636465666768697071727374"
				    "75767778798081828384858687888990919293949596979899";
	uint32_t digits = digits_of(value);
	char *at;

	if (sizeof(l->at) - l->used < LINE_NUMBER)
		line_flush(l);
	l->used += digits;
	at = l->at + l->used;
	while (value >= 100) {
		at -= 2;
		memcpy(at, pairs + value % 100 * 2, 2);
		value /= 100;
	}
	if (value >= 10)
		memcpy(at - 2, pairs + value * 2, 2);
	else
		at[-1] = (char)('0' + value);
}

void line_signed(struct line *l, int64_t value)
{
	if (value < 0)
		line_char(l, '-');
	line_unsigned(l, value < 0 ? -(uint64_t)value : (uint64_t)value);
}

void line_hex(struct line *l, uint64_t value)
{
	char digits[LINE_NUMBER];
	size_t at = sizeof(digits);

	do {
		digits[--at] = "0123456789abcdef"[value & 15];
		value >>= 4;
	} while (value);
	line_bytes(l, "0x", 2);
	line_bytes(l, digits + at, sizeof(digits) - at);
}

void line_tenths(struct line *l, double value)
{
	double tenths = value * 10, below = floor(tenths);
	double half = tenths - below - 0.5;
	char text[32];
	uint64_t rounded;

	/* the product is rounded itself: next to a half, only the exact value says which way */
	if (!(value >= 0 && tenths < 1e15) || fabs(half) < 1e-9 * (tenths + 1)) {
		line_bytes(l, text, (size_t)snprintf(text, sizeof(text), "%.1f", value));
		return;
	}
	rounded = (uint64_t)below + (half > 0);
	line_unsigned(l, rounded / 10);
	line_char(l, '.');
	line_char(l, (char)('0' + rounded % 10));
}

void line_number(struct line *l, double value)
{
	char text[32];

	line_bytes(l, text, (size_t)snprintf(text, sizeof(text), "%.12g", value));
}
