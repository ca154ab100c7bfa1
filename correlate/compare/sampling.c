/* SPDX-License-Identifier: MIT */
#include "sampling.h"

#include <stdlib.h>
#include <string.h>

#include "alloc.h"
#include "figures/figures.h"
#include "figures/flows.h"

#define FIRST_WIDTH_NS 1000000
#define SUBJECTS_MAX   1000

/*
 * A call or flow whose totals were read at the end of the last block; the difference belongs to the
 * present one.
 */
struct seen_key {
	uint64_t id; /* a socket's cookie, or a call's key */
	uint8_t what, rx;
};
struct seen {
	struct seen_key key;
	struct subject *subject;
	uint64_t last_t, moved_n;
	double total[SUMS_MAX];
	UT_hash_handle hh;
};

void sampling_init(struct sampling *s, struct core *core)
{
	memset(s, 0, sizeof(*s));
	s->core = core;
	s->width_ns = FIRST_WIDTH_NS;
}

const struct subject *sampling_find(const struct sampling *s, const struct subject_key *key)
{
	struct subject *found = NULL;

	HASH_FIND(hh, s->subjects, key, sizeof(*key), found);
	return found;
}

static struct subject *subject_of(struct sampling *s, const struct subject_key *key)
{
	struct subject *found = NULL;

	HASH_FIND(hh, s->subjects, key, sizeof(*key), found);
	if (found)
		return found;
	if (HASH_COUNT(s->subjects) >= SUBJECTS_MAX) {
		s->left_out = true;
		return NULL;
	}
	found = mg_calloc(1, sizeof(*found));
	if (found) {
		found->key = *key;
		HASH_ADD(hh, s->subjects, key, sizeof(found->key), found);
		found = hash_kept(found);
	}
	return found;
}

static struct seen *seen_of(struct sampling *s, uint8_t what, uint64_t id, bool rx)
{
	struct seen_key key;
	struct seen *found = NULL;

	memset(&key, 0, sizeof(key));
	key.id = id;
	key.what = what;
	key.rx = rx;
	HASH_FIND(hh, s->seen, &key, sizeof(key), found);
	if (found)
		return found;
	found = mg_calloc(1, sizeof(*found));
	if (found) {
		found->key = key;
		HASH_ADD(hh, s->seen, key, sizeof(found->key), found);
		found = hash_kept(found);
	}
	return found;
}

static void take(struct sampling *s, struct seen *seen, const double *now, int sums)
{
	for (int i = 0; i < sums; i++) {
		if (seen->subject)
			seen->subject->block[i][s->at] += now[i] - seen->total[i];
		seen->total[i] = now[i];
	}
}

/* Reads a sum of the table. */
#define READ(name, value) now[name] = (double)(value);

static void read_dist(double *now, int sum, int weight, const struct dist *d)
{
	now[sum] = (double)d->sum;
	now[weight] = (double)d->weight;
}

static void read_call(struct sampling *s, const struct call_stats *c)
{
	struct subject_key key = {.what = SUBJECT_CALL, .kind = c->key.kind, .call = c->key.id};
	struct seen *seen = seen_of(s, SUBJECT_CALL, (uint64_t)c->key.id << 8 | c->key.kind, false);
	double now[SUMS_MAX] = {0};

	if (!seen)
		return;
	if (!seen->subject)
		seen->subject = subject_of(s, &key);
	MG_COMPARED_CALL_SUMS(READ)
	take(s, seen, now, CALL_SUMS);
}

static void read_scheduler(struct sampling *all)
{
	struct subject_key key = {.what = SUBJECT_SCHEDULER};
	struct seen *seen = seen_of(all, SUBJECT_SCHEDULER, 0, false);
	const struct sched_stats *s = &figures_of(all->core)->sched;
	double now[SUMS_MAX] = {0};

	if (!seen)
		return;
	if (!seen->subject)
		seen->subject = subject_of(all, &key);
	MG_COMPARED_SCHEDULER_SUMS(READ)
	take(all, seen, now, SCHEDULER_SUMS);
}

struct subject_key subject_of_flow(const struct fact_flow *f)
{
	struct subject_key key = {.what = SUBJECT_FLOW, .kind = f->kind, .rx = f->flow.rx};
	uint16_t own = f->local.port, peer = flow_remote_port(f);

	key.side = f->side;
	if (key.side == SIDE_CLIENT)
		key.port = peer;
	else if (key.side == SIDE_SERVER || !peer)
		key.port = own;
	else
		key.port = own && own < peer ? own : peer;
	return key;
}

/*
 * Returns the bytes that the layer nearest to the program saw, for sockets without sequence
 * numbers.
 */
static uint64_t bytes_so_far(const struct fact_flow *f)
{
	const struct unit_stats *copy =
		&measures(f)->units[f->flow.rx ? (int)RX_COPY : (int)TX_COPY];
	const struct unit_stats *call =
		&measures(f)->units[f->flow.rx ? (int)RX_CALL : (int)TX_CALL];

	if (f->kind == MG_KIND_tcp)
		return flow_bytes(f);
	return copy->n ? copy->bytes : call->bytes;
}

/* Returns the connection's protocol state, which its sender has; all 0 if nothing is recorded. */
static const struct tcp_record *state_of(const struct fact_flow *f)
{
	static const struct tcp_record nothing;
	const struct tcp_record *t = f->flow.rx ? NULL : measures(f)->tcp;

	return t ? t : &nothing;
}

/* Returns by how much a counter has grown. */
static uint64_t grown(const struct growing *g)
{
	return g->known ? g->last - g->first : 0;
}

static void read_modulation(
	struct sampling *s, const struct fact_flow *f, struct seen *seen, double *now)
{
	const struct dist *shift = &measures(f)->shift;
	const struct fact_flow *sender = f;
	struct fact_flow peer;

	if (f->flow.rx && (!f->peer_sock || !core_flow(s->core, f->peer_sock, false, &peer)))
		return;
	if (f->flow.rx)
		sender = &peer;
	/* the median moves as bytes come, which changes the sum only to second order */
	now[FLOW_MOVED] = seen->moved_n == shift->n
				  ? seen->total[FLOW_MOVED]
				  : dist_mean_abs_dev(shift) * (double)shift->weight;
	now[FLOW_MOVED_WEIGHT] = (double)shift->weight;
	seen->moved_n = shift->n;
	if (sender->calls > 1) {
		now[FLOW_GAP] = (double)(sender->last_call - sender->first_call);
		now[FLOW_GAPS] = (double)(sender->calls - 1);
	}
	now[FLOW_UNITS_FROM] = (double)measures(sender)->units[TX_CALL].n;
	now[FLOW_UNITS_TO] = (double)measures(f)->units[f->flow.rx ? (int)RX_CALL : (int)TX_XMIT].n;
}

static void read_timed(double *now, const struct timed_sums *t)
{
	if (!t)
		return;
	for (int i = 0; i < TIMED_STAGES; i++)
		read_dist(now, FLOW_TIMED + i, FLOW_TIMED_N + i, &t->stage[i]);
	read_dist(now, FLOW_TIMED_AT_MOST, FLOW_TIMED_AT_MOST_N, &t->at_most);
}

static void read_flow(struct sampling *s, const struct fact_flow *f)
{
	struct seen *seen;
	double now[SUMS_MAX] = {0};

	if (!f->first_moved)
		return;
	seen = seen_of(s, SUBJECT_FLOW, f->flow.sock, f->flow.rx);
	if (!seen ||
		(seen->last_t == f->last_moved && seen->total[FLOW_RESIDENCE_WEIGHT] ==
							  (double)measures(f)->residence.weight))
		return;
	seen->last_t = f->last_moved;
	if (!seen->subject) {
		struct subject_key key = subject_of_flow(f);

		seen->subject = subject_of(s, &key);
	}
	for (int i = 0; i < STAGES_MAX; i++)
		read_dist(now, FLOW_STAGE + i, FLOW_STAGE_WEIGHT + i, &measures(f)->stage[i]);
	for (int i = 0; measures(f)->why && i < WHYS; i++)
		now[FLOW_HELD + i] = (double)measures(f)->why->wait[i];
	read_modulation(s, f, seen, now);
	read_timed(now, measures(f)->timed);
	MG_COMPARED_FLOW_SUMS(READ)
	take(s, seen, now, FLOW_SUMS);
}

static void read_flows(void *arg, const struct fact_flow *tx, const struct fact_flow *rx)
{
	if (tx->kind == MG_KIND_netlink)
		return;
	read_flow(arg, tx);
	read_flow(arg, rx);
}

static void end_block(struct sampling *s)
{
	const struct call_stats *c;

	for (c = figures_of(s->core)->calls.calls; c; c = c->hh.next)
		read_call(s, c);
	core_each_flow(s->core, read_flows, s);
	read_scheduler(s);
}

static void double_width(struct sampling *s)
{
	struct subject *j;

	for (j = s->subjects; j; j = j->hh.next)
		for (int q = 0; q < SUMS_MAX; q++) {
			double *b = j->block[q];

			for (int i = 0; i < SAMPLING_BLOCKS / 2; i++)
				b[i] = b[2 * i] + b[2 * i + 1];
			memset(b + SAMPLING_BLOCKS / 2, 0, SAMPLING_BLOCKS / 2 * sizeof(*b));
		}
	s->width_ns *= 2;
}

void sampling_event(void *arg, const struct mg_event *e, const struct annotation *a)
{
	struct sampling *s = arg;
	uint64_t at;

	(void)a;
	if (!s->begun) {
		s->start_ns = e->time_ns;
		s->begun = true;
	}
	at = e->time_ns > s->start_ns ? (e->time_ns - s->start_ns) / s->width_ns : 0;
	if (at <= s->at)
		return;
	end_block(s);
	while (at >= SAMPLING_BLOCKS) {
		double_width(s);
		at = (e->time_ns - s->start_ns) / s->width_ns;
	}
	s->at = at;
}

void sampling_finish(struct sampling *s)
{
	end_block(s);
}

void sampling_free(struct sampling *s)
{
	struct subject *j, *jtmp;
	struct seen *k, *ktmp;

	HASH_ITER (hh, s->subjects, j, jtmp) {
		HASH_DEL(s->subjects, j);
		free(j);
	}
	HASH_ITER (hh, s->seen, k, ktmp) {
		HASH_DEL(s->seen, k);
		free(k);
	}
	memset(s, 0, sizeof(*s));
}
