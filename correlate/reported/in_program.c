/* SPDX-License-Identifier: MIT */
#include "reported/in_program.h"

#include <stdio.h>
#include <string.h>

#include "reported/exchanges.h"
#include "reported/getters.h"

#define WORD(ID, name) name,
static const char *const parts[] = {MG_PROGRAM_PARTS(WORD)};
#undef WORD
static const char *const blocks[] = {"system_call", "page_fault", "kernel", "stopped"};
static const char *const reasons[] = {"not_recorded", "lost", "forgotten", "unseen"};

#define WORD_OF(list, i) ((i) < sizeof(list) / sizeof((list)[0]) ? (list)[i] : NULL)

static const char *in_of(const struct program_key *k)
{
	return k->part == PROGRAM_UNKNOWN ? WORD_OF(reasons, k->in) : WORD_OF(blocks, k->in);
}

static void remote_of(const struct program_key *k, char to[64])
{
	if (k->port)
		address_text(to, k->addr, k->port);
}

/* Says what a thread that was off the CPU did. */
static void blocked_words(const struct program_key *k, const char *how, char words[128])
{
	const char *disk = k->io == 1 ? ", waiting for a disk" : "";
	char remote[64] = "";

	remote_of(k, remote);
	if (remote[0])
		snprintf(words, 128, "waiting for %s%s%s%s", remote, k->call ? " (" : "",
			k->call ? k->call : "", k->call ? ")" : "");
	else if (k->in == BLOCKED_IN_CALL && k->call)
		snprintf(words, 128, "%s in %s%s", how, k->call, disk);
	else if (k->in == BLOCKED_IN_FAULT)
		snprintf(words, 128, "%s in a page fault%s", how, disk);
	else if (k->in == BLOCKED_IN_KERNEL)
		snprintf(words, 128, "%s in the kernel%s", how, disk);
	else if (k->in == BLOCKED_STOPPED)
		snprintf(words, 128, "stopped by a signal or debugger");
	else
		snprintf(words, 128, "%s", how);
}

void program_words(const struct program_key *key, char words[128])
{
	static const char *const unknown[] = {"not known: the scheduler is not recorded",
		"not known: events are missing", "not known: too many waits", "not known"};

	switch (key->part) {
	case PROGRAM_ON_CPU:
		snprintf(words, 128, "on the CPU");
		break;
	case PROGRAM_RUN_QUEUE:
		snprintf(words, 128, "waiting for a CPU");
		break;
	case PROGRAM_THROTTLED:
		snprintf(words, 128, "throttled by its CPU quota");
		break;
	case PROGRAM_BLOCKED:
		blocked_words(key, "blocked", words);
		break;
	case PROGRAM_UNDIVIDED:
		blocked_words(key, "off the CPU", words);
		break;
	case PROGRAM_HANDED_OVER:
		snprintf(words, 128, "waiting for another thread");
		break;
	default:
		snprintf(words, 128, "%s", key->in < 4 ? unknown[key->in] : "not known");
	}
}

/* ---- of a port ---- */

static bool next_part(const struct report *r, const struct program_table *t, uintptr_t *at,
	struct program_part_figures *to)
{
	const struct program_row *last = (const struct program_row *)*at;
	const struct program_row *row = last ? last->hh.next : t->rows;

	*at = (uintptr_t)row;
	if (!row)
		return false;
	*to = (struct program_part_figures){.r = r, .t = t, .row = row};
	remote_of(&row->key, to->remote);
	return true;
}

bool next_exchange_group_program_parts(
	const struct exchange_group_figures *f, uintptr_t *at, struct program_part_figures *to)
{
	return next_part(f->r, &f->g->program, at, to);
}

bool next_exchange_group_before_read_parts(
	const struct exchange_group_figures *f, uintptr_t *at, struct program_part_figures *to)
{
	return next_part(f->r, &f->g->reader, at, to);
}

bool next_exchange_group_during_reply_parts(
	const struct exchange_group_figures *f, uintptr_t *at, struct program_part_figures *to)
{
	return next_part(f->r, &f->g->replies, at, to);
}

static struct value share(uint64_t part, uint64_t of)
{
	return value_if(of, value_number((double)part / (double)of));
}

/* clang-format off */
#define OF_KEY(S, k) \
	GET(S, part, value_text(WORD_OF(parts, (k)->part))) \
	GET(S, in, value_text(in_of(k))) \
	GET(S, call, value_text((k)->call)) \
	GET(S, remote, value_text(f->remote[0] ? f->remote : NULL)) \
	GET(S, io, value_if((k)->io != FACT_MAYBE, value_flag((k)->io)))

OF_KEY(program_part, &f->row->key)
GET(program_part, exchanges, value_count(f->row->n))
GET(program_part, total_ns, value_number(report_ns(f->r, (double)f->row->time)))
GET(program_part, max_ns, value_number(report_ns(f->r, (double)f->row->max)))
GET(program_part, share, share(f->row->time, f->t->time))
GET(program_part, share_p50, share(f->row->middle, f->t->middle))
GET(program_part, share_p99, share(f->row->tail, f->t->tail))

/* ---- of one exchange ---- */

OF_KEY(program_time, &f->time->key)
GET(program_time, tid, value_if(f->time->tid != FACT_NONE, value_count(f->time->tid)))
GET(program_time, ns, value_number(report_ns(f->r, (double)f->time->time)))
/* clang-format on */

bool next_slow_exchange_program_parts(
	const struct slow_exchange_figures *f, uintptr_t *at, struct program_time_figures *to)
{
	const struct program_times *p = f->s->parts;

	if (!p || *at >= p->n)
		return false;
	*to = (struct program_time_figures){.r = f->r, .time = &p->part[(*at)++]};
	remote_of(&to->time->key, to->remote);
	return true;
}
