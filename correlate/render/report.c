/* SPDX-License-Identifier: MIT */
/* The flows and calls of a report. */
#define _GNU_SOURCE
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "alloc.h"
#include "report.h"

struct found_flow {
	uint64_t bytes;
	struct flow_key key;
	bool followed, timed;
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
bool flow_is_shown(const struct fact_flow *f)
{
	/* in a window, bytes that arrived then may have been read later */
	return flow_bytes(f) || f->followed || f->dropped || measures(f)->timed ||
	       (f->kind != MG_KIND_tcp && f->first_moved);
}

bool flow_has_bars(const struct fact_flow *f)
{
	return flow_bytes(f) && (f->calls || f->missing_bytes) && !f->unclaimed && !f->ulp;
}

struct found_flows {
	struct core *core;
	struct found_flow *v;
	size_t n, there; /* chosen ones, and all that could be shown */
	struct alikes alikes;
	struct flow_sums sums;
	struct losses *losses;
};

static void add_sums(struct flow_sums *sums, const struct fact_flow *f)
{
	sums->bytes += flow_bytes(f);
	if (isnan(flow_coverage(f)))
		return;
	sums->followable += flow_bytes(f);
	sums->complete += f->followed;
	sums->incomplete += f->incomplete;
	sums->incomplete_again += f->incomplete_again;
}

/* Returns whether a socket's exchanges are a tracer's. `tx` is what it sends. */
static bool is_aside(const struct core *c, const struct fact_flow *tx)
{
	return measures(tx)->exchanges.aside && figures_of(c)->exchanges.has_app;
}

/* Returns the time that the messages of a flow waited, each as long as the mean byte. */
static double message_wait(const struct fact_flow *f)
{
	const struct flow_measures *m = measures(f);

	return m->residence.n ? dist_mean(&m->residence) *
					(double)m->units[f->flow.rx ? (int)RX_CALL : (int)TX_CALL].n
			      : 0;
}

static void find_flow(struct found_flows *all, const struct fact_flow *f, bool aside)
{
	if (!flow_is_shown(f))
		return;
	add_sums(&all->sums, f);
	if (aside)
		all->sums.aside += flow_bytes(f);
	else
		all->sums.message_wait += message_wait(f);
	all->v[all->n] = (struct found_flow){.bytes = flow_bytes(f),
		.key = {.sock = f->flow.sock,
			.rx = f->flow.rx,
			.wait = aside ? 0 : measures_wait(measures(f)),
			.is_aside = aside,
			.has_bars = flow_has_bars(f) || measures(f)->timed,
			.nth = (uint32_t)all->n,
			.alike = alike_number(&all->alikes, f)},
		.timed = measures(f)->timed && !aside,
		.followed = measures(f)->residence.n && flow_coverage(f) >= 0.90 && !aside};
	all->n++;
}

/*
 * Returns the flow whose bytes waited longest, the one that answers where bytes wait; with `timed`,
 * of those with sends by the kernel's timestamps.
 */
static size_t longest_wait(const struct found_flows *all, bool timed)
{
	size_t longest = all->n;

	for (size_t i = 0; i < all->n; i++)
		if ((timed ? all->v[i].timed : all->v[i].followed) &&
			(longest == all->n || all->v[i].key.wait > all->v[longest].key.wait))
			longest = i;
	return longest;
}

static void find_flows(void *arg, const struct fact_flow *tx, const struct fact_flow *rx)
{
	struct taken_socket s = {.flow = {*tx, *rx}};
	struct found_flows *all = arg;

	if (tx->kind == MG_KIND_netlink) /* its peer is the kernel */
		return;
	for (int i = 0; i < 2; i++)
		all->there += flow_is_shown(&s.flow[i]);
	if (!losses_take_socket(all->core, &s))
		return;
	for (int i = 0; i < 2; i++)
		if (s.has[i])
			find_flow(all, &s.flow[i], is_aside(all->core, tx));
	losses_add_socket(all->losses, all->core, &s);
}

/* The facts of the flows that a report has returned. */
struct flows_shown {
	struct fact_flow last, none;
	struct fact_flow **kept;
	size_t kept_n;
};

static int take_flows(struct report *r)
{
	size_t most = 2 * core_sock_count(r->core) + 1;
	struct found_flows all = {
		.core = r->core, .v = mg_calloc(most, sizeof(*all.v)), .losses = &r->losses};

	if (!all.v)
		return -ENOMEM;
	core_each_flow(r->core, find_flows, &all);
	qsort(all.v, all.n, sizeof(*all.v), larger_flow);
	r->flows = mg_calloc(all.n + 1, sizeof(*r->flows));
	r->shown = mg_calloc(1, sizeof(*r->shown));
	for (size_t i = 0; r->flows && r->shown && i < all.n; i++)
		r->flows[r->flow_count++] = all.v[i].key;
	r->sums = all.sums;
	r->sums.longest = longest_wait(&all, false);
	r->sums.longest_timed = longest_wait(&all, true);
	r->flows_there = all.there;
	r->alikes = all.alikes.n;
	alikes_free(&all.alikes);
	free(all.v);
	return r->flows && r->shown ? 0 : -ENOMEM;
}

int report_init(struct report *r, struct core *core, const json_t *session, const char *source)
{
	struct call_stats *calls = figures_of(core)->calls.calls, *k, *ktmp;

	memset(r, 0, sizeof(*r));
	r->core = core;
	r->session = session;
	r->source = source;
	core_recording(core, &r->recording);
	r->filter = figures_of(core)->filter;
	if (r->filter) /* of these no socket is known */
		r->recording.listen_drops = r->recording.synack_retries = 0;
	for (int i = 0; i < CORE_SIDES; i++)
		core_side(core, i, &r->side[i]);
	r->hz = r->recording.hz;
	r->calls = mg_calloc(HASH_COUNT(calls) + 1u, sizeof(*r->calls));
	if (!r->calls || take_flows(r) || losses_add_drops(&r->losses, core, &r->recording) ||
		report_take_drops(r) || report_take_slow_ranges(r))
		return -ENOMEM;
	HASH_ITER (hh, calls, k, ktmp)
		r->calls[r->call_count++] = k;
	qsort(r->calls, r->call_count, sizeof(*r->calls), more_calls);
	return 0;
}

const struct fact_flow *report_flow(const struct report *r, size_t i)
{
	/* empty if its socket cannot be unpacked for lack of memory: no figure is shown then */
	core_flow(r->core, r->flows[i].sock, r->flows[i].rx, &r->shown->last);
	figures_in_window(r->core, &r->shown->last);
	return &r->shown->last;
}

const struct fact_flow *report_keep_flow(const struct report *r, size_t i)
{
	struct flows_shown *all = r->shown;
	struct fact_flow **more = mg_realloc(all->kept, (all->kept_n + 1) * sizeof(*more));
	struct fact_flow *f;

	if (!more)
		return &all->none;
	all->kept = more;
	f = mg_calloc(1, sizeof(*f));
	if (!f)
		return &all->none;
	more[all->kept_n++] = f;
	core_keep_flow(r->core, r->flows[i].sock, r->flows[i].rx, f);
	figures_in_window(r->core, f);
	return f;
}

size_t report_find_flow(const struct report *r, const char *id)
{
	char name[32];
	size_t i;

	for (i = 0; i < r->flow_count; i++) {
		flow_name(name, r->flows[i].sock, r->flows[i].rx);
		if (strcmp(name, id) == 0)
			break;
	}
	return i;
}

void report_free(struct report *r)
{
	free(r->flows);
	free(r->slow_ranges);
	for (size_t i = 0; r->shown && i < r->shown->kept_n; i++)
		free(r->shown->kept[i]);
	if (r->shown)
		free(r->shown->kept);
	free(r->shown);
	losses_free(&r->losses);
	free(r->drops);
	free(r->calls);
}
