/* SPDX-License-Identifier: MIT */
#include "facts/facts.h"

#include <string.h>

#include "calls.h"
#include "names.h"

#define WORD1(ID, name)        name,
#define WORD2(ID, name, label) name,
#define KIND(v, name)          [v] = #name,
#define NAMED(v, NAME, name)   [v] = name,

static const char *const fact_states[] = {MG_STATES(WORD1)};
static const char *const fact_stages[] = {MG_TX_STAGES(WORD2) MG_RX_STAGES(WORD2)};
static const char *const fact_layers[] = {MG_TX_LAYERS(WORD2) MG_RX_LAYERS(WORD2)};
static const char *const fact_reasons[] = {MG_WHY_REASONS(WORD2)};
static const char *const fact_releases[] = {MG_WHY_RELEASES(WORD2)};
static const char *const fact_kinds[] = {MG_KINDS(KIND)};
static const char *const fact_ulps[] = {MG_ULPS(NAMED)};
static const char *const fact_sides[] = {"unknown", "client", "server"};
static const char *const fact_losses[] = {MG_LOSSES(NAMED)};
static const char *const fact_clocks[] = {"none", "clock_sync", "session", "events"};
static const char *const fact_side_names[] = {"application", "kernel"};
static const char *const fact_seen_by[] = {"both", "application", "kernel"};
static const char *const fact_no_system_call[] = {"seen", "lost", "none"};
static const char *const fact_outcomes[] = {"followed", "sent_again", "undivided", "incomplete"};
static const char *const fact_roles[] = {"server", "client"};
static const char *const fact_connects[] = {"connected", "failed", "open"};
static const char *const fact_answers[] = {"answered", "unanswered", "unasked"};
static const char *const fact_exchange_parts[] = {MG_EXCHANGE_PARTS(WORD1)};
static const char *const fact_program_parts[] = {MG_PROGRAM_PARTS(WORD1)};
static const char *const fact_not_divided[] = {"not_recorded", "lost", "forgotten", "unseen"};
static const char *const fact_blocked_in[] = {"system_call", "page_fault", "kernel", "stopped"};
static const char *const fact_stack_whys[] = {MG_STACK_WHYS(WORD1)};
static const char *const fact_timed_stages[] = {MG_TIMED_STAGES(WORD2)};
static const char *const fact_timed[] = {
	"acknowledged", "acknowledged_later", "merged", "left", "unfinished", "lost"};
static const char *const fact_waits[] = {"blocked", "preempted", "throttled"};

_Static_assert(sizeof(fact_layers) / sizeof(fact_layers[0]) == TX_LAYERS + RX_LAYERS,
	"FACT_LAYER() counts those of both directions");

const char *timed_stage_label(enum timed_stage stage)
{
#define LABEL(ID, name, label) label,
	static const char *const labels[] = {MG_TIMED_STAGES(LABEL)};
#undef LABEL

	return labels[stage];
}

/* clang-format off */
#define COLUMN(F, member, kind, list, n, text) \
	{.name = #member, .doc = text, .words = list, .offset = offsetof(struct fact_##F, member), \
	 .count = n, .type = kind},
#define COUNT_OF(list)              (sizeof(list) / sizeof((list)[0]))
#define C(F, kind, member, text)    COLUMN(F, member, FACT_TYPE_##kind, NULL, 0, text)
#define E(F, list, member, text)    COLUMN(F, member, FACT_TYPE_WORD, list, COUNT_OF(list), text)
#define A(F, list, n, member, text) COLUMN(F, member, FACT_TYPE_SPANS, list, n, text)
#define COLUMNS(F, text) static const struct fact_column F##_columns[] = {MG_FACT_##F(F, C, E, A)};
#define DESC(F, text) {#F, text, F##_columns, COUNT_OF(F##_columns)},
/* clang-format on */

MG_FACTS(COLUMNS)
const struct fact_desc fact_table[FACTS] = {MG_FACTS(DESC)};

bool loss_is_one(uint32_t reason)
{
	return reason != MG_LOST_PAUSED && reason != MG_LOST_NOT_KEPT &&
	       reason != MG_LOST_NOT_COVERED && reason != MG_LOST_NOT_HERE &&
	       reason != MG_LOST_LAYER_OFF;
}

const struct fact_desc *fact_by_name(const char *name)
{
	for (int i = 0; i < FACTS; i++)
		if (strcmp(fact_table[i].name, name) == 0)
			return &fact_table[i];
	return NULL;
}

bool facts_listen_by_flow(struct facts *f, enum fact kind, fact_fn fn, void *arg)
{
	struct fact_listeners *l = &f->of[kind];

	if (l->n == FACT_LISTENERS)
		return false;
	l->listener[l->n].fn = fn;
	l->listener[l->n++].arg = arg;
	return true;
}

uint32_t facts_listeners(const struct facts *f)
{
	uint32_t n = 0;

	for (int i = 0; i < FACTS; i++)
		n += f->of[i].n;
	return n;
}

bool facts_listen(struct facts *f, enum fact kind, fact_fn fn, void *arg)
{
	bool has_room = facts_listen_by_flow(f, kind, fn, arg);

	f->of[kind].once += has_room;
	return has_room;
}
