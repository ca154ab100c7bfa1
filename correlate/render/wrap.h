/* SPDX-License-Identifier: MIT */
#ifndef MAGNET_CORRELATE_RENDER_WRAP_H
#define MAGNET_CORRELATE_RENDER_WRAP_H

#include <stdio.h>

/*
 * Prints a text with a new line, indented below the first, where a line of it is wider than the
 * terminal. Words are never divided, so that paths and commands can be copied.
 */
void text_wrap(const char *text, FILE *to);
/* Returns how many lines that prints. */
int text_lines(const char *text);

#endif
