/* SPDX-License-Identifier: MIT */
#include "socket/flow_fact.h"

#include <string.h>

#include "core.h"
#include "event_table.h"
#include "task/process.h"
#include "task/threads.h"

static const struct flow *other_end(const struct flow *f)
{
	const struct mg_sock *peer = f->sock->peer;

	if (f->paired.partner)
		return f->paired.several ? NULL : f->paired.partner;
	return !peer ? NULL : f->rx ? &peer->tx : &peer->rx;
}

/* Returns the name of the program that used a socket last; NULL if it is not known. */
static const char *program_of(const struct core *c, const struct mg_sock *s)
{
	const struct program *program = s->user.program;
	struct process *p = NULL;

	if (!program) { /* the name may have come with a later event */
		HASH_FIND(hh, c->tasks.processes, &s->user.pid, sizeof(s->user.pid), p);
		program = p ? p->program : NULL;
	}
	return program ? program->comm : NULL;
}

static void fill_socket(const struct core *c, const struct flow *f, struct fact_flow *to)
{
	const struct mg_sock *s = f->sock;
	const struct far_end *far = s->far && !s->rport ? &s->far[f->rx] : NULL;
	const struct flow *peer = other_end(f);

	to->flow = flow_fact(f);
	to->kind = s->kind;
	to->pid = s->user.pid;
	to->program = program_of(c, s);
	to->netns = s->netns;
	to->local = sock_local(s);
	to->remote = sock_remote(s);
	to->several_remotes = FACT_MAYBE;
	if (far && far->known) {
		to->first_remote = (struct fact_address){far->addr, far->port};
		to->remote = (struct fact_address){far->several ? NULL : far->addr, far->port};
		to->several_remotes = far->several;
	}
	if (peer)
		to->peer = flow_fact(peer);
	to->sending = flow_fact(&s->tx);
	to->side = (uint8_t)sock_side(s);
	to->opened = s->met.opened;
	to->isn = s->ends.isn;
	to->irs = s->ends.irs;
	to->device = s->name[0] ? s->name : NULL;
	to->peer_sock = s->peer ? s->peer->cookie : 0;
	to->unclaimed = s->unclaimed;
	to->ulp = s->ulp;
}

static void fill_bytes(const struct flow *f, struct fact_flow *to)
{
	to->offset = f->start;
	to->end = f->total;
	to->bytes = f->total - f->start;
	to->relative = f->anchor.relative;
	to->acknowledged = f->ack.to;
	to->followed = f->complete;
	to->incomplete = f->incomplete;
	to->retransmitted = f->copies.retransmitted;
	to->resent = f->copies.resent + f->copies.pending;
	to->ambiguous = f->copies.ambiguous;
	to->transit_ambiguous = f->copies.transit_ambiguous;
	to->undivided = f->copies.undivided;
	to->incomplete_again = f->copies.incomplete;
	to->never_sent = f->never_sent.bytes;
	to->never_sent_known = f->never_sent.known;
	to->opening = f->handshake.unseen;
	to->urgent_unread = f->urgent.discarded;
	to->closure = (uint64_t)f->closure;
}

static void fill_calls(const struct flow *f, struct fact_flow *to)
{
	const struct zerocopy *z = f->zerocopy;

	to->calls = f->use.calls;
	to->first_call = f->use.first;
	to->last_call = f->use.last;
	to->threads = f->use.threads;
	to->blocked = f->use.blocked;
	to->open_calls = f->use.open;
	to->kernel_only = f->use.kernel_only;
	to->refused_calls = f->refusals.n;
	if (!z)
		return;
	to->zerocopy_sends = z->sends;
	to->zerocopy_copied = z->copied;
	to->zerocopy_pending = z->len - zerocopy_missed(z);
	to->zerocopy_unsure = z->unsure + zerocopy_missed(z);
}

static void fill_losses(const struct flow *f, struct fact_flow *to)
{
	to->retransmits = f->retried.segments;
	to->syn_retries = f->retried.syn;
	to->synack_retries = f->retried.synack;
	to->dropped = f->drops.n;
	to->discarded = f->drops.discarded;
	to->dropped_bytes = f->drops.bytes;
	to->driver_refused = f->drops.refused;
	to->gaps = f->missing.gaps;
	to->missing_layers = f->missing.layers;
	to->missing_events = f->missing.events;
	to->missing_share = f->missing.events_share;
	to->missing_time = f->missing.time_share;
	to->missing_bytes = f->missing.bytes;
	to->unmatched = f->missing.messages;
}

static void fill_life(const struct flow *f, struct fact_flow *to)
{
	uint64_t moved = f->active.first, told = f->active.first_told;

	to->first = !told || (moved && moved < told) ? moved : told;
	to->last = f->active.last > f->active.last_told ? f->active.last : f->active.last_told;
	to->first_moved = moved;
	to->last_moved = f->active.last;
}

static void fill(const struct core *c, const struct flow *f, struct fact_flow *to)
{
	memset(to, 0, sizeof(*to));
	fill_life(f, to);
	fill_socket(c, f, to);
	fill_bytes(f, to);
	fill_calls(f, to);
	fill_losses(f, to);
}

static bool fill_if(const struct core *c, const struct mg_sock *s, bool rx, struct fact_flow *to)
{
	if (s)
		fill(c, rx ? &s->rx : &s->tx, to);
	else
		memset(to, 0, sizeof(*to));
	return s;
}

bool core_flow(struct core *c, uint64_t sock, bool rx, struct fact_flow *to)
{
	return fill_if(c, core_sock(c, sock), rx, to);
}

bool core_keep_flow(struct core *c, uint64_t sock, bool rx, struct fact_flow *to)
{
	return fill_if(c, core_keep_sock(c, sock), rx, to);
}

bool core_states_stay(struct core *c, uint64_t sock)
{
	const struct mg_sock *s = core_sock(c, sock);

	return s && core_sock_stays(s);
}

struct walk {
	struct core *core;
	void (*fn)(void *arg, const struct fact_flow *tx, const struct fact_flow *rx);
	void *arg;
};

static void pass(void *arg, const struct mg_sock *s)
{
	const struct walk *w = arg;
	struct fact_flow tx, rx;

	fill(w->core, &s->tx, &tx);
	fill(w->core, &s->rx, &rx);
	w->fn(w->arg, &tx, &rx);
}

void core_each_flow(struct core *c,
	void (*fn)(void *arg, const struct fact_flow *tx, const struct fact_flow *rx), void *arg)
{
	struct walk w = {c, fn, arg};

	core_each_sock(c, pass, &w);
}

/* Emits a flow that moved or lost anything; what was not recorded is left out. */
static void tell(const struct core *c, const struct fact_flow *f)
{
	struct fact_flow known = *f;

	if (!f->bytes && !f->dropped && !f->first_moved)
		return;
	if (!f->pid)
		known.pid = FACT_NONE;
	if (!f->netns)
		known.netns = FACT_NONE;
	if (!f->peer_sock)
		known.peer_sock = FACT_NONE;
	if (!f->isn && !f->irs)
		known.isn = known.irs = FACT_NONE;
	if (f->unclaimed)
		known.calls = FACT_NONE;
	if (f->unclaimed || f->ulp)
		known.followed = known.incomplete = known.incomplete_again = FACT_NONE;
	if (!f->never_sent_known)
		known.never_sent = FACT_NONE;
	if (f->kind != MG_KIND_tcp || f->flow.rx || !core_observes(c, MG_EVENT_tcp_retransmit))
		known.retransmits = known.syn_retries = known.retransmitted = FACT_NONE;
	if (!core_observes(c, MG_EVENT_drop))
		known.dropped = known.discarded = known.dropped_bytes = FACT_NONE;
	emit_flow(&c->facts, &known);
}

static void tell_both(void *arg, const struct fact_flow *tx, const struct fact_flow *rx)
{
	tell(arg, tx);
	tell(arg, rx);
}

void flows_tell(struct core *c)
{
	if (facts_wanted(&c->facts, FACT_flow))
		core_each_flow(c, tell_both, c);
}
