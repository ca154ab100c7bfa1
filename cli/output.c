/* SPDX-License-Identifier: MIT */
#include "output.h"

#include <errno.h>
#include <langinfo.h>
#include <locale.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "alloc.h"
#include "commands.h"
#include "log.h"
#include "options.h"
#include "render/table.h"

bool output_is_terminal(FILE *stream)
{
	return isatty(fileno(stream));
}

/* Returns COLUMNS if it is set, else the width of the terminal; 0 without either. */
static int columns(void)
{
	const char *set = getenv("COLUMNS");
	struct winsize size;
	uint64_t n;

	if (set && option_number(set, 1, 10000, &n))
		return (int)n;
	if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0)
		return size.ws_col;
	return 0;
}

void output_begin(struct output *o)
{
	errno = 0;
	mg_checked(setlocale(LC_CTYPE, ""));
	text_set_unicode(strcmp(nl_langinfo(CODESET), "UTF-8") == 0);
	text_set_columns(columns());
	o->colour = output_is_terminal(stdout) && !getenv("NO_COLOR");
	o->to = mg_text_open(&o->text, &o->size);
}

void output_end(struct output *o)
{
	if (mg_text_close(o->to, &o->text))
		fwrite(o->text, 1, o->size, stdout);
	free(o->text);
	o->text = NULL;
}

int output_finish(const char *what)
{
	if (fflush(stdout) == 0 && !ferror(stdout))
		return EXIT_DONE;
	mg_error("cannot write %s: %s", what, strerror(errno));
	return EXIT_FAILED;
}
