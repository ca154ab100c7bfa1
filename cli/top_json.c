/* SPDX-License-Identifier: MIT */
#include "top_json.h"

#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <string.h>

#include "live/window_figures.h"
#include "log.h"

static json_t *number(double v)
{
	return isfinite(v) ? json_real(v) : json_null();
}

static json_t *count(uint64_t n)
{
	return n == FACT_NONE ? json_null() : json_integer((json_int_t)n);
}

/* Returns a text as JSON takes it: a name may hold any bytes. */
static json_t *text(const char *s)
{
	json_t *j = strcmp(s, "n/a") == 0 ? json_null() : json_string(s);

	return j ? j : json_null();
}

static void add_counts(json_t *to, const struct live_counts *s)
{
	json_object_set_new(to, "bytes_sent", count(s->bytes[0]));
	json_object_set_new(to, "bytes_received", count(s->bytes[1]));
	json_object_set_new(to, "calls_sent", count(s->calls[0]));
	json_object_set_new(to, "calls_received", count(s->calls[1]));
	json_object_set_new(to, "exchanges", count(s->exchanges));
	json_object_set_new(to, "retransmits", count(s->retransmits));
	json_object_set_new(to, "drops", count(s->drops));
}

/* Names of the figures of times: the median, the 99th percentile, the largest that holds. */
enum { P50, P99, HIGHEST, AT_HIGHEST, TIMES };
static const char *const reply[TIMES] = {
	"reply_p50_ns", "reply_p99_ns", "reply_highest", "reply_at_highest_ns"};
static const char *const ack[TIMES] = {
	"ack_p50_ns", "ack_p99_ns", "ack_highest", "ack_at_highest_ns"};

static void add_times(
	json_t *to, const struct live *l, const struct dist *d, const char *const name[TIMES])
{
	double ns, highest = live_highest(l, d, &ns);

	json_object_set_new(to, name[P50], number(live_quantile_ns(l, d, 0.5)));
	json_object_set_new(to, name[P99], number(live_quantile_ns(l, d, 0.99)));
	json_object_set_new(to, name[HIGHEST], number(highest));
	json_object_set_new(to, name[AT_HIGHEST], number(ns));
}

static json_t *connection(const struct top *t, const struct live_connection *c)
{
	struct top_row row = {0};
	json_t *j = json_object();
	struct live_sums s;
	double share;
	int stage;

	live_sum(&t->live, c, 1, &s);
	top_row_identify(&row, t->core, c->sock);
	json_object_set_new(j, "socket", count(c->sock));
	json_object_set_new(j, "program", text(row.program));
	json_object_set_new(j, "pid", row.pid ? count(row.pid) : json_null());
	json_object_set_new(j, "protocol", text(row.protocol));
	json_object_set_new(j, "local", text(row.local));
	json_object_set_new(j, "remote", text(row.remote));
	add_counts(j, &s.n);
	add_times(j, &t->live, &s.to_reply, reply);
	add_times(j, &t->live, &s.to_ack, ack);
	json_object_set_new(j, "modulation", number(live_modulation(&s)));
	stage = live_stage(&s, &share);
	json_object_set_new(
		j, "waits_in", stage < 0 ? json_null() : json_string(live_stage_name(stage)));
	json_object_set_new(j, "waits_share", number(share));
	json_object_set_new(j, "srtt_us", count(c->srtt_us));
	json_object_set_new(j, "cwnd", count(c->cwnd));
	live_sums_free(&s);
	return j;
}

bool top_json(const struct top *t)
{
	const struct live_interval *i = live_ended(&t->live);
	const struct live_connection *c;
	json_t *line = json_object(), *all = json_array(), *total = json_object();
	json_t *stalled = json_array();
	bool written;

	json_object_set_new(line, "schema", json_integer(1));
	json_object_set_new(line, "interval", count(i->number));
	json_object_set_new(line, "from_ns", count(i->from_ns));
	json_object_set_new(line, "to_ns", count(i->to_ns));
	json_object_set_new(line, "final", json_boolean(t->state.ended));
	json_object_set_new(line, "paused", json_boolean(core_is_paused(t->core)));
	json_object_set_new(line, "cpu_share", number(t->state.cpu_share));
	json_object_set_new(line, "recorders_cpu_share", number(t->state.recorders_cpu_share));
	json_object_set_new(line, "lost_application", count(t->state.lost_app));
	json_object_set_new(line, "lost_kernel", count(t->state.lost_kernel));
	json_object_set_new(line, "late", count(t->state.late));
	for (int side = 0; side < CORE_SIDES; side++)
		if (t->state.stalled[side])
			json_array_append_new(
				stalled, json_string(side == CORE_APP ? "application" : "kernel"));
	json_object_set_new(line, "stalled", stalled);
	add_counts(total, &t->live.total);
	json_object_set_new(line, "total", total);
	for (c = t->live.connections; c; c = c->hh.next)
		if (c->active == i->number)
			json_array_append_new(all, connection(t, c));
	json_object_set_new(line, "connections", all);
	written = json_dumpf(line, stdout, JSON_COMPACT | JSON_ENSURE_ASCII) == 0 &&
		  putchar('\n') != EOF && fflush(stdout) == 0;
	if (!written)
		mg_error("cannot write the figures: %s", strerror(errno));
	json_decref(line);
	return written;
}
