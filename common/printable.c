/* SPDX-License-Identifier: MIT */
#include "printable.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

/* Returns the bytes of a UTF-8 character and its number, 1 and -1 if it is none. */
static size_t decode(const unsigned char *s, size_t size, int32_t *number)
{
	static const int32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
	size_t n = *s < 0x80             ? 1
		   : (*s & 0xe0) == 0xc0 ? 2
		   : (*s & 0xf0) == 0xe0 ? 3
		   : (*s & 0xf8) == 0xf0 ? 4
					 : 0;
	int32_t v = n > 1 ? *s & (0x7f >> n) : *s;

	*number = -1;
	if (!n || n > size)
		return 1;
	for (size_t i = 1; i < n; i++) {
		if ((s[i] & 0xc0) != 0x80)
			return 1;
		v = v << 6 | (s[i] & 0x3f);
	}
	if (v < least[n] || v > 0x10ffff || (v >= 0xd800 && v < 0xe000))
		return 1;
	*number = v;
	return n;
}

size_t mg_character(const char *s, size_t size, bool *may)
{
	static const struct {
		int32_t from, to;
	} refused[] = {
		{-1, 0x1f},                           /* not UTF-8, and C0 */
		{0x7f, 0x9f},                         /* DEL and C1 */
		{0x61c, 0x61c}, {0x200e, 0x200f},     /* marks of direction */
		{0x2028, 0x202e}, {0x2066, 0x2069},   /* ends of lines, and more of direction */
		{0xfff9, 0xfffb}, {0xe0000, 0xe007f}, /* annotations and tags, which nobody sees */
	};
	int32_t c;
	size_t n;

	*may = true;
	if (*s >= ' ' && *s < 0x7f) /* nearly always */
		return 1;
	n = decode((const unsigned char *)s, size, &c);
	for (size_t i = 0; i < sizeof(refused) / sizeof(refused[0]); i++)
		*may = *may && (c < refused[i].from || c > refused[i].to);
	return n;
}

char *mg_escape(char *out, size_t room, const char *text)
{
	size_t left = strlen(text), used = 0;

	while (left) {
		bool may;
		size_t n = mg_character(text, left, &may), takes = may ? n : 4 * n;

		if (used + takes >= room)
			break;
		for (size_t i = 0; i < n && !may; i++)
			snprintf(out + used + 4 * i, 5, "\\x%02x", (unsigned char)text[i]);
		if (may)
			memcpy(out + used, text, n);
		used += takes;
		text += n;
		left -= n;
	}
	out[used] = 0;
	return out;
}
