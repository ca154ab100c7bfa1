/* SPDX-License-Identifier: MIT */
/* Writes the comparison as JSON; docs/magnet-report.1 lists the fields. */
#include <math.h>

#include "bootstrap.h"
#include "comparison.h"
#include "event_table.h"

static json_t *number(double v)
{
	return isnan(v) || isinf(v) ? json_null() : json_real(v);
}

static json_t *subject(const struct subject_key *key)
{
	static const char *const sides[] = {NULL, "client", "server"};
	bool is_flow = key->what == SUBJECT_FLOW;
	char name[80];

	subject_name(name, key);
	return json_pack("{s:s, s:o, s:s?, s:o, s:s?, s:s?, s:o}", "subject",
		key->what == SUBJECT_CALL ? "call"
		: is_flow                 ? "flow"
					  : "scheduler",
		"name", json_text(name), "kind",
		key->what == SUBJECT_SCHEDULER ? NULL : mg_kind_name(key->kind), "call",
		key->what == SUBJECT_CALL
			? json_string(key->call & CALL_KERNEL_ONLY
					      ? mg_syscall_name(key->call & ~CALL_KERNEL_ONLY)
					      : mg_function_name(key->call))
			: json_null(),
		"direction",
		!is_flow  ? NULL
		: key->rx ? "rx"
			  : "tx",
		"side", is_flow ? sides[key->side] : NULL, "port",
		is_flow && key->port ? json_integer(key->port) : json_null());
}

static json_t *row(const struct compared *r)
{
	static const char *const units[] = {"ns", "share", "bytes_per_s", "number"};
	json_t *j = subject(&r->now->key);

	json_object_set_new(j, "figure", json_string(r->figure));
	json_object_set_new(j, "stage", r->stage ? json_string(r->stage) : json_null());
	json_object_set_new(j, "reason", r->reason ? json_string(r->reason) : json_null());
	json_object_set_new(j, "unit", json_string(units[r->unit]));
	json_object_set_new(j, "before", number(r->before_value));
	json_object_set_new(j, "now", number(r->now_value));
	json_object_set_new(j, "difference", number(r->difference));
	json_object_set_new(j, "ratio", number(r->ratio));
	json_object_set_new(j, "low", number(r->low));
	json_object_set_new(j, "high", number(r->high));
	json_object_set_new(j, "exceeds_noise",
		r->verdict == NOT_ENOUGH ? json_null() : json_boolean(r->verdict == EXCEEDS_NOISE));
	json_object_set_new(j, "before_blocks", json_integer((json_int_t)r->before_blocks));
	json_object_set_new(j, "now_blocks", json_integer((json_int_t)r->now_blocks));
	return j;
}

static json_t *names(const struct subject *const *s, size_t n)
{
	json_t *all = json_array();

	for (size_t i = 0; i < n; i++)
		json_array_append_new(all, subject(&s[i]->key));
	return all;
}

json_t *comparison_json(const struct comparison *c, const struct recording *before)
{
	const json_t *session = before->report->session;
	json_t *figures = json_array(), *j, *command, *started;

	for (size_t i = 0; i < c->rows; i++)
		json_array_append_new(figures, row(&c->row[i]));
	command = json_object_get(session, "command");
	started = json_object_get(session, "started");
	j = json_pack("{s:o, s:O?, s:O?, s:o, s:f, s:i}", "against",
		json_text(before->report->source), "command", command, "started", started,
		"duration_ns", number(report_duration_ns(before->report)), "level",
		COMPARISON_LEVEL, "resamples", (int)BOOTSTRAP_RESAMPLES);
	json_object_set_new(j, "compared_n", json_integer((json_int_t)(c->rows - c->not_enough)));
	json_object_set_new(j, "exceeding_n", json_integer((json_int_t)c->exceeding));
	json_object_set_new(j, "not_enough_n", json_integer((json_int_t)c->not_enough));
	json_object_set_new(j, "figures", figures);
	json_object_set_new(j, "only_before", names(c->only_before, c->only_before_n));
	json_object_set_new(j, "only_now", names(c->only_now, c->only_now_n));
	return j;
}
