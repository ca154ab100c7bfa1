/* SPDX-License-Identifier: MIT */
#include "reported/tcp.h"

#include "event_table.h"
#include "reported/getters.h"
#include "tcp_names.h"

/* Events that carry the state, which is recorded along with TCP's events. */
#define TCP_EVENTS MG_EVENTS(tcp_send, tcp_recv, tcp_retransmit, tcp_cong, tcp_reset, ip_out)

bool tcp_figures_of(const struct report *r, const struct flow *f, const struct tcp_record *t,
	struct tcp_figures *to)
{
	static const struct tcp_record nothing;

	*to = (struct tcp_figures){r, f, t ? t : &nothing};
	return f->sock->kind == MG_KIND_tcp && r->core->counts.kernel_events;
}

static bool extent(const struct extent *x, struct extent_figures *to)
{
	to->x = x;
	return x->n;
}

/* Returns how much a counter grew. */
static int64_t grown(const struct growing *g)
{
	return (int64_t)(g->last - g->first);
}

/* With lost events a zero cannot be told from "not seen". */
static bool known_count(const struct tcp_figures *f, bool observed, uint64_t n, struct mg_events of)
{
	return observed && (n || !flow_misses(f->f, of));
}

static const struct zero_window *window_of(const struct tcp_figures *f)
{
	return f->f->rx ? &f->t->own : &f->t->peer;
}

static bool windows_known(const struct tcp_figures *f)
{
	return known_count(f, flow_windows_known(f->r, f->f), window_of(f)->n,
		f->f->rx ? MG_EVENTS(ip_out) : MG_EVENTS(tcp_recv));
}

static bool resets_known(const struct tcp_figures *f, uint64_t n)
{
	return known_count(
		f, core_observes(f->r->core, MG_EVENT_tcp_reset), n, MG_EVENTS(tcp_reset));
}

static bool congestion_known(const struct tcp_figures *f, uint64_t n)
{
	return known_count(f, core_observes(f->r->core, MG_EVENT_tcp_cong), n, MG_EVENTS(tcp_cong));
}

static bool timeouts_known(const struct tcp_figures *f)
{
	return known_count(
		f, flow_timeouts_known(f->r, f->f), f->t->timeouts, MG_EVENTS(tcp_retransmit));
}

void part_troubles_troubles_sent(const struct tcp_figures *f, struct tcp_figures *to)
{
	*to = *f;
}

void part_tcp_troubles(const struct tcp_figures *f, struct tcp_figures *to)
{
	*to = *f;
}

void part_tcp_tcp_sent(const struct tcp_figures *f, struct tcp_figures *to)
{
	*to = *f;
}

/* clang-format off */
#define EXTENT(S, name, which) \
	bool into_##S##_##name(const struct tcp_figures *f, struct extent_figures *to) { return extent(which, to); }

GET(extent, min, value_count(f->x->min))
GET(extent, mean, value_number(extent_mean(f->x)))
GET(extent, max, value_count(f->x->max))

KNOWN(troubles, windows, windows_known(f))
KNOWN(troubles, resets_sent, resets_known(f, f->t->resets_sent))
KNOWN(troubles, resets_received, resets_known(f, f->t->resets_received))
KNOWN(troubles, sent, !f->f->rx)
GET(troubles, at_least, value_flag(flow_misses(f->f, TCP_EVENTS)))
GET(troubles, zero_windows, value_count(window_of(f)->n))
GET(troubles, zero_window_ns, value_number(report_ns(f->r, (double)window_of(f)->cycles)))
GET(troubles, resets_sent, value_count(f->t->resets_sent))
GET(troubles, resets_received, value_count(f->t->resets_received))
GET(troubles, reset_reason, value_text(f->t->reset_reason))

KNOWN(troubles_sent, congestion, congestion_known(f, f->t->cong_changes))
KNOWN(troubles_sent, recoveries, congestion_known(f, f->t->recoveries))
KNOWN(troubles_sent, timeouts, timeouts_known(f))
GET(troubles_sent, congestion_changes, value_count(f->t->cong_changes))
GET(troubles_sent, recoveries, value_count(f->t->recoveries))
GET(troubles_sent, timeouts, value_count(f->t->timeouts))

KNOWN(tcp, sent, !f->f->rx)
GET(tcp, algorithm, value_text(f->t->algorithm[0] ? f->t->algorithm : NULL))
EXTENT(tcp, srtt_us, &f->t->srtt_us)
EXTENT(tcp, rto_us, &f->t->rto_us)
EXTENT(tcp, window, f->f->rx ? &f->t->rcv_wnd : &f->t->snd_wnd)

KNOWN(tcp_sent, ssthresh, f->t->cwnd.n && f->t->ssthresh < INT32_MAX)
KNOWN(tcp_sent, delivered, f->t->delivered.known)
KNOWN(tcp_sent, lost, f->t->lost.known)
KNOWN(tcp_sent, busy, f->t->busy_us.known)
KNOWN(tcp_sent, rwnd, f->t->rwnd_limited_us.known)
KNOWN(tcp_sent, sndbuf, f->t->sndbuf_limited_us.known)
EXTENT(tcp_sent, cwnd, &f->t->cwnd)
EXTENT(tcp_sent, pacing_rate, &f->t->pacing_rate)
EXTENT(tcp_sent, notsent, &f->t->notsent)
GET(tcp_sent, ssthresh, value_count(f->t->ssthresh))
GET(tcp_sent, delivered, value_count((uint64_t)grown(&f->t->delivered)))
GET(tcp_sent, lost, value_signed(grown(&f->t->lost)))
GET(tcp_sent, busy_us, value_count((uint64_t)grown(&f->t->busy_us)))
GET(tcp_sent, rwnd_limited_us, value_count((uint64_t)grown(&f->t->rwnd_limited_us)))
GET(tcp_sent, sndbuf_limited_us, value_count((uint64_t)grown(&f->t->sndbuf_limited_us)))
/* clang-format on */
