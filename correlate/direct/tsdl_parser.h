/* SPDX-License-Identifier: MIT */
/* What the parts of the parser share. Those that return bool return false at what is refused. */
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
	struct tsdl_alias alias[32];
	uint32_t aliases;
	bool has_clock, has_stream;
	const char *why; /* the first thing that is not as it should be */
};

/* Returns false. */
bool tsdl_refuse(struct tsdl_parser *p, const char *why);
/* `key = value;` or `key := ...;`: the present word is the first of what is assigned. */
typedef bool (*tsdl_assign_fn)(struct tsdl_parser *p, const char *key, void *arg);
bool tsdl_block(struct tsdl_parser *p, tsdl_assign_fn assign, void *arg);

bool tsdl_take_number(struct tsdl_parser *p, int64_t min, int64_t max, int64_t *out);
bool tsdl_take_constant(struct tsdl_parser *p, int64_t value);
/* What does not fit is cut: then it is none of the values looked for. */
bool tsdl_take_quoted(struct tsdl_parser *p, char *out, size_t size);

/* After the words `typealias` and `name :=`. */
bool tsdl_typealias(struct tsdl_parser *p);
bool tsdl_structure(struct tsdl_parser *p, struct tsdl_struct *s);

#endif
