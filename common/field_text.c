/* SPDX-License-Identifier: MIT */
#include "field_text.h"

#include <inttypes.h>

#include "line.h"

void field_text_words(FILE *to, const char *s, size_t length)
{
	struct line l;

	l.to = to;
	l.used = 0;
	line_words(&l, s, length);
	line_flush(&l);
}

void field_text_number(FILE *to, uint64_t value, bool is_signed, bool is_hex, bool in_array)
{
	if (is_signed)
		fprintf(to, "%" PRId64, (int64_t)value);
	else if (is_hex && in_array) /* bytes, without separators */
		fprintf(to, "%02" PRIx64, value);
	else
		fprintf(to, is_hex ? "0x%" PRIx64 : "%" PRIu64, value);
}
