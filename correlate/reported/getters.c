/* SPDX-License-Identifier: MIT */
#include "reported/getters.h"

#define MG_UNIT_NAME(ID, name) name,
const char *const unit_names[UNITS] = {MG_UNITS(MG_UNIT_NAME)};

struct value figure_value(const struct figure *figure, const void *of)
{
	return figure->known->is && !figure->known->is(of) ? value_unknown()
							   : figure->get.value(of);
}

#define WORD(ID, name) name,
static const char *const words_of_MG_STATES[] = {MG_STATES(WORD)};
#define COUNT_OF(list) (sizeof(list) / sizeof((list)[0]))

#define RECORDED "it was recorded"
#define SAMPLES  "there are samples; of quantiles above the median, ten beyond it"

/* clang-format off */
/* Each scope's conditions and getters, which take what they are asked of without its type. */
#define K(S, name, text) \
	static bool is_##S##_##name(const void *of) { return known_##S##_##name(of); } \
	static const struct known when_##S##_##name = {is_##S##_##name, text, false};
#define CONDITIONS(S, ctype, doc) \
	static const struct known when_##S##_always __attribute__((unused)) = {NULL, NULL, true}; \
	static const struct known when_##S##_recorded __attribute__((unused)) = {NULL, RECORDED, false}; \
	static const struct known when_##S##_samples __attribute__((unused)) = {NULL, SAMPLES, false}; \
	MG_KNOWN_##S(S, K)
MG_SCOPES(CONDITIONS)

#define V(S, type, unit, name, known, label, doc) \
	static struct value of_##S##_##name(const void *of) { return get_##S##_##name(of); }
#define O(S, child, name, known, doc) \
	static bool of_##S##_##name(const void *of, void *to) { return into_##S##_##name(of, to); }
#define L(S, child, name, known, doc) \
	static bool of_##S##_##name(const void *of, uintptr_t *at, void *to) { return next_##S##_##name(of, at, to); }
#define W(S, words, unit, name, known, doc) \
	static struct value of_##S##_##name(const void *of, int word) { return get_##S##_##name(of, word); }
#define T(S, name, known, doc) \
	static struct value of_##S##_##name(const void *of, uintptr_t *at) { return next_##S##_##name(of, at); }
#define P(S, child, there) \
	static bool of_##S##_##child(const void *of, void *to) { part_##S##_##child(of, to); return true; }
#define GETTERS(S, ctype, doc) MG_FIGURES_##S(S, V, O, L, W, T, P)
MG_SCOPES(GETTERS)
#undef V
#undef O
#undef L
#undef W
#undef T
#undef P

#define V(S, kind, in, key, when, people, text) \
	{.name = #key, .label = people, .doc = text, .known = &when_##S##_##when, .type = FIGURE_##kind, .unit = IN_##in, \
	 .get.value = of_##S##_##key},
#define O(S, of, key, when, text) \
	{.name = #key, .doc = text, .known = &when_##S##_##when, .child = &scope_##of, .type = FIGURE_OBJECT, \
	 .get.into = of_##S##_##key},
#define L(S, of, key, when, text) \
	{.name = #key, .doc = text, .known = &when_##S##_##when, .child = &scope_##of, .type = FIGURE_LIST, \
	 .get.next = of_##S##_##key},
#define W(S, list, in, key, when, text) \
	{.name = #key, .doc = text, .known = &when_##S##_##when, .words = words_of_##list, \
	 .words_n = COUNT_OF(words_of_##list), .type = FIGURE_WORDS, .unit = IN_##in, .get.word = of_##S##_##key},
#define T(S, key, when, text) \
	{.name = #key, .doc = text, .known = &when_##S##_##when, .type = FIGURE_TEXTS, .get.next_text = of_##S##_##key},
#define P(S, of, there) \
	{.name = #of, .known = &when_##S##_##there, .child = &scope_##of, .type = FIGURE_PART, .get.into = of_##S##_##of},
#define ROWS(S, ctype, text) \
	static const struct figure rows_of_##S[] = {MG_FIGURES_##S(S, V, O, L, W, T, P)}; \
	const struct scope scope_##S = {#S, text, rows_of_##S, COUNT_OF(rows_of_##S)};
MG_SCOPES(ROWS)
/* clang-format on */
