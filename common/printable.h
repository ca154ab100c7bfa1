/* SPDX-License-Identifier: MIT */
/*
 * Making text from untrusted sources (names of programs, values of options, strings of a trace)
 * safe for a terminal: no byte of it may be an order to the terminal or end a line.
 */
#ifndef MAGNET_COMMON_PRINTABLE_H
#define MAGNET_COMMON_PRINTABLE_H

#include <stdbool.h>
#include <stddef.h>

/*
 * Returns the bytes of the character at `s`, of which `size` (1 or more) may be read; `may` says
 * whether it may be printed. A byte that is not UTF-8 is a character of its own. Characters that
 * control a terminal, break a line or turn the direction of writing may not.
 */
size_t mg_character(const char *s, size_t size, bool *may);

/*
 * Copies `text` with \xNN for each byte that may not be printed. Returns `out`, which ends with a
 * whole character or escape where `room` is too small.
 */
char *mg_escape(char *out, size_t room, const char *text);

#endif
