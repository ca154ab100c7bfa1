/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "tsdl_lexer.h"

#include <string.h>

/* Skips white space and comments. Returns false if a comment does not end. */
static bool skip(struct tsdl_lexer *l)
{
	while (l->at < l->end) {
		size_t left = (size_t)(l->end - l->at);
		const char *end;

		if (*l->at && strchr(" \t\r\n", *l->at)) {
			l->at++;
			continue;
		}
		if (left < 2 || memcmp(l->at, "/*", 2) != 0)
			return true;
		end = memmem(l->at + 2, left - 2, "*/", 2);
		if (!end)
			return false;
		l->at = end + 2;
	}
	return true;
}

static bool is_letter(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static enum tsdl_word name(struct tsdl_lexer *l)
{
	while (l->at < l->end && (is_letter(*l->at) || is_digit(*l->at) || *l->at == '.'))
		l->at++;
	return TSDL_NAME;
}

static enum tsdl_word number(struct tsdl_lexer *l)
{
	bool negative = *l->at == '-';
	const char *first;

	l->at += negative;
	first = l->at;
	l->number = 0;
	while (l->at < l->end && is_digit(*l->at))
		if (__builtin_mul_overflow(l->number, 10, &l->number) ||
			__builtin_add_overflow(l->number, *l->at++ - '0', &l->number))
			return TSDL_BAD;
	/* a leading zero would make it octal */
	if (l->at == first || (*first == '0' && l->at > first + 1))
		return TSDL_BAD;
	if (l->at < l->end && is_letter(*l->at))
		return TSDL_BAD;
	if (negative)
		l->number = -l->number;
	return TSDL_NUMBER;
}

static enum tsdl_word quoted(struct tsdl_lexer *l)
{
	const char *end = memchr(l->at + 1, '"', (size_t)(l->end - l->at - 1));

	if (!end)
		return TSDL_BAD;
	l->text = l->at + 1;
	l->length = (size_t)(end - l->text);
	l->at = end + 1;
	return memchr(l->text, '\\', l->length) || memchr(l->text, 0, l->length) ? TSDL_BAD
										 : TSDL_QUOTED;
}

void tsdl_next(struct tsdl_lexer *l)
{
	const char *begin;

	l->word = TSDL_BAD;
	if (!skip(l))
		return;
	begin = l->text = l->at;
	l->length = 0;
	if (l->at == l->end) {
		l->word = TSDL_END;
	} else if (is_letter(*l->at)) {
		l->word = name(l);
	} else if (is_digit(*l->at) || *l->at == '-') {
		l->word = number(l);
	} else if (*l->at == '"') {
		l->word = quoted(l);
		return;
	} else if (*l->at == ':' && l->end - l->at > 1 && l->at[1] == '=') {
		l->at += 2;
		l->word = TSDL_ASSIGN;
	} else if (*l->at && strchr("{}[];=:,", *l->at)) {
		l->at++;
		l->word = TSDL_MARK;
	}
	l->length = (size_t)(l->at - begin);
}

bool tsdl_is_name(const struct tsdl_lexer *l, const char *name)
{
	return l->word == TSDL_NAME && l->length == strlen(name) &&
	       memcmp(l->text, name, l->length) == 0;
}

bool tsdl_is_mark(const struct tsdl_lexer *l, char mark)
{
	return l->word == TSDL_MARK && *l->text == mark;
}

static bool take(struct tsdl_lexer *l, bool is)
{
	if (is)
		tsdl_next(l);
	return is;
}

bool tsdl_take_name(struct tsdl_lexer *l, const char *name)
{
	return take(l, tsdl_is_name(l, name));
}

bool tsdl_take_mark(struct tsdl_lexer *l, char mark)
{
	return take(l, tsdl_is_mark(l, mark));
}

bool tsdl_take_assign(struct tsdl_lexer *l)
{
	return take(l, l->word == TSDL_ASSIGN);
}
