/* SPDX-License-Identifier: MIT */
/*
 * Processes that do nothing but read recordings and print. One that is refused memory ends at once
 * with a line on stderr and EXIT_FAILED: whatever it would print could be wrong.
 */
#ifndef MAGNET_CLI_READING_H
#define MAGNET_CLI_READING_H

#include <stdbool.h>
#include <stdio.h>

/* Call it before anything is read. */
void reading_begin(void);

/* A text is printed when all of it is there, so that no part of one is taken for the whole. */
struct whole_text {
	char *text;
	size_t size;
	FILE *to;
};
/* Returns where to write it, in the characters of the user's locale. */
FILE *whole_text_begin(struct whole_text *t);
/* Writes it to stdout. */
void whole_text_end(struct whole_text *t);
/* Returns EXIT_DONE if all that was printed has been written; else says why not. */
int printed(const char *what);

#endif
