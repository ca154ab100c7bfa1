/* SPDX-License-Identifier: MIT */
/* Protocol state as JSON; null stands for what was not recorded. */

#include "event_table.h"
#include "report.h"
#include "tcp_names.h"

/* Events that carry the state, which is recorded along with TCP's events. */
#define TCP_EVENTS MG_EVENTS(tcp_send, tcp_recv, tcp_retransmit, tcp_cong, tcp_reset, ip_out)

static json_t *extent(const struct extent *x)
{
	if (!x->n)
		return json_null();
	return json_pack("{s:I, s:f, s:I}", "min", (json_int_t)x->min, "mean", extent_mean(x),
		"max", (json_int_t)x->max);
}

static json_t *grown(const struct growing *g)
{
	return g->known ? json_integer((json_int_t)(g->last - g->first)) : json_null();
}

static json_t *count_if(bool known, uint64_t n)
{
	return known ? json_integer((json_int_t)n) : json_null();
}

/* With lost events a zero cannot be told from "not seen": emit null. */
static json_t *times_if(bool known, uint64_t n, bool misses)
{
	return count_if(known && (n || !misses), n);
}

/* Adds the counts of rare events of one connection, or of several. */
static void troubles(
	json_t *j, const struct report *r, const struct flow *f, const struct tcp_record *t)
{
	const struct zero_window *w = f->rx ? &t->own : &t->peer;
	bool cong = core_observes(r->core, MG_EVENT_tcp_cong), windows = flow_windows_known(r, f),
	     resets = core_observes(r->core, MG_EVENT_tcp_reset),
	     misses = flow_misses(f, MG_EVENTS(tcp_reset)),
	     misses_window = flow_misses(f, f->rx ? MG_EVENTS(ip_out) : MG_EVENTS(tcp_recv)),
	     misses_cong = flow_misses(f, MG_EVENTS(tcp_cong));

	json_object_set_new(j, "at_least", json_boolean(flow_misses(f, TCP_EVENTS)));
	json_object_set_new(j, "zero_windows", times_if(windows, w->n, misses_window));
	json_object_set_new(j, "zero_window_ns",
		windows && r->hz > 0 && (w->n || !misses_window)
			? json_real(report_ns(r, (double)w->cycles))
			: json_null());
	json_object_set_new(j, "resets_sent", times_if(resets, t->resets_sent, misses));
	json_object_set_new(j, "resets_received", times_if(resets, t->resets_received, misses));
	json_object_set_new(j, "reset_reason",
		t->reset_reason ? json_string(mg_reset_name(t->reset_reason)) : json_null());
	if (f->rx)
		return;
	json_object_set_new(j, "congestion_changes", times_if(cong, t->cong_changes, misses_cong));
	json_object_set_new(j, "recoveries", times_if(cong, t->recoveries, misses_cong));
	json_object_set_new(j, "timeouts",
		times_if(flow_timeouts_known(r, f), t->timeouts,
			flow_misses(f, MG_EVENTS(tcp_retransmit))));
}

json_t *json_troubles(const struct report *r, const struct flow *f, const struct tcp_record *t)
{
	json_t *j;

	if (f->sock->kind != MG_KIND_tcp || !r->core->kernel_events)
		return json_null();
	j = json_object();
	troubles(j, r, f, t);
	return j;
}

/* Adds the state that governs sending. */
static void sending(json_t *j, const struct tcp_record *t)
{
	json_object_set_new(j, "cwnd", extent(&t->cwnd));
	json_object_set_new(
		j, "ssthresh", count_if(t->cwnd.n && t->ssthresh < INT32_MAX, t->ssthresh));
	json_object_set_new(j, "pacing_rate", extent(&t->pacing_rate));
	json_object_set_new(j, "notsent", extent(&t->notsent));
	json_object_set_new(j, "delivered", grown(&t->delivered));
	json_object_set_new(j, "lost", grown(&t->lost));
	json_object_set_new(j, "busy_us", grown(&t->busy_us));
	json_object_set_new(j, "rwnd_limited_us", grown(&t->rwnd_limited_us));
	json_object_set_new(j, "sndbuf_limited_us", grown(&t->sndbuf_limited_us));
}

json_t *json_tcp(const struct report *r, const struct flow *f)
{
	static const struct tcp_record nothing;
	const struct tcp_record *t = f->sock->tcp ? f->sock->tcp : &nothing;
	json_t *j;

	if (f->sock->kind != MG_KIND_tcp || !r->core->kernel_events)
		return json_null();
	j = json_object();
	json_object_set_new(
		j, "algorithm", t->algorithm[0] ? json_text(t->algorithm) : json_null());
	json_object_set_new(j, "srtt_us", extent(&t->srtt_us));
	json_object_set_new(j, "rto_us", extent(&t->rto_us));
	json_object_set_new(j, "window", extent(f->rx ? &t->rcv_wnd : &t->snd_wnd));
	troubles(j, r, f, t);
	if (!f->rx)
		sending(j, t);
	return j;
}
