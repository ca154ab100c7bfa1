/* SPDX-License-Identifier: MIT */
#include "reading.h"

#include <errno.h>
#include <langinfo.h>
#include <locale.h>
#include <stdlib.h>
#include <string.h>

#include "alloc.h"
#include "commands.h"
#include "log.h"
#include "render/table.h"

void reading_begin(void)
{
	mg_memory_is_vital();
}

FILE *whole_text_begin(struct whole_text *t)
{
	errno = 0;
	mg_checked(setlocale(LC_CTYPE, ""));
	text_set_unicode(strcmp(nl_langinfo(CODESET), "UTF-8") == 0);
	t->to = mg_text_open(&t->text, &t->size);
	return t->to;
}

void whole_text_end(struct whole_text *t)
{
	if (mg_text_close(t->to, &t->text))
		fwrite(t->text, 1, t->size, stdout);
	free(t->text);
	t->text = NULL;
}

int printed(const char *what)
{
	if (fflush(stdout) == 0 && !ferror(stdout))
		return EXIT_DONE;
	mg_error("cannot write %s: %s", what, strerror(errno));
	return EXIT_FAILED;
}
