/* SPDX-License-Identifier: MIT */
/*
 * Tracing overhead within the stages of a waterfall (method, "Residence"): the cost of each event
 * on the bytes' path, in its context. The cost of an event that ends a stage lies half before its
 * timestamp and half after.
 */
#include <math.h>
#include <string.h>

#include "event_table.h"
#include "report.h"

#define WITHIN (-1) /* within a stage */

struct on_the_way {
	uint16_t event;
	/* the stage that begins with the event, STAGES if it ends the last one, or WITHIN */
	int8_t begins;
};

static const struct on_the_way tx_way[] = {
	{MG_EVENT_sys_enter, WITHIN},
	{MG_EVENT_tcp_send, TX_STAGE_SNDBUF},
	{MG_EVENT_ip_out, TX_STAGE_IP},
	{MG_EVENT_nf_out_end, WITHIN},
	{MG_EVENT_nf_post_begin, WITHIN},
	{MG_EVENT_ip_post, WITHIN},
	{MG_EVENT_dev_queue, TX_STAGE_QDISC},
	{MG_EVENT_dev_xmit, TX_STAGE_DRIVER},
	{MG_EVENT_dev_done, TX_STAGES},
};

/* Events up to where the bytes are readable: what follows depends on how the reader arrives. */
static const struct on_the_way rx_way[] = {
	{MG_EVENT_dev_recv, RX_STAGE_DEV_IP},
	{MG_EVENT_ip_recv, WITHIN},
	{MG_EVENT_nf_pre_end, WITHIN},
	{MG_EVENT_nf_in_begin, WITHIN},
	{MG_EVENT_ip_in, RX_STAGE_IP_TCP},
	{MG_EVENT_tcp_recv, RX_STAGE_ORDER},
};
static const double rx_reader[RX_STAGES] = {
	[RX_STAGE_WAKE] = 1, /* halves of tcp_ready and sched_waking */
	/* half of sched_switch; the waker's half is not in the reader's path */
	[RX_STAGE_RUNQ] = 0.5,
	[RX_STAGE_POLL] = 1,    /* halves of sched_switch and sys_enter */
	[RX_STAGE_COPY] = 1,    /* halves of either, and of sock_copy */
	[RX_STAGE_RETURN] = 1.5 /* half of sock_copy, sys_exit */
};

/* Returns how many state events follow each tcp_send and tcp_recv at the recorded level. */
static double with_each(const struct flow *f)
{
	const struct tcp_record *t = measures_tcp(f->sock);

	return !t || !t->rto_us.n ? 0 : t->busy_us.known ? 3 : 1;
}

static void along(const struct report *r, const struct flow *f, const struct on_the_way *way,
	size_t count, double n[STAGES_MAX])
{
	struct mg_events hooked = core_hooked(r->core, f->sock->netns);
	int bar = 0;

	for (size_t i = 0; i < count; i++) {
		if (core_knows_hooks(r->core) && !mg_events_have(hooked, way[i].event))
			continue;
		if (way[i].begins == WITHIN) {
			n[bar]++;
			continue;
		}
		if (i)
			n[bar] += 0.5;
		bar = way[i].begins;
		if (bar < stage_count(f))
			n[bar] += 0.5;
	}
}

/* Returns the share of the bytes for which the stage took time. */
static double share_of(const struct dist *d)
{
	return d->weight ? 1 - (double)dist_weight_of_zero(d) / (double)d->weight : 0;
}

static double immediate(const struct flow *f)
{
	uint64_t all = 0, sum = 0;

	for (uint32_t i = 0; measures(f)->why && i < measures(f)->why->rows; i++) {
		all += measures(f)->why->row[i].bytes;
		if (measures(f)->why->row[i].reason == WHY_IMMEDIATE)
			sum += measures(f)->why->row[i].bytes;
	}
	return all ? (double)sum / (double)all : 1;
}

static void count_sent(
	const struct report *r, const struct flow *f, double n[STAGES_MAX], struct probes *p)
{
	const struct unit_stats *u = measures(f)->units;
	/*
	 * if a call is copied in pieces, half of the other pieces' events lie before a byte's own
	 * and half after
	 */
	double pieces = u[TX_CALL].n ? (double)u[TX_COPY].n / (double)u[TX_CALL].n : 1;
	double others = pieces > 1 ? (pieces - 1) / 2 * (1 + with_each(f)) : 0;
	double c = r->core->trace.calibration.event_cycles;

	along(r, f, tx_way, sizeof(tx_way) / sizeof(tx_way[0]), n);
	n[TX_STAGE_CALL] += others;
	n[TX_STAGE_SNDBUF] += others + with_each(f);
	if (with_each(f) > 1)
		n[TX_STAGE_IP]++; /* ip_header */
	/* a wait for other work includes the events at its begin */
	p->immediate = n[TX_STAGE_SNDBUF] * c;
	p->waited = 0.5 * c;
	n[TX_STAGE_SNDBUF] = 0.5 + (n[TX_STAGE_SNDBUF] - 0.5) * immediate(f);
}

static void count_received(const struct report *r, const struct flow *f, double n[STAGES_MAX])
{
	along(r, f, rx_way, sizeof(rx_way) / sizeof(rx_way[0]), n);
	if (with_each(f) > 1)
		n[RX_STAGE_IP_TCP]++;
	n[RX_STAGE_ORDER] += with_each(f) + 0.5;
	for (int i = RX_STAGE_ABSENT; i < RX_STAGES; i++)
		n[i] = rx_reader[i];
}

bool flow_probes(const struct report *r, const struct flow *f, struct probes *p)
{
	const struct mg_calibration *c = &r->core->trace.calibration;
	double n[STAGES_MAX] = {0}, all = 0, others, u_ts = clockmap_error(&r->core->clock) / 2;
	int program = f->rx ? RX_STAGE_RETURN : TX_STAGE_CALL;
	double with_app;

	memset(p, 0, sizeof(*p));
	p->twice_u = NAN;
	if (!r->core->trace.has_calibration || !c->event_cycles || !measures(f)->residence.n ||
		f->sock->kind != MG_KIND_tcp) /* datagrams take another path */
		return false;
	if (f->rx)
		count_received(r, f, n);
	else
		count_sent(r, f, n, p);
	with_app = f->use.kernel_only < f->complete
			   ? 1 - (double)f->use.kernel_only / (double)f->complete
			   : 0;
	for (int i = 0; i < stage_count(f); i++) {
		double mean = dist_mean(&measures(f)->stage[i]),
		       share = share_of(&measures(f)->stage[i]);

		n[i] *= share;
		p->taken[i] = n[i] * c->event_cycles;
		if (i == program) /* one of the library's two clock readings */
			p->taken[i] += with_app * c->read_cycles / 2;
		if (p->taken[i] > mean)
			p->taken[i] = mean;
		p->each[i] = share > 0 ? p->taken[i] / share : 0;
		p->sum += p->taken[i];
		all += n[i];
	}
	if (r->core->clock.ns_only)
		return true;
	others = (all > 1 ? all - 1 : 0) * c->event_cycles / 2;
	p->twice_u = 2 * sqrt(2 * u_ts * u_ts + all * c->event_scatter * c->event_scatter +
				 pow(all * c->event_spread, 2) + others * others / 3 +
				 pow(c->system_cycles, 2));
	return true;
}

double stage_mean(const struct flow *f, const struct probes *p, int stage)
{
	return dist_mean(&measures(f)->stage[stage]) - p->taken[stage];
}

/*
 * Returns a quantile without overhead. Each byte's stage is shortened by the same amount, so their
 * order stays.
 */
double stage_quantile(const struct flow *f, const struct probes *p, int stage, double q)
{
	return fmax(dist_quantile(&measures(f)->stage[stage], q) - p->each[stage], 0);
}

double why_mean(const struct probes *p, const struct why_row *w)
{
	double taken = w->reason == WHY_IMMEDIATE ? p->immediate : p->waited;

	return fmax((double)w->wait / (double)w->bytes - taken, 0);
}

/*
 * Takes the overhead off the time in which nothing held the bytes; the rest comes off the waits in
 * proportion.
 */
void held_means(const struct flow *f, const struct probes *p, double mean[WHYS])
{
	const struct dist *bar = &measures(f)->stage[TX_STAGE_SNDBUF];
	double taken = p->taken[TX_STAGE_SNDBUF], waits = 0, own;

	for (int i = 0; i < WHYS; i++) {
		mean[i] = bar->weight ? (double)measures(f)->why->wait[i] / (double)bar->weight : 0;
		waits += i == WHY_IMMEDIATE ? 0 : mean[i];
	}
	own = fmin(taken, mean[WHY_IMMEDIATE]);
	mean[WHY_IMMEDIATE] -= own;
	for (int i = 0; i < WHYS; i++)
		if (i != WHY_IMMEDIATE && waits > 0)
			mean[i] *= fmax(1 - (taken - own) / waits, 0);
}

/* Returns whether the uncertainty exceeds both a microsecond and a twentieth of the total. */
static bool too_uncertain(const struct report *r, const struct flow *f)
{
	struct probes p;
	double bound, total = report_ns(r, dist_mean(&measures(f)->residence));

	if (!flow_probes(r, f, &p) || isnan(p.twice_u))
		return false;
	bound = report_ns(r, p.twice_u + core_clock_error(r->core));
	return bound > 1000 && bound > total / 20;
}

const char *flow_withheld(const struct report *r, const struct flow *f)
{
	if (isnan(flow_coverage(f)))
		return NULL; /* no bytes that could be complete */
	if (standing_of(flow_coverage(f)) == WITHHELD)
		return "coverage";
	if (!measures(f)->residence.n)
		return "copies";
	return too_uncertain(r, f) ? "uncertainty" : NULL;
}
