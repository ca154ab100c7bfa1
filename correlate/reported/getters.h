/* SPDX-License-Identifier: MIT */
/* The table of figures as data, and the getters that it names. */
#ifndef MAGNET_CORRELATE_REPORTED_GETTERS_H
#define MAGNET_CORRELATE_REPORTED_GETTERS_H

#include "reported/answer.h"
#include "reported/beside.h"
#include "reported/call.h"
#include "reported/exchanges.h"
#include "reported/flow.h"
#include "reported/group.h"
#include "reported/in_program.h"
#include "reported/listed.h"
#include "reported/loss.h"
#include "reported/report.h"
#include "reported/residence.h"
#include "reported/scheduler.h"
#include "reported/session.h"
#include "reported/slow_ranges.h"
#include "reported/spread.h"
#include "reported/stacks.h"
#include "reported/table.h"
#include "reported/tcp.h"
#include "reported/timed_sends.h"
#include "reported/value.h"
#include "reported/zerocopy.h"

/* clang-format off */
#define MG_SCOPE_TYPE(S, ctype, doc) typedef ctype fig_of_##S;
MG_SCOPES(MG_SCOPE_TYPE)
#undef MG_SCOPE_TYPE

/* The getters, which the scopes' source files define. */
#define MG_K(S, name, when)                           bool known_##S##_##name(const fig_of_##S *f);
#define MG_V(S, type, unit, name, known, label, doc)  struct value get_##S##_##name(const fig_of_##S *f);
#define MG_O(S, child, name, known, doc)              bool into_##S##_##name(const fig_of_##S *f, fig_of_##child *to);
#define MG_L(S, child, name, known, doc) \
	bool next_##S##_##name(const fig_of_##S *f, uintptr_t *at, fig_of_##child *to);
#define MG_W(S, words, unit, name, known, doc)        struct value get_##S##_##name(const fig_of_##S *f, int word);
#define MG_T(S, name, known, doc)                     struct value next_##S##_##name(const fig_of_##S *f, uintptr_t *at);
#define MG_P(S, child, there)                         void part_##S##_##child(const fig_of_##S *f, fig_of_##child *to);
#define MG_SCOPE_GETTERS(S, ctype, doc) \
	MG_KNOWN_##S(S, MG_K) \
	MG_FIGURES_##S(S, MG_V, MG_O, MG_L, MG_W, MG_T, MG_P)
MG_SCOPES(MG_SCOPE_GETTERS)
#undef MG_SCOPE_GETTERS
#undef MG_K
#undef MG_V
#undef MG_O
#undef MG_L
#undef MG_W
#undef MG_T
#undef MG_P

/* Room for the figures of any scope. */
union any_figures {
#define MG_SCOPE_MEMBER(S, ctype, doc) ctype of_##S;
	MG_SCOPES(MG_SCOPE_MEMBER)
#undef MG_SCOPE_MEMBER
};

#define MG_SCOPE_DESC(S, ctype, doc) extern const struct scope scope_##S;
MG_SCOPES(MG_SCOPE_DESC)
#undef MG_SCOPE_DESC

/* Define a getter, or whether a figure is known; `f` is what it is asked of. */
#define GET(S, name, v)   struct value get_##S##_##name(const fig_of_##S *f) { (void)f; return v; }
#define KNOWN(S, name, b) bool known_##S##_##name(const fig_of_##S *f) { return b; }
/* clang-format on */

/* Returns the value of a figure that is one, if it is known. */
struct value figure_value(const struct figure *figure, const void *of);
/* Returns the row of this name, also of a scope's parts; NULL if there is none. */
const struct figure *figure_of(const struct scope *s, const char *name);
/* Returns what people read of a figure: LABEL(call, blocked_n). */
const char *figure_label(const struct scope *s, const char *name);
#define LABEL(S, name) figure_label(&scope_##S, #name)

#endif
