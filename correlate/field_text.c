/* SPDX-License-Identifier: MIT */
#include "field_text.h"

#include <inttypes.h>

void field_text_words(FILE *to, const char *s, size_t length)
{
	for (const unsigned char *p = (const unsigned char *)s; length--; p++)
		fputc(*p <= ' ' || *p == 0x7f ? '_' : *p, to);
}

void field_text_number(FILE *to, uint64_t value, bool is_signed, bool is_hex, bool in_array)
{
	if (is_signed)
		fprintf(to, "%" PRId64, (int64_t)value);
	else if (is_hex && in_array) /* bytes, one after the other */
		fprintf(to, "%02" PRIx64, value);
	else
		fprintf(to, is_hex ? "0x%" PRIx64 : "%" PRIu64, value);
}
