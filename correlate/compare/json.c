/* SPDX-License-Identifier: MIT */
/* The comparison's figures, by the table of figures. */
#include "bootstrap.h"
#include "comparison.h"
#include "event_table.h"
#include "reported/json.h"
#include "reported/rows.h"

static struct subject_figures subject(const struct subject_key *key)
{
	struct subject_figures f = {.key = key};

	subject_name(f.name, key);
	return f;
}

static bool next(
	const struct subject_key *keys, size_t n, uintptr_t *at, struct subject_figures *to)
{
	if (*at >= n)
		return false;
	*to = subject(&keys[(*at)++]);
	return true;
}

static bool next_recording(
	const struct compared_side *side, uintptr_t *at, struct compared_recording_figures *to)
{
	if (*at >= side->n)
		return false;
	to->m = &side->of[(*at)++];
	return true;
}

bool next_comparison_before_recordings(
	const struct comparison_figures *f, uintptr_t *at, struct compared_recording_figures *to)
{
	return next_recording(f->before, at, to);
}

bool next_comparison_now_recordings(
	const struct comparison_figures *f, uintptr_t *at, struct compared_recording_figures *to)
{
	return next_recording(f->now, at, to);
}

void part_compared_subject(const struct compared_figures *f, struct subject_figures *to)
{
	*to = subject(&f->row->key);
}

bool next_comparison_figures(
	const struct comparison_figures *f, uintptr_t *at, struct compared_figures *to)
{
	if (*at >= f->c->rows)
		return false;
	to->row = &f->c->row[(*at)++];
	return true;
}

bool next_comparison_only_before(
	const struct comparison_figures *f, uintptr_t *at, struct subject_figures *to)
{
	return next(f->c->only_before, f->c->only_before_n, at, to);
}

bool next_comparison_only_now(
	const struct comparison_figures *f, uintptr_t *at, struct subject_figures *to)
{
	return next(f->c->only_now, f->c->only_now_n, at, to);
}

static bool is_call(const struct subject_key *key)
{
	return key->what == SUBJECT_CALL;
}

static bool is_flow(const struct subject_key *key)
{
	return key->what == SUBJECT_FLOW;
}

static const char *call(const struct subject_key *key)
{
	return key->call & CALL_KERNEL_ONLY ? mg_syscall_name(key->call & ~CALL_KERNEL_ONLY)
					    : mg_function_name(key->call);
}

static bool is_requests(const struct subject_key *key)
{
	return key->what == SUBJECT_EXCHANGES;
}

static const struct measured *first(const struct comparison_figures *f)
{
	return &f->before->of[0];
}

static const char *const sides[] = {NULL, "client", "server"};
static const char *const units[] = {"ns", "share", "bytes_per_s", "number"};

/* clang-format off */
GET(subject, subject, value_text(is_requests(f->key) ? "requests" : is_call(f->key) ? "call"
	: is_flow(f->key) ? "flow" : "scheduler"))
GET(subject, name, value_text(f->name))
GET(subject, kind, value_text(f->key->what == SUBJECT_SCHEDULER ? NULL : mg_kind_name(f->key->kind)))
GET(subject, call, value_text(is_call(f->key) ? call(f->key) : NULL))
GET(subject, direction, value_text(!is_flow(f->key) ? NULL : f->key->rx ? "rx" : "tx"))
GET(subject, side, value_text(is_flow(f->key) || is_requests(f->key) ? sides[f->key->side] : NULL))
GET(subject, port, value_if(f->key->port, value_count(f->key->port)))

GET(compared, figure, value_text(f->row->figure))
GET(compared, stage, value_text(f->row->stage))
GET(compared, reason, value_text(f->row->reason))
GET(compared, unit, value_text(units[f->row->unit]))
GET(compared, before, value_number(f->row->before_value))
GET(compared, now, value_number(f->row->now_value))
GET(compared, difference, value_number(f->row->difference))
GET(compared, ratio, value_number(f->row->ratio))
GET(compared, effect, value_number(f->row->effect))
GET(compared, low, value_number(f->row->low))
GET(compared, high, value_number(f->row->high))
GET(compared, exceeds_noise, value_if(f->row->verdict != NOT_ENOUGH, value_flag(f->row->verdict == EXCEEDS_NOISE)))
GET(compared, chance, value_number(f->row->chance))
GET(compared, before_blocks, value_if(f->row->before_blocks, value_count(f->row->before_blocks)))
GET(compared, now_blocks, value_if(f->row->now_blocks, value_count(f->row->now_blocks)))
GET(compared, before_n, value_count(f->row->before_n))
GET(compared, now_n, value_count(f->row->now_n))
GET(compared, before_sd, value_number(f->row->before_sd))
GET(compared, now_sd, value_number(f->row->now_sd))

GET(compared_recording, source, value_text(f->m->name))
GET(compared_recording, command, value_text(f->m->command))
GET(compared_recording, started, value_text(f->m->started))
GET(compared_recording, duration_ns, value_number(f->m->duration_ns))
GET(compared_recording, steal_share, value_number(f->m->steal_share))
GET(compared_recording, congestion_control, value_text(f->m->congestion[0] ? f->m->congestion : NULL))

GET(comparison, against, value_text(f->before->name))
GET(comparison, command, value_text(first(f)->command))
GET(comparison, started, value_text(first(f)->started))
GET(comparison, duration_ns, value_number(first(f)->duration_ns))
GET(comparison, noise, value_text(f->c->noise == NOISE_WITHIN ? "within" : "between"))
GET(comparison, can_tell, value_flag(f->c->can_tell))
GET(comparison, level, value_number(COMPARISON_LEVEL))
GET(comparison, resamples, value_count(f->c->resamples))
GET(comparison, compared_n, value_count(f->c->rows - f->c->not_enough))
GET(comparison, exceeding_n, value_count(f->c->exceeding))
GET(comparison, not_enough_n, value_count(f->c->not_enough))
/* clang-format on */

MG_DEFINE_SCOPES(MG_COMPARISON_SCOPES)

json_t *comparison_json(const struct comparison *c, const struct compared_side *now,
	const struct compared_side *before)
{
	struct comparison_figures of = {c, now, before};

	return json_of_comparison(&of);
}
