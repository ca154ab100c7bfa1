/* SPDX-License-Identifier: MIT */
/* The words of a TSDL text. */
#ifndef MAGNET_CORRELATE_DIRECT_TSDL_LEXER_H
#define MAGNET_CORRELATE_DIRECT_TSDL_LEXER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum tsdl_word {
	TSDL_END,
	TSDL_BAD,    /* no word of the language, or not of the part magnet writes */
	TSDL_NAME,   /* with the dots in it: packet.header */
	TSDL_NUMBER, /* decimal */
	TSDL_QUOTED, /* without the quotes */
	TSDL_ASSIGN, /* := */
	TSDL_MARK,   /* { } [ ] ; = */
};

struct tsdl_lexer {
	const char *at, *end; /* what is left */
	enum tsdl_word word;  /* the present one */
	const char *text;
	size_t length;
	int64_t number;
};

/* On to the next word; the first one comes after `*l = {.at = ..., .end = ...}`. */
void tsdl_next(struct tsdl_lexer *l);
bool tsdl_is_name(const struct tsdl_lexer *l, const char *name);
bool tsdl_is_mark(const struct tsdl_lexer *l, char mark);
/* If the present word is that, go on to the next. */
bool tsdl_take_name(struct tsdl_lexer *l, const char *name);
bool tsdl_take_mark(struct tsdl_lexer *l, char mark);
bool tsdl_take_assign(struct tsdl_lexer *l);

#endif
