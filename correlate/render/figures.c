/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "alloc.h"
#include "event_table.h"
#include "report.h"

uint64_t flow_bytes(const struct flow *f)
{
	return f->total - f->start;
}

struct found_flow {
	uint64_t bytes;
	struct packed_flow key;
	struct flow *flow; /* NULL: the socket is packed */
	dist_sum wait;     /* waiting time of its bytes */
	bool followed;
};

static int larger_flow(const void *a, const void *b)
{
	const struct found_flow *x = a, *y = b;

	if (x->bytes != y->bytes)
		return x->bytes < y->bytes ? 1 : -1;
	if (x->key.sock != y->key.sock) /* a fixed order for equal sizes */
		return x->key.sock > y->key.sock ? 1 : -1;
	return x->key.rx - y->key.rx;
}

static int more_calls(const void *a, const void *b)
{
	const struct call_stats *x = *(struct call_stats *const *)a;
	const struct call_stats *y = *(struct call_stats *const *)b;

	if (x->n != y->n)
		return x->n < y->n ? 1 : -1;
	return memcmp(&x->key, &y->key, sizeof(x->key));
}

/*
 * Returns whether the report shows a flow. Datagrams may be empty, and all sent ones may have been
 * dropped.
 */
bool flow_is_told(const struct flow *f)
{
	return flow_bytes(f) || f->drops.n || (f->sock->kind != MG_KIND_tcp && f->active.first);
}

struct found_flows {
	struct found_flow *v;
	size_t n;
	struct flow_sums sums;
	struct losses *losses;
};

static void add_sums(struct flow_sums *sums, const struct flow *f)
{
	sums->bytes += flow_bytes(f);
	if (isnan(flow_coverage(f)))
		return;
	sums->followable += flow_bytes(f);
	sums->complete += f->complete;
	sums->incomplete += f->incomplete;
	sums->incomplete_again += f->copies.incomplete;
}

static void find_flow(struct found_flows *all, const struct flow *f)
{
	const struct mg_sock *s = f->sock;

	if (!flow_is_told(f))
		return;
	add_sums(&all->sums, f);
	all->v[all->n++] = (struct found_flow){.bytes = flow_bytes(f),
		.key = {s->cookie, f->rx},
		.flow = core_sock_stays(s) ? (struct flow *)(uintptr_t)f : NULL,
		.wait = measures(f)->residence.sum,
		.followed = measures(f)->residence.n && flow_coverage(f) >= 0.90};
}

/* Returns the flow whose bytes waited longest, the one that answers where bytes wait. */
static size_t longest_wait(const struct found_flows *all)
{
	size_t longest = all->n;

	for (size_t i = 0; i < all->n; i++)
		if (all->v[i].followed &&
			(longest == all->n || all->v[i].wait > all->v[longest].wait))
			longest = i;
	return longest;
}

static void find_flows(void *arg, const struct mg_sock *s)
{
	struct found_flows *all = arg;

	if (s->kind == MG_KIND_netlink) /* its peer is the kernel */
		return;
	find_flow(all, &s->tx);
	find_flow(all, &s->rx);
	losses_add_socket(all->losses, s);
}

static int take_flows(struct report *r)
{
	size_t most = 2 * core_sock_count(r->core) + 1;
	struct found_flows all = {.v = mg_calloc(most, sizeof(*all.v)), .losses = &r->losses};

	if (!all.v)
		return -ENOMEM;
	core_each_sock(r->core, find_flows, &all);
	qsort(all.v, all.n, sizeof(*all.v), larger_flow);
	r->flows = mg_calloc(all.n + 1, sizeof(*r->flows));
	r->packed = mg_calloc(all.n + 1, sizeof(*r->packed));
	for (size_t i = 0; r->flows && r->packed && i < all.n; i++) {
		r->flows[i] = all.v[i].flow;
		r->packed[i] = all.v[i].key;
		r->flow_count++;
	}
	r->sums = all.sums;
	r->sums.longest = longest_wait(&all);
	free(all.v);
	return r->flows && r->packed ? 0 : -ENOMEM;
}

int report_init(struct report *r, struct core *core, const json_t *session, const char *source)
{
	struct call_stats *calls = figures_of(core)->calls.calls, *k, *ktmp;

	memset(r, 0, sizeof(*r));
	r->core = core;
	r->session = session;
	r->source = source;
	r->hz = clockmap_hz(&core->clock);
	r->calls = mg_calloc(HASH_COUNT(calls) + 1u, sizeof(*r->calls));
	if (!r->calls || take_flows(r) || losses_add_drops(&r->losses, core) ||
		report_take_drops(r))
		return -ENOMEM;
	HASH_ITER (hh, calls, k, ktmp)
		r->calls[r->call_count++] = k;
	qsort(r->calls, r->call_count, sizeof(*r->calls), more_calls);
	return 0;
}

/*
 * Returns an empty flow, for one that cannot be unpacked for lack of memory: no figure is shown
 * then.
 */
static struct flow *nothing(void)
{
	static struct mg_sock none;

	none.tx.sock = &none;
	return &none.tx;
}

const struct flow *report_flow(const struct report *r, size_t i)
{
	const struct mg_sock *s;

	if (r->flows[i])
		return r->flows[i];
	s = core_sock(r->core, r->packed[i].sock);
	return !s ? nothing() : r->packed[i].rx ? &s->rx : &s->tx;
}

struct flow *report_keep_flow(const struct report *r, size_t i)
{
	struct mg_sock *s;

	if (r->flows[i])
		return r->flows[i];
	s = core_keep_sock(r->core, r->packed[i].sock);
	return !s ? nothing() : r->packed[i].rx ? &s->rx : &s->tx;
}

size_t report_find_flow(const struct report *r, const char *id)
{
	char name[32];
	size_t i;

	for (i = 0; i < r->flow_count; i++) {
		flow_name(name, r->packed[i].sock, r->packed[i].rx);
		if (strcmp(name, id) == 0)
			break;
	}
	return i;
}

void report_free(struct report *r)
{
	free(r->flows);
	free(r->packed);
	losses_free(&r->losses);
	free(r->drops);
	free(r->calls);
}

double report_ns(const struct report *r, double cycles)
{
	return r->hz > 0 ? cycles * 1e9 / r->hz : NAN;
}

const char *report_no_clock_error(const struct report *r)
{
	const struct core *c = r->core;

	if (c->clock.ns_only)
		return "times are CLOCK_MONOTONIC: the program's are those of the nearest readings";
	if (c->clock.n < 2)
		return "there are neither two readings of the counter nor two calls to estimate "
		       "its rate from";
	if (c->due.clock_source == CLOCK_GUESSED && !c->due.guess_bounded)
		return "there are no readings of the counter: its rate is that of the first and "
		       "the last call";
	return NULL;
}

double report_clock_error_ns(const struct report *r)
{
	const struct core *c = r->core;

	if (report_no_clock_error(r))
		return NAN;
	return report_ns(
		r, c->due.clock_source == CLOCK_GUESSED
			   ? clockmap_error_over(&c->clock, c->times.first_ns, c->times.last_ns)
			   : clockmap_error(&c->clock));
}

double report_rate_error_ppm(const struct report *r)
{
	bool early_only = r->core->due.clock_source == CLOCK_GUESSED;

	return report_no_clock_error(r) ? NAN
					: clockmap_rate_error(&r->core->clock, early_only) * 1e6;
}

double report_cpu_offset_ns(const struct report *r)
{
	return r->core->offsets.known && !r->core->clock.ns_only
		       ? report_ns(r, cpu_offsets_error(&r->core->offsets))
		       : NAN;
}

double report_quantile_error(const struct report *r)
{
	return (double)(1u << figures_of(r->core)->memory.dists.coarse) / 1024;
}

double report_duration_ns(const struct report *r)
{
	json_int_t ns = json_integer_value(json_object_get(r->session, "duration_ns"));

	return ns ? (double)ns : (double)(r->core->times.last_ns - r->core->times.first_ns);
}

const char *flow_comm(const struct report *r, const struct flow *f)
{
	const struct program *program = f->sock->user.program;
	struct process *p = NULL;

	if (!program) { /* the name may have come with a later event */
		HASH_FIND(hh, r->core->tasks.processes, &f->sock->user.pid,
			sizeof(f->sock->user.pid), p);
		program = p ? p->program : NULL;
	}
	return program ? program->comm : "";
}

/* Returns the share of the flow's bytes that were seen at every stage. */
double flow_coverage(const struct flow *f)
{
	/* unclaimed bytes cannot be followed */
	uint64_t of =
		f->sock->unclaimed ? 0 : flow_bytes(f) - f->urgent.discarded - f->never_sent.bytes;

	if (f->sock->ulp)
		return NAN;
	if (f->sock->kind == MG_KIND_tcp)
		return of ? (double)f->complete / (double)of * (1 - f->missing.time_share) : NAN;
	/* datagrams dropped before the first stage have no timestamps that could be missing */
	of = f->complete + f->incomplete;
	return of && (f->use.calls || f->missing.bytes)
		       ? (double)f->complete / (double)of * (1 - f->missing.events_share) *
				 (1 - f->missing.time_share)
		       : NAN;
}

uint64_t flow_resent(const struct flow *f)
{
	return f->copies.resent + f->copies.pending;
}

bool flow_resends_known(const struct report *r, const struct flow *f)
{
	return mg_events_have_all(
		       core_hooked(r->core, f->sock->netns), MG_EVENTS(tcp_retransmit, ip_out)) &&
	       !(f->missing.layers & (1u << MG_LAYER_TCP | 1u << MG_LAYER_IP));
}

const char *flow_ulp(const struct flow *f)
{
	static const char *const names[] = {
		NULL, [MG_ULP_TLS] = "ktls", [MG_ULP_MPTCP] = "mptcp", [MG_ULP_OTHER] = "ulp"};

	return names[f->sock->ulp < sizeof(names) / sizeof(names[0]) ? f->sock->ulp : MG_ULP_OTHER];
}

#define STAGE_NAME(ID, name, label)  name,
#define STAGE_LABEL(ID, name, label) label,
static const char *const tx_names[] = {MG_TX_STAGES(STAGE_NAME)};
static const char *const rx_names[] = {MG_RX_STAGES(STAGE_NAME)};
static const char *const tx_labels[] = {MG_TX_STAGES(STAGE_LABEL)};
static const char *const rx_labels[] = {MG_RX_STAGES(STAGE_LABEL)};

int stage_count(const struct flow *f)
{
	return f->rx ? RX_STAGES : TX_STAGES;
}

static bool is_to_socket(const struct flow *f, int stage)
{
	return f->rx && stage == RX_STAGE_IP_TCP && f->sock->kind != MG_KIND_tcp;
}

const char *stage_name(const struct flow *f, int stage)
{
	if (is_to_socket(f, stage))
		return "ip_to_socket";
	return f->rx ? rx_names[stage] : tx_names[stage];
}

const char *stage_label(const struct flow *f, int stage)
{
	if (is_to_socket(f, stage))
		return "IP to socket queue";
	return f->rx ? rx_labels[stage] : tx_labels[stage];
}

static const char *const reason_names[] = {MG_WHY_REASONS(STAGE_NAME)};
static const char *const reason_labels[] = {MG_WHY_REASONS(STAGE_LABEL)};
static const char *const release_names[] = {MG_WHY_RELEASES(STAGE_NAME)};
static const char *const release_labels[] = {MG_WHY_RELEASES(STAGE_LABEL)};

const char *why_reason_name(unsigned int reason)
{
	return reason_names[reason];
}

const char *why_reason_label(unsigned int reason)
{
	return reason_labels[reason];
}

const char *why_release_name(unsigned int release)
{
	return release_names[release];
}

const char *why_release_label(unsigned int release)
{
	return release_labels[release];
}

int layer_count(const struct flow *f)
{
	return f->rx ? RX_LAYERS : TX_LAYERS;
}

#define LAYER_NAME(ID, name, label) name,
const char *layer_name(const struct flow *f, int layer)
{
	static const char *const tx[] = {MG_TX_LAYERS(LAYER_NAME)};
	static const char *const rx[] = {MG_RX_LAYERS(LAYER_NAME)};

	return f->rx ? rx[layer] : tx[layer];
}

bool call_is_kernel_only(const struct call_stats *s)
{
	return s->key.id & CALL_KERNEL_ONLY;
}

bool call_blocking_known(const struct report *r, const struct call_stats *s)
{
	return core_observes(r->core, MG_EVENT_sched_switch) && s->complete &&
	       standing_of(call_coverage(r, s)) != WITHHELD;
}

/*
 * Returns the share of calls that blocked, of those with nothing missing: for the others it is
 * unknown.
 */
double call_blocked_share(const struct call_stats *s)
{
	return (double)s->blocked_n / (double)s->complete;
}

double call_uncertainty(const struct report *r, const struct call_stats *s, bool blocked)
{
	if (!s->complete || !r->core->trace.calibration.event_cycles || r->core->clock.ns_only)
		return NAN;
	return blocked ? s->uncertainty_blocked : s->uncertainty;
}

bool call_state_known(const struct report *r, enum call_state state)
{
	return (state != STATE_LOCK && state != STATE_RELEASE) ||
	       core_knows_lock_state(r->core, state);
}

const char *call_name(const struct call_stats *s)
{
	return call_is_kernel_only(s) ? mg_syscall_name(s->key.id & ~CALL_KERNEL_ONLY)
				      : mg_function_name(s->key.id);
}

/* Returns the mean gap between the calls that moved the sender's bytes; NAN below two calls. */
static double tau_ns(const struct report *r, const struct flow *tx)
{
	return tx->use.calls > 1 ? report_ns(r, (double)(tx->use.last - tx->use.first) /
							(double)(tx->use.calls - 1))
				 : NAN;
}

static double ratio(double a, double b)
{
	return b > 0 ? a / b : NAN;
}

/*
 * Computes J = mean |D - median D| over the bytes complete at both layers, and M = J / tau
 * (docs/method.md, "Modulation"). Sent: from the program's call to the driver. Received: from the
 * peer's call to the return of ours, where the peer is traced too.
 */
struct modulation flow_modulation(const struct report *r, const struct flow *f)
{
	struct modulation m = {.j_ns = NAN,
		.tau_ns = NAN,
		.m = NAN,
		.s = NAN,
		.blocked_share = NAN,
		.w1_spacing_ns = NAN};
	/* several sockets may send to one, and one to several */
	bool by_message = f->rx && f->sock->kind != MG_KIND_tcp;
	const struct flow *sender = f->rx ? flow_peer(f) : f;
	const struct flow_measures *own = measures(f);
	const struct dist *shift = &own->shift;
	const struct unit_stats *from, *to;

	m.from = f->rx ? "peer_call" : "call";
	m.to = f->rx ? "call" : "device";
	if (f->sock->ulp || (!sender && !by_message) || (by_message && !own->from) || !shift->n ||
		standing_of(flow_coverage(f)) == WITHHELD)
		return m;
	from = by_message ? own->from : &measures(sender)->units[TX_CALL];
	to = &own->units[f->rx ? (int)RX_CALL : (int)TX_XMIT];
	m.known = true;
	m.bytes = shift->weight;
	m.j_ns = report_ns(r, dist_mean_abs_dev(shift));
	m.tau_ns = !by_message   ? tau_ns(r, sender)
		   : from->n > 1 ? report_ns(r, unit_mean_gap(from))
				 : NAN;
	m.m = ratio(m.j_ns, m.tau_ns);
	m.s = ratio((double)to->n, (double)from->n);
	/* share of the time of the threads that send */
	if (sender && core_observes(r->core, MG_EVENT_sched_switch))
		m.blocked_share = ratio((double)sender->use.blocked,
			(double)(sender->active.last - sender->active.first) * sender->use.threads);
	if (from->gaps.n && to->gaps.n)
		m.w1_spacing_ns = report_ns(r, dist_w1(&from->gaps, &to->gaps));
	return m;
}

/* Adds the CPU time that a recorder took while it recorded, and that of its start and end. */
static void add_recorder(
	struct own_cost *c, const json_t *side, const char *all_cpu, double duration_ns)
{
	double cpu = json_number_value(json_object_get(side, all_cpu));
	double running_ns = json_number_value(json_object_get(side, "running_ns"));
	double running_cpu = json_number_value(json_object_get(side, "running_cpu_ns"));
	double setup_cpu = json_number_value(json_object_get(side, "setup_cpu_ns"));

	if (!json_object_get(side, all_cpu))
		return;
	if (running_ns > 0) {
		c->cpu_share += running_cpu / running_ns;
		c->setup_cpu_ns += setup_cpu + cpu - running_cpu;
	} else { /* recorded by a version that did not separate the two */
		c->cpu_share += cpu / duration_ns;
		c->setup_cpu_ns = NAN;
	}
}

struct own_cost report_own_cost(const struct report *r)
{
	const json_t *kernel = json_object_get(r->session, "kernel_side");
	const json_t *app = json_object_get(r->session, "app");
	struct own_cost c = {NAN, NAN, NAN, NAN};
	double duration = report_duration_ns(r);

	if (figures_of(r->core)->calls.logged.n)
		c.app_ns_per_call = report_ns(r, dist_mean(&figures_of(r->core)->calls.logged));
	if (r->core->trace.has_calibration && r->core->trace.calibration.event_cycles)
		c.kernel_ns_per_event = report_ns(r, r->core->trace.calibration.event_cycles);
	/* the CPU time of magnet's processes is known only once the recording has ended */
	if (!json_integer_value(json_object_get(r->session, "duration_ns")))
		return c;
	c.cpu_share = c.setup_cpu_ns = 0;
	add_recorder(&c, kernel, "cpu_ns", duration);
	add_recorder(&c, app, "daemon_cpu_ns", duration);
	if (!isnan(c.app_ns_per_call))
		c.cpu_share += c.app_ns_per_call * (double)r->core->counts.app_events / duration;
	if (!isnan(c.kernel_ns_per_event))
		c.cpu_share +=
			c.kernel_ns_per_event * (double)r->core->counts.kernel_events / duration;
	return c;
}

const char *report_no_switch_cost(const struct report *r)
{
	const struct core *c = r->core;

	if (mg_events_have(c->probes.hooked, MG_EVENT_sched_cost))
		return NULL;
	for (uint32_t i = 0; i < c->probes.hook_count; i++)
		if (c->probes.hooks[i].event == MG_EVENT_sched_cost)
			return "this kernel does not report it (Linux 6.15 and newer do)";
	if (c->trace.kernel_tracer[0])
		return "the kernel's tracer does not record it";
	return "not recorded (--layers +switch)";
}

bool report_has_app(const struct report *r)
{
	return r->core->counts.app_events || json_is_object(json_object_get(r->session, "app"));
}

double report_steal_share(const struct report *r)
{
	const json_t *steal = json_object_get(r->session, "steal_ns");

	return json_is_integer(steal) ? (double)json_integer_value(steal) /
						(report_duration_ns(r) * report_cpus(r))
				      : NAN;
}

bool flow_timeouts_known(const struct report *r, const struct flow *f)
{
	return !f->rx && core_observes(r->core, MG_EVENT_tcp_retransmit);
}

bool flow_windows_known(const struct report *r, const struct flow *f)
{
	const struct core *c = r->core;

	if (!f->rx)
		return core_observes(c, MG_EVENT_tcp_recv);
	return !core_knows_hooks(c) ||
	       mg_events_have(core_hooked(c, f->sock->netns), MG_EVENT_ip_out);
}
