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
#include "pager.h"
#include "render/table.h"
#include "render/wrap.h"

static struct output_options chosen;

static const char *const colour_names[] = {"auto", "always", "never"};

static bool parse_colour(const struct option_row *row, const char *text, void *value)
{
	(void)row;
	for (uint8_t i = 0; i < sizeof(colour_names) / sizeof(colour_names[0]); i++)
		if (strcmp(text, colour_names[i]) == 0) {
			*(uint8_t *)value = i;
			return true;
		}
	return option_refuse("auto, always or never");
}

const struct option_type output_type_colour = {parse_colour, NULL};

void output_choose(const struct output_options *o)
{
	chosen = *o;
}

bool output_is_terminal(FILE *stream)
{
	return isatty(fileno(stream)) || (stream == stdout && pager_runs());
}

/* Returns whether text is in colour. Call before a pager is started. */
static bool in_colour(void)
{
	const char *no = getenv("NO_COLOR"), *term = getenv("TERM");

	if (chosen.colour != COLOUR_AUTO)
		return chosen.colour == COLOUR_ALWAYS;
	return output_is_terminal(stdout) && !(no && *no) && !(term && strcmp(term, "dumb") == 0);
}

/* The terminal's size, and the columns to fill; 0 where there is none. */
static struct winsize terminal;
static int columns;

/* Returns a size from a variable, if it is set, else the terminal's. */
static int size_of(const char *variable, int otherwise)
{
	const char *set = getenv(variable);
	uint64_t n;

	return set && option_number(set, 1, 10000, &n) ? (int)n : otherwise;
}

bool output_for_screen(void)
{
	errno = 0;
	mg_checked(setlocale(LC_CTYPE, ""));
	text_set_unicode(strcmp(nl_langinfo(CODESET), "UTF-8") == 0);
	return in_colour();
}

void output_begin(struct output *o)
{
	output_for_screen();
	if (!pager_runs() && ioctl(STDOUT_FILENO, TIOCGWINSZ, &terminal) != 0)
		terminal = (struct winsize){0};
	columns = size_of("COLUMNS", terminal.ws_col);
	text_set_columns(columns);
	o->colour = in_colour();
	o->is_data = false;
	o->to = mg_text_open(&o->text, &o->size);
}

static int lines_of(const char *text)
{
	int n = 0;

	for (; (text = strchr(text, '\n')); text++)
		n++;
	return n;
}

static void print(const char *text, size_t size)
{
	/* the shell's prompt needs a line, too */
	if (!chosen.no_pager && lines_of(text) >= size_of("LINES", terminal.ws_row))
		pager_start();
	fwrite(text, 1, size, stdout);
}

/* Returns the text with lines as wide as the terminal; NULL without memory. */
static char *wrapped(const char *text, size_t *size)
{
	char *out;
	FILE *to = mg_text_open(&out, size);

	if (!to)
		return NULL;
	text_wrap(text, to);
	return mg_text_close(to, &out) ? out : NULL;
}

void output_end(struct output *o)
{
	char *text;
	size_t size;

	if (!mg_text_close(o->to, &o->text))
		return;
	if (o->is_data || !columns) { /* programs search lines */
		print(o->text, o->size);
	} else {
		text = wrapped(o->text, &size);
		if (text)
			print(text, size);
		free(text);
	}
	free(o->text);
	o->text = NULL;
}

void output_page(void)
{
	if (!chosen.no_pager)
		pager_start();
}

int output_finish(const char *what)
{
	if (fflush(stdout) == 0 && !ferror(stdout))
		return EXIT_DONE;
	mg_error("cannot write %s: %s", what, strerror(errno));
	return EXIT_FAILED;
}
