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
	TSDL_MARK,   /* { } [ ] ; = : , */
};

struct tsdl_lexer {
	const char *at, *end; /* rest of the text */
	enum tsdl_word word;  /* present word */
	const char *text;
	size_t length;
	int64_t number;
};

/* Goes to the next word; the first call follows `*l = {.at = ..., .end = ...}`. */
void tsdl_next(struct tsdl_lexer *l);
bool tsdl_is_name(const struct tsdl_lexer *l, const char *name);
bool tsdl_is_mark(const struct tsdl_lexer *l, char mark);
/* Go to the next word if the present one is the given one; return whether it is. */
bool tsdl_take_name(struct tsdl_lexer *l, const char *name);
bool tsdl_take_mark(struct tsdl_lexer *l, char mark);
bool tsdl_take_assign(struct tsdl_lexer *l);

#endif
