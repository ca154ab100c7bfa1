/* SPDX-License-Identifier: MIT */
/*
 * Text for people: in the characters of the user's locale, in colour where a terminal shows it, as
 * wide as the terminal, and paged where it is longer. No other file asks for locale, colour or
 * width.
 */
#ifndef MAGNET_CLI_OUTPUT_H
#define MAGNET_CLI_OUTPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "option_table.h"

enum output_colour { COLOUR_AUTO, COLOUR_ALWAYS, COLOUR_NEVER };

/* Values of the options that all commands with such a text take. */
struct output_options {
	uint8_t colour;
	bool no_pager;
};

extern const struct option_type output_type_colour;

/* Rows of these options in a command's table; `member` is the struct above in the command's. */
#define OUTPUT_OPTION_ROWS(values, member)                                                         \
	OPTION_ROW(values, "color", 0, "WHEN", output_type_colour, member.colour,                  \
		"print in colour: auto (on a terminal, unless NO_COLOR is set), always or never"), \
		OPTION_ROW(values, "no-pager", 0, NULL, option_type_flag, member.no_pager,         \
			"print long output at once, not a screen at a time by $MAGNET_PAGER, "     \
			"$PAGER or less")

/* A text for stdout. It is printed when all of it is there, so that no part is taken for the whole.
 */
struct output {
	FILE *to; /* write here */
	bool colour;
	bool is_data; /* set it where programs read the text: its lines are never divided */
	char *text;
	size_t size;
};

/* Sets what was chosen by options; without it, the default of each. */
void output_choose(const struct output_options *o);
/* Begins a text, and sets up correlate's text functions for it. */
void output_begin(struct output *o);
/* Prints the text, through a pager where it is longer than the terminal. */
void output_end(struct output *o);
/* Does the same for a program that draws on the terminal. Returns whether it may use colour. */
bool output_for_screen(void);
/* Has all output from here on paged, of which the length is not known, where that is wanted. */
void output_page(void);
/*
 * Call when all is printed. Returns EXIT_DONE if it has been written; else EXIT_FAILED after a
 * message that names `what`.
 */
int output_finish(const char *what);
/* Whether the stream goes to a terminal, through a pager or not. */
bool output_is_terminal(FILE *stream);

#endif
