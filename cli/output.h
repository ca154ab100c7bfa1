/* SPDX-License-Identifier: MIT */
/*
 * Text for people: in the characters of the user's locale, in colour where a terminal shows it, and
 * as wide as the terminal. No other file asks for locale, colour or width.
 */
#ifndef MAGNET_CLI_OUTPUT_H
#define MAGNET_CLI_OUTPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/* A text for stdout. It is printed when all of it is there, so that no part is taken for the whole.
 */
struct output {
	FILE *to; /* write here */
	bool colour;
	char *text;
	size_t size;
};

/* Begins a text, and sets up correlate's text functions for it. */
void output_begin(struct output *o);
/* Prints the text. */
void output_end(struct output *o);
/*
 * Call when all is printed. Returns EXIT_DONE if it has been written; else EXIT_FAILED after a
 * message that names `what`.
 */
int output_finish(const char *what);
/* Whether the stream goes to a terminal. */
bool output_is_terminal(FILE *stream);

#endif
