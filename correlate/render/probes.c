/* SPDX-License-Identifier: MIT */
/*
 * Tracing overhead within the stages of a waterfall (method, "Residence"): the cost of each event
 * on the bytes' path, in its context. The cost of an event that ends a stage lies half before its
 * timestamp and half after.
 */
#include <math.h>
#include <string.h>

#include "core/stage.h"
#include "event_table.h"
#include "report.h"

/* In place of the stage that begins with an event. */
#define WITHIN     (-1) /* within a stage */
#define NOT_PASSED (-2) /* not on the bytes' path */

static const int8_t begins_out[TX_LAYERS] = {
	[TX_CALL] = NOT_PASSED, /* no event of the kernel */
	[TX_COPY] = TX_STAGE_SNDBUF,
	[TX_IP_OUT] = TX_STAGE_IP,
	[TX_IP_POST] = WITHIN,
	[TX_QUEUE] = TX_STAGE_QDISC,
	[TX_XMIT] = TX_STAGE_DRIVER,
	[TX_DONE] = TX_STAGES,
};
/* Up to where the bytes are readable: what follows depends on how the reader arrives. */
static const int8_t begins_in[RX_LAYERS] = {
	[RX_DEV] = RX_STAGE_DEV_IP,
	[RX_IP] = RX_STAGE_IP_TCP,
	[RX_TCP] = WITHIN,
	[RX_READY] = NOT_PASSED,
	[RX_COPY] = NOT_PASSED,
	[RX_CALL] = NOT_PASSED,
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
static double with_each(const struct fact_flow *f)
{
	const struct tcp_record *t = measures_tcp(f);

	return !t || !t->rto_us.n ? 0 : t->busy_us.known ? 3 : 1;
}

/* The events of each stage, counted along the bytes' path. */
struct path {
	const struct report *r;
	struct mg_events hooked;
	int stage; /* the one reached, `stages`: behind the last */
	int stages;
	double *n; /* events of each stage */
};

static struct path path_of(const struct report *r, const struct fact_flow *f, double n[STAGES_MAX])
{
	return (struct path){r, core_hooked(r->core, f->netns), 0, stage_count(f), n};
}

/* Counts an event, if it is hooked; `begins` is the stage that begins with it, or WITHIN. */
static void pass(struct path *p, unsigned int id, int begins)
{
	if (core_knows_hooks(p->r->core) && !mg_events_have(p->hooked, id))
		return;
	if (begins == WITHIN) {
		p->n[p->stage]++;
		return;
	}
	if (begins) /* the first stage ends nothing */
		p->n[p->stage] += 0.5;
	p->stage = begins;
	if (begins < p->stages)
		p->n[begins] += 0.5;
}

/* True if the event's payload is that of packets: see MG_RING_EVENTS. */
#define PAYLOAD_PACKET             , true
#define SECOND(first, second, ...) second
#define IS_PACKET(...)             SECOND(__VA_ARGS__, false, )

#define BEGINS(at, none, begins, NAME) \
	((at) != (none) ? (begins)[at] : IS_PACKET(PAYLOAD_##NAME) ? WITHIN : NOT_PASSED)
#define BEGINS_OUT(NAME, stage) BEGINS(TX_##stage, TX_NONE, begins_out, NAME)
#define BEGINS_IN(NAME, stage)  BEGINS(RX_##stage, RX_NONE, begins_in, NAME)

/* Passes the events of sent bytes; the table has them in the order of the layers. */
#define OUT_OUT(NAME, stage) BEGINS_OUT(NAME, stage)
#define OUT_IN(NAME, stage)  NOT_PASSED
#define OUT_ANY(NAME, stage) NOT_PASSED
#define PASS_OUT(id, name, NAME, layer, direction, stage, ...) \
	if (OUT_##direction(NAME, stage) != NOT_PASSED)        \
		pass(&p, id, OUT_##direction(NAME, stage));
static void pass_sent(const struct report *r, const struct fact_flow *f, double n[STAGES_MAX])
{
	struct path p = path_of(r, f, n);

	pass(&p, MG_EVENT_sys_enter, WITHIN);
	MG_RING_EVENTS(PASS_OUT)
}

/*
 * Passes the events of received bytes, from the device up. Returns the stage reached: it is still
 * the first one if IP's event is not recorded.
 */
#define IN_OUT(NAME, stage) NOT_PASSED
#define IN_IN(NAME, stage)  BEGINS_IN(NAME, stage)
#define IN_ANY(NAME, stage) NOT_PASSED
#define PASS_IN(id, name, NAME, layer, direction, stage, ...)                    \
	if (MG_LAYER_##layer == at && IN_##direction(NAME, stage) != NOT_PASSED) \
		pass(&p, id, IN_##direction(NAME, stage));
static int pass_received(const struct report *r, const struct fact_flow *f, double n[STAGES_MAX])
{
	struct path p = path_of(r, f, n);

	for (int at = MG_LAYER_DEVICE; at >= MG_LAYER_TCP; at--) {
		MG_RING_EVENTS(PASS_IN)
	}
	return p.stage;
}

/* Returns the share of the bytes for which the stage took time. */
static double share_of(const struct dist *d)
{
	return d->weight ? 1 - (double)dist_weight_of_zero(d) / (double)d->weight : 0;
}

static double immediate(const struct fact_flow *f)
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
	const struct report *r, const struct fact_flow *f, double n[STAGES_MAX], struct probes *p)
{
	const struct unit_stats *u = measures(f)->units;
	/*
	 * if a call is copied in pieces, half of the other pieces' events lie before a byte's own
	 * and half after
	 */
	double pieces = u[TX_CALL].n ? (double)u[TX_COPY].n / (double)u[TX_CALL].n : 1;
	double others = pieces > 1 ? (pieces - 1) / 2 * (1 + with_each(f)) : 0;
	double c = r->recording.event_cycles;

	pass_sent(r, f, n);
	n[TX_STAGE_CALL] += others;
	n[TX_STAGE_SNDBUF] += others + with_each(f);
	if (with_each(f) > 1)
		n[TX_STAGE_IP]++; /* ip_header */
	/* a wait for other work includes the events at its begin */
	p->immediate = n[TX_STAGE_SNDBUF] * c;
	p->waited = 0.5 * c;
	n[TX_STAGE_SNDBUF] = 0.5 + (n[TX_STAGE_SNDBUF] - 0.5) * immediate(f);
}

static void count_received(const struct report *r, const struct fact_flow *f, double n[STAGES_MAX])
{
	if (pass_received(r, f, n) == RX_STAGE_DEV_IP) {
		/* the stage of TCP begins at the device, or at TCP's own event */
		n[RX_STAGE_IP_TCP] = n[RX_STAGE_DEV_IP];
		n[RX_STAGE_DEV_IP] = 0;
	}
	if (with_each(f) > 1)
		n[RX_STAGE_IP_TCP]++;
	n[RX_STAGE_IP_TCP] += with_each(f) + 0.5; /* half of tcp_ready */
	for (int i = RX_STAGE_ABSENT; i < RX_STAGES; i++)
		n[i] = rx_reader[i];
}

bool flow_probes(const struct report *r, const struct fact_flow *f, struct probes *p)
{
	const struct mg_calibration *c = core_calibration(r->core);
	double n[STAGES_MAX] = {0}, all = 0, others, u_ts = r->recording.clock_error / 2;
	int program = f->flow.rx ? RX_STAGE_RETURN : TX_STAGE_CALL;
	double with_app;

	memset(p, 0, sizeof(*p));
	p->twice_u = NAN;
	if (!r->recording.calibrated || !c->event_cycles || !measures(f)->residence.n ||
		f->kind != MG_KIND_tcp) /* datagrams take another path */
		return false;
	if (f->flow.rx)
		count_received(r, f, n);
	else
		count_sent(r, f, n, p);
	with_app =
		f->kernel_only < f->followed ? 1 - (double)f->kernel_only / (double)f->followed : 0;
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
	if (r->recording.ns_only)
		return true;
	others = (all > 1 ? all - 1 : 0) * c->event_cycles / 2;
	p->twice_u = 2 * sqrt(2 * u_ts * u_ts + all * c->event_scatter * c->event_scatter +
				 pow(all * c->event_spread, 2) + others * others / 3 +
				 pow(c->system_cycles, 2));
	return true;
}

double stage_mean(const struct fact_flow *f, const struct probes *p, int stage)
{
	return dist_mean(&measures(f)->stage[stage]) - p->taken[stage];
}

/*
 * Returns a quantile without overhead. Each byte's stage is shortened by the same amount, so their
 * order stays.
 */
double stage_quantile(const struct fact_flow *f, const struct probes *p, int stage, double q)
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
void held_means(const struct fact_flow *f, const struct probes *p, double mean[WHYS])
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
static bool too_uncertain(const struct report *r, const struct fact_flow *f)
{
	struct probes p;
	double bound, total = report_ns(r, dist_mean(&measures(f)->residence));

	if (!flow_probes(r, f, &p) || isnan(p.twice_u))
		return false;
	bound = report_ns(r, p.twice_u + report_join_error(r));
	return bound > 1000 && bound > total / 20;
}

const char *flow_withheld(const struct report *r, const struct fact_flow *f)
{
	if (isnan(flow_coverage(f)))
		return NULL; /* no bytes that could be complete */
	if (standing_of(flow_coverage(f)) == WITHHELD)
		return "coverage";
	if (!measures(f)->residence.n)
		return "copies";
	return too_uncertain(r, f) ? "uncertainty" : NULL;
}
