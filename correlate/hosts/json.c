/* SPDX-License-Identifier: MIT */
/* Figures between two hosts, by the table of figures. */
#include "between.h"
#include "reported/json.h"
#include "reported/rows.h"

bool into_crossing_transit_ns(const struct crossing_figures *f, struct crossing_time_figures *to)
{
	*to = (struct crossing_time_figures){&f->c->transit, f->c->transit_half};
	return true;
}

bool into_crossing_call_to_return_ns(
	const struct crossing_figures *f, struct crossing_time_figures *to)
{
	*to = (struct crossing_time_figures){&f->c->calls, f->c->calls_half};
	return true;
}

/* Fills in the offset of the second host's clock at an instant of the first one's. */
static bool standing(const struct hosts *h, uint64_t at, struct clock_standing_figures *to)
{
	struct host_bounds b;
	bool known = hosts_at(h, at, &b);

	*to = (struct clock_standing_figures){.at = at,
		.ahead = known ? (b.low + b.high) / 2 : NAN,
		.half = known ? (b.high - b.low) / 2 : NAN};
	return true;
}

bool into_clock_window_begin(
	const struct clock_window_figures *f, struct clock_standing_figures *to)
{
	return standing(f->h, f->w->from, to);
}

bool into_clock_window_end(const struct clock_window_figures *f, struct clock_standing_figures *to)
{
	return standing(f->h, f->w->to - 1, to);
}

bool next_hosts_clock(const struct hosts_figures *f, uintptr_t *at, struct clock_window_figures *to)
{
	if (*at >= f->w->hosts.windows)
		return false;
	*to = (struct clock_window_figures){&f->w->hosts, &f->w->hosts.window[(*at)++]};
	return true;
}

bool into_hosts_passings(const struct hosts_figures *f, struct hosts_figures *to)
{
	*to = *f;
	return true;
}

bool next_hosts_flows(const struct hosts_figures *f, uintptr_t *at, struct crossing_figures *to)
{
	if (*at >= f->w->crossings)
		return false;
	to->c = &f->w->crossing[(*at)++];
	return true;
}

bool next_hosts_exchanges(const struct hosts_figures *f, uintptr_t *at, struct joint_figures *to)
{
	const struct joint_group *g;

	if (*at >= f->w->joint.n)
		return false;
	g = &f->w->joint.v[(*at)++];
	*to = (struct joint_figures){g, exchange_group_figures_of(g->client_report, g->client)};
	return true;
}

bool next_joint_answer(
	const struct joint_figures *f, uintptr_t *at, struct answer_column_figures *to)
{
	return joint_column(f->g, at, to);
}

static const char *or_null(const char *text)
{
	return text && text[0] ? text : NULL;
}

static const char *const states[] = {"related", "skew_only", "unrelated"};

/* clang-format off */
GET(crossing, direction, value_text(f->c->to_b ? "to_other" : "from_other"))
GET(crossing, sent_as, value_text(flow_id(crossing_sent(f->c))))
GET(crossing, received_as, value_text(flow_id(crossing_received(f->c))))
GET(crossing, bytes, value_count(f->c->bytes))
GET(crossing, ambiguous_bytes, value_count(f->c->ambiguous))

GET(clock_standing, at_ns, value_count(f->at))
GET(clock_standing, ahead_ns, value_number(f->ahead))
GET(clock_standing, half_width_ns, value_number(f->half))

GET(clock_window, state, value_text(states[f->w->state]))
GET(clock_window, skew, value_number(hosts_skew(f->h, f->w->from)))
GET(clock_window, skew_half_width, value_number(hosts_skew_error(f->h, f->w->from)))

GET(joint, client_host, value_text(json_string_value(json_object_get(f->g->client_report->session, "host"))))
GET(joint, server_host, value_text(json_string_value(json_object_get(f->g->server_report->session, "host"))))
GET(joint, client, value_text(or_null(f->g->client->key.program)))
GET(joint, server, value_text(or_null(f->g->server->key.program)))
GET(joint, address, value_text(or_null(f->client.address)))
GET(joint, port, value_if(f->g->client->key.port, value_count(f->g->client->key.port)))
GET(joint, exchanges, value_count(f->g->causes ? f->g->causes->n : 0))
GET(joint, by_clocks, value_count(f->g->by_clocks))
GET(joint, clock_half_width_ns, value_if(f->g->by_clocks, value_number(f->g->clock_half)))
GET(joint, client_exchanges, value_count(f->g->client->causes ? f->g->client->causes->n : 0))

GET(passings, to_other, value_count(f->w->hosts.to_b.n))
GET(passings, from_other, value_count(f->w->hosts.to_a.n))

GET(hosts, left_out, value_flag(f->w->left_out))
/* clang-format on */

MG_DEFINE_SCOPES(MG_HOSTS_SCOPES)

json_t *between_json(const struct between *w)
{
	struct hosts_figures of = {w};

	return json_of_hosts(&of);
}
