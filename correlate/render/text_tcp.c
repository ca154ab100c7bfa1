/* SPDX-License-Identifier: MIT */
/* Prints the state of a flow's connection in a few lines, as far as it was recorded. */
#include "event_table.h"
#include "reported/getters.h"
#include "tcp_names.h"
#include "text.h"

static const char *us(double us)
{
	return text_ns(us * 1000);
}

static uint64_t grown(const struct growing *g)
{
	return g->last - g->first;
}

/* Prints the line of level light. */
static void figures(const struct fact_flow *f, const struct tcp_record *t, FILE *to)
{
	const struct extent *w = f->flow.rx ? &t->rcv_wnd : &t->snd_wnd;

	if (!t->rto_us.n)
		return;
	fprintf(to, "  TCP state: ");
	if (t->algorithm[0])
		fprintf(to, "%s   ", text_plain(t->algorithm, 16));
	if (t->srtt_us.n)
		fprintf(to, "smoothed round trip %s to %s, mean %s   ", us((double)t->srtt_us.min),
			us((double)t->srtt_us.max), us(extent_mean(&t->srtt_us)));
	if (!f->flow.rx)
		fprintf(to, "cwnd %s to %s   ", text_count(t->cwnd.min), text_count(t->cwnd.max));
	fprintf(to, "window %s to %s\n", text_bytes((double)w->min), text_bytes((double)w->max));
}

/* Prints the line of level full. */
static void limits(const struct fact_flow *f, const struct tcp_record *t, FILE *to)
{
	double busy = (double)grown(&t->busy_us);

	if (f->flow.rx || !t->busy_us.known)
		return;
	fprintf(to, "    sending for %s", us(busy));
	if (busy > 0)
		fprintf(to, ", of it limited by the peer's window %s, by its own send buffer %s",
			text_percent((double)grown(&t->rwnd_limited_us) / busy),
			text_percent((double)grown(&t->sndbuf_limited_us) / busy));
	fprintf(to, "; segments delivered %s, considered lost %s\n",
		text_count(grown(&t->delivered)), text_count(grown(&t->lost)));
}

#define NO(...)
#define COUNTER(S, name, event, n, use) {&scope_##S, #name, offsetof(struct tcp_record, name), use},
static const struct counter {
	const struct scope *of;
	const char *name;
	size_t at;
	enum counter_use use;
} counters[] = {MG_TCP_SUMS(NO, NO, COUNTER)};
#define COUNTERS (sizeof(counters) / sizeof(counters[0]))

/* Prints what is recorded at every level, if it happened. */
void text_troubles(
	const struct report *r, const struct fact_flow *f, const struct tcp_record *t, FILE *to)
{
	const struct zero_window *w = f->flow.rx ? &t->own : &t->peer;
	const char *sep = "  ",
		   *least = flow_misses(f, f->flow.rx ? MG_EVENTS(ip_out)
						      : MG_EVENTS(tcp_recv, tcp_retransmit))
				    ? text_at_least()
				    : "";

	if (w->n) {
		fprintf(to, "%s%s window zero: %s%s time%s, %s in all", sep,
			f->flow.rx ? "own" : "peer's", least, text_count(w->n), plural(w->n),
			text_ns(report_ns(r, (double)w->cycles)));
		sep = "; ";
	}
	for (size_t i = 0; i < COUNTERS; i++) {
		const struct counter *k = &counters[i];
		uint64_t n = *(const uint64_t *)((const char *)t + k->at);

		if (k->use != SAID || !n || (f->flow.rx && k->of == &scope_troubles_sent))
			continue;
		fprintf(to, "%s%s: %s%s", sep, figure_label(k->of, k->name), least, text_count(n));
		sep = "; ";
	}
	if (t->resets_sent || t->resets_received) {
		if (t->resets_sent + t->resets_received == 1)
			fprintf(to, "%sreset %s", sep, t->resets_sent ? "sent" : "received");
		else
			fprintf(to, "%sresets: %s sent, %s received", sep,
				text_count(t->resets_sent), text_count(t->resets_received));
		if (t->reset_reason)
			fprintf(to, " (%s)", t->reset_reason);
		sep = "; ";
	}
	if (sep[0] == ';')
		fprintf(to, "\n");
}

void text_tcp(const struct report *r, const struct fact_flow *f, FILE *to)
{
	const struct tcp_record *t = measures_tcp(f);

	if (!t)
		return;
	figures(f, t, to);
	limits(f, t, to);
	text_troubles(r, f, t, to);
}
