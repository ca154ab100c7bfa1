/* SPDX-License-Identifier: MIT */
#include "export/json_text.h"

#include <stdbool.h>

#include "printable.h"

void json_print_text(FILE *to, const char *text, size_t length)
{
	fputc('"', to);
	while (length) {
		bool may;
		size_t n = mg_character(text, length, &may);

		if (!may)
			fputc('_', to);
		else if (*text == '"' || *text == '\\')
			fprintf(to, "\\%c", *text);
		else
			fwrite(text, 1, n, to);
		text += n;
		length -= n;
	}
	fputc('"', to);
}
