/* SPDX-License-Identifier: MIT */
/*
 * Prints below a waterfall, or instead of one: bytes that came more than once, refused calls,
 * urgent bytes.
 */
#include "event_table.h"
#include "reported/getters.h"
#include "text.h"

static void sent_again(const struct report *r, const struct fact_flow *f, bool bars, FILE *to)
{
	const struct resent_sums *times = measures(f)->resent;
	uint64_t segments = f->retransmits - f->syn_retries;
	const char *least = flow_misses(f, MG_EVENTS(tcp_retransmit)) ? text_at_least() : "";

	if (segments)
		fprintf(to, "  segments retransmitted: %s%s (%s)\n", least, text_count(segments),
			text_bytes((double)f->retransmitted));
	if (f->syn_retries)
		fprintf(to, "  SYNs retransmitted: %s%s\n", least, text_count(f->syn_retries));
	if (flow_resends_known(r, f) && flow_resent(f))
		fprintf(to, "  resent after a drop on this machine, which TCP does not count: %s\n",
			text_bytes((double)flow_resent(f)));
	if (times && times->wait.n)
		fprintf(to,
			"  retransmitted bytes waited from the first copy to the last: mean %s, "
			"%s%s\n",
			text_ns(report_ns(r, dist_mean(&times->wait))),
			text_named_high(dist_highest(&times->wait),
				report_ns(r, dist_at_highest(&times->wait))),
			bars ? "; not in the stages" : "");
}

const char *text_ulp(const struct fact_flow *f)
{
	switch (f->ulp) {
	case MG_ULP_TLS:
		return "TCP carries records of kernel TLS, which cannot be mapped to the program's "
		       "bytes";
	case MG_ULP_MPTCP:
		return f->kind == MG_KIND_tcp ? "it is a subflow of MPTCP, whose bytes "
						"cannot be mapped to the program's"
					      : "MPTCP carries its bytes in subflows, to "
						"which they cannot be mapped";
	default:
		return "a protocol of the kernel (TCP_ULP) is between TCP and the program";
	}
}

static void left_out(const struct report *r, const struct fact_flow *f, FILE *to)
{
	const struct resent_sums *times = measures(f)->resent;

	if (f->ambiguous)
		fprintf(to, "  not in the stages, as they passed more than once: %s",
			text_bytes((double)f->ambiguous));
	if (f->ambiguous && times && times->left_out.n)
		fprintf(to, "; they took: mean %s, %s",
			text_ns(report_ns(r, dist_mean(&times->left_out))),
			text_named_high(dist_highest(&times->left_out),
				report_ns(r, dist_at_highest(&times->left_out))));
	if (f->ambiguous)
		fprintf(to, "\n");
	if (f->undivided)
		fprintf(to, "  not in the stages, as their head-of-line wait is not known: %s\n",
			text_bytes((double)f->undivided));
	if (f->flow.rx && f->transit_ambiguous)
		fprintf(to, "  not in the transit either, as they were sent more than once: %s\n",
			text_bytes((double)f->transit_ambiguous));
}

#define NO(...)
#define SAY(S, name, member, use)     \
	if (use == SAID && f->member) \
		say(figure_of(&scope_##S, #name), f->member, to);
static void say(const struct figure *g, uint64_t n, FILE *to)
{
	fprintf(to, "  %s: %s\n", g->label, text_value(value_count(n), g->unit));
}

/* Prints the counters that have no place of their own. */
static void counters(const struct fact_flow *f, FILE *to)
{
	MG_FLOW_COUNTERS(SAY, NO)
}

void text_lineage(const struct report *r, const struct fact_flow *f, bool bars, FILE *to)
{
	if (!f->flow.rx)
		sent_again(r, f, bars, to);
	if (f->never_sent)
		fprintf(to, "  written, but never left the send buffer or a queue: %s\n",
			text_bytes((double)f->never_sent));
	if (f->opening && !f->gaps && text_has_all(r))
		fprintf(to,
			"  not seen below TCP, as they came with the handshake, before there was a "
			"socket: %s\n",
			text_bytes((double)f->opening));
	if (bars && text_has_all(r))
		left_out(r, f, to);
	if (f->refused_calls)
		fprintf(to,
			"  calls refused with EAGAIN, as the send buffer was full: %s; retry gap: "
			"mean %s\n",
			text_count(f->refused_calls),
			measures(f)->retry.n ? text_ns(report_ns(r, dist_mean(&measures(f)->retry)))
					     : "n/a");
	if (f->urgent_unread)
		fprintf(to, "  urgent bytes that the program did not read: %s\n",
			text_count(f->urgent_unread));
	counters(f, to);
}
