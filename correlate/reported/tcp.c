/* SPDX-License-Identifier: MIT */
#include "reported/tcp.h"

#include "event_table.h"
#include "reported/getters.h"
#include "tcp_names.h"

/* Events that carry the state, which is recorded along with TCP's events. */
#define TCP_EVENTS MG_EVENTS(tcp_send, tcp_recv, tcp_retransmit, tcp_cong, tcp_reset, ip_out)

bool tcp_figures_of(const struct report *r, const struct fact_flow *f, const struct tcp_record *t,
	struct tcp_figures *to)
{
	static const struct tcp_record nothing;

	*to = (struct tcp_figures){r, f, t ? t : &nothing};
	return f->kind == MG_KIND_tcp && r->recording.kernel_events;
}

static bool extent(const struct extent *x, struct extent_figures *to)
{
	to->x = x;
	return x->n;
}

/* With lost events a zero cannot be distinguished from "not seen". */
static bool known_count(const struct tcp_figures *f, bool observed, uint64_t n, struct mg_events of)
{
	return observed && (n || !flow_misses(f->f, of));
}

enum { MG_EVENT_none };

/* Returns whether a row of MG_TCP_SUMS is known. */
static bool counted(const struct tcp_figures *f, uint16_t event, uint64_t n)
{
	return event == MG_EVENT_none ||
	       known_count(f, core_has_observed(f->r->core, event), n, mg_events_of(&event, 1));
}

static const struct zero_window *window_of(const struct tcp_figures *f)
{
	return f->f->flow.rx ? &f->t->own : &f->t->peer;
}

static bool windows_known(const struct tcp_figures *f)
{
	return known_count(f, flow_windows_known(f->r, f->f), window_of(f)->n,
		f->f->flow.rx ? MG_EVENTS(ip_out) : MG_EVENTS(tcp_recv));
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
#define EXTENT(S, name) INTO_EXTENT(S, name, &f->t->name)
#define INTO_EXTENT(S, name, which) \
	bool into_##S##_##name(const struct tcp_figures *f, struct extent_figures *to) { return extent(which, to); }
#define GROWTH(S, name, type) GET(S, name, GROWN_##type(&f->t->name))
#define GROWN_count(g)  value_if((g)->known, value_count((g)->last - (g)->first))
#define GROWN_signed(g) value_if((g)->known, value_signed((int64_t)((g)->last - (g)->first)))
#define COUNT(S, name, event, n, use) \
	GET(S, name, value_if(counted(f, MG_EVENT_##event, f->t->name), value_count(f->t->name)))
MG_TCP_SUMS(EXTENT, GROWTH, COUNT)

GET(extent, min, value_count(f->x->min))
GET(extent, mean, value_number(extent_mean(f->x)))
GET(extent, max, value_count(f->x->max))

KNOWN(troubles, windows, windows_known(f))
KNOWN(troubles, sent, !f->f->flow.rx)
GET(troubles, at_least, value_flag(flow_misses(f->f, TCP_EVENTS)))
GET(troubles, zero_windows, value_count(window_of(f)->n))
GET(troubles, zero_window_ns, value_number(report_ns(f->r, (double)window_of(f)->cycles)))
GET(troubles, reset_reason, value_text(f->t->reset_reason))

KNOWN(troubles_sent, timeouts, timeouts_known(f))

KNOWN(tcp, sent, !f->f->flow.rx)
GET(tcp, algorithm, value_text(f->t->algorithm[0] ? f->t->algorithm : NULL))
INTO_EXTENT(tcp, window, f->f->flow.rx ? &f->t->rcv_wnd : &f->t->snd_wnd)

KNOWN(tcp_sent, ssthresh, f->t->rto_us.n && f->t->ssthresh < INT32_MAX)
GET(tcp_sent, ssthresh, value_count(f->t->ssthresh))
/* clang-format on */
