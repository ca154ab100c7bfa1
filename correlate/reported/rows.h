/* SPDX-License-Identifier: MIT */
/*
 * Makes rows of the table of figures data: MG_DEFINE_SCOPES(list) where the getters of the list's
 * scopes are linked. For the source files that do so alone.
 */
#ifndef MAGNET_CORRELATE_REPORTED_ROWS_H
#define MAGNET_CORRELATE_REPORTED_ROWS_H

#include "reported/getters.h"

#define MG_COUNT_OF(list) (sizeof(list) / sizeof((list)[0]))

#define MG_WHEN_RECORDED "it was recorded"
#define MG_WHEN_COUNTED  "its events were recorded; with lost events, only if it is not 0"
#define MG_WHEN_SAMPLES  "there are samples; of quantiles above the median, ten beyond it"

/* clang-format off */
/* Each scope's conditions and getters, which take what they are asked of without its type. */
#define MG_CONDITION(S, name, text) \
	static bool is_##S##_##name(const void *of) { return known_##S##_##name(of); } \
	static const struct known when_##S##_##name = {is_##S##_##name, text, false};
#define MG_CONDITIONS(S, ctype, doc) \
	static const struct known when_##S##_always __attribute__((unused)) = {NULL, NULL, true}; \
	static const struct known when_##S##_recorded __attribute__((unused)) = {NULL, MG_WHEN_RECORDED, false}; \
	static const struct known when_##S##_counted __attribute__((unused)) = {NULL, MG_WHEN_COUNTED, false}; \
	static const struct known when_##S##_samples __attribute__((unused)) = {NULL, MG_WHEN_SAMPLES, false}; \
	MG_KNOWN_##S(S, MG_CONDITION)

#define MG_OF_V(S, type, unit, name, known, label, doc) \
	static struct value of_##S##_##name(const void *of) { return get_##S##_##name(of); }
#define MG_OF_O(S, child, name, known, doc) \
	static bool of_##S##_##name(const void *of, void *to) { return into_##S##_##name(of, to); }
#define MG_OF_L(S, child, name, known, doc) \
	static bool of_##S##_##name(const void *of, uintptr_t *at, void *to) { return next_##S##_##name(of, at, to); }
#define MG_OF_W(S, words, unit, name, known, doc) \
	static struct value of_##S##_##name(const void *of, int word) { return get_##S##_##name(of, word); }
#define MG_OF_T(S, name, known, doc) \
	static struct value of_##S##_##name(const void *of, uintptr_t *at) { return next_##S##_##name(of, at); }
#define MG_OF_P(S, child, there) \
	static bool of_##S##_##child(const void *of, void *to) { part_##S##_##child(of, to); return true; }
#define MG_GETTERS(S, ctype, doc) MG_FIGURES_##S(S, MG_OF_V, MG_OF_O, MG_OF_L, MG_OF_W, MG_OF_T, MG_OF_P)

#define MG_ROW_V(S, kind, in, key, when, people, text) \
	{.name = #key, .label = people, .doc = text, .known = &when_##S##_##when, .type = FIGURE_##kind, .unit = IN_##in, \
	 .get.value = of_##S##_##key},
#define MG_ROW_O(S, of, key, when, text) \
	{.name = #key, .doc = text, .known = &when_##S##_##when, .child = &scope_##of, .type = FIGURE_OBJECT, \
	 .get.into = of_##S##_##key},
#define MG_ROW_L(S, of, key, when, text) \
	{.name = #key, .doc = text, .known = &when_##S##_##when, .child = &scope_##of, .type = FIGURE_LIST, \
	 .get.next = of_##S##_##key},
#define MG_ROW_W(S, list, in, key, when, text) \
	{.name = #key, .doc = text, .known = &when_##S##_##when, .words = words_of_##list, \
	 .words_n = MG_COUNT_OF(words_of_##list), .type = FIGURE_WORDS, .unit = IN_##in, .get.word = of_##S##_##key},
#define MG_ROW_T(S, key, when, text) \
	{.name = #key, .doc = text, .known = &when_##S##_##when, .type = FIGURE_TEXTS, .get.next_text = of_##S##_##key},
#define MG_ROW_P(S, of, there) \
	{.name = #of, .known = &when_##S##_##there, .child = &scope_##of, .type = FIGURE_PART, .get.into = of_##S##_##of},
#define MG_ROWS(S, ctype, text) \
	static const struct figure rows_of_##S[] = { \
		MG_FIGURES_##S(S, MG_ROW_V, MG_ROW_O, MG_ROW_L, MG_ROW_W, MG_ROW_T, MG_ROW_P)}; \
	const struct scope scope_##S = {#S, text, rows_of_##S, MG_COUNT_OF(rows_of_##S)};

#define MG_DEFINE_SCOPES(list) list(MG_CONDITIONS) list(MG_GETTERS) list(MG_ROWS)
/* clang-format on */

#endif
