/* SPDX-License-Identifier: MIT */
/*
 * Declarations that the parts of the parser share. Functions that return bool return false if the
 * text is refused.
 */
#ifndef MAGNET_CORRELATE_DIRECT_TSDL_PARSER_H
#define MAGNET_CORRELATE_DIRECT_TSDL_PARSER_H

#include "tsdl.h"
#include "tsdl_lexer.h"

struct tsdl_alias {
	char name[32];
	struct tsdl_integer integer;
};

struct tsdl_parser {
	struct tsdl_lexer l;
	struct tsdl_trace *t;
	struct tsdl_alias alias[64];
	uint32_t aliases;
	bool has_clock, has_stream;
	const char *why; /* first reason for refusing the text */
};

/* Stores the reason. Returns false. */
bool tsdl_refuse(struct tsdl_parser *p, const char *why);
/* Handles `key = value;` or `key := ...;`; the present word is the first one of the value. */
typedef bool (*tsdl_assign_fn)(struct tsdl_parser *p, const char *key, void *arg);
bool tsdl_block(struct tsdl_parser *p, tsdl_assign_fn assign, void *arg);

bool tsdl_take_number(struct tsdl_parser *p, int64_t min, int64_t max, int64_t *out);
bool tsdl_take_constant(struct tsdl_parser *p, int64_t value);
/* Copies a quoted text; a longer one is cut and then equals none of the expected values. */
bool tsdl_take_quoted(struct tsdl_parser *p, char *out, size_t size);

/* Parses what follows the words `typealias` and `name :=`. */
bool tsdl_typealias(struct tsdl_parser *p);
bool tsdl_structure(struct tsdl_parser *p, struct tsdl_struct *s);

#endif
