/* SPDX-License-Identifier: MIT */
#ifndef MAGNET_CORRELATE_EXPORT_JSON_TEXT_H
#define MAGNET_CORRELATE_EXPORT_JSON_TEXT_H

#include <stddef.h>
#include <stdio.h>

/*
 * Writes a text as a JSON string. Characters that control a terminal, and bytes that are not UTF-8,
 * are written as underscores.
 */
void json_print_text(FILE *to, const char *text, size_t length);

#endif
