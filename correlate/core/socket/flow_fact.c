/* SPDX-License-Identifier: MIT */
#include "socket/flow_fact.h"

#include "core.h"
#include "event_table.h"
#include "task/threads.h"

static const struct flow *other_end(const struct flow *f)
{
	const struct mg_sock *peer = f->sock->peer;

	if (f->paired.partner)
		return f->paired.several ? NULL : f->paired.partner;
	return !peer ? NULL : f->rx ? &peer->tx : &peer->rx;
}

static void tell(const struct core *c, const struct flow *f)
{
	const struct mg_sock *s = f->sock;
	const struct far_end *far = s->far && !s->rport ? &s->far[f->rx] : NULL;
	const struct flow *peer = other_end(f);
	bool followable = !s->unclaimed && !s->ulp;
	struct fact_flow flow = {.flow = flow_fact(f),
		.kind = s->kind,
		.first = f->active.first,
		.last = f->active.last,
		.pid = s->user.pid ? s->user.pid : FACT_NONE,
		.program = s->user.program ? s->user.program->comm : NULL,
		.netns = s->netns ? s->netns : FACT_NONE,
		.bytes = f->total - f->start,
		.followed = followable ? f->complete : FACT_NONE,
		.incomplete = followable ? f->incomplete : FACT_NONE,
		.calls = s->unclaimed ? FACT_NONE : f->use.calls,
		.retransmits = FACT_NONE,
		.dropped = core_observes(c, MG_EVENT_drop) ? f->drops.n : FACT_NONE};

	if (s->kind == MG_KIND_tcp && !f->rx && core_observes(c, MG_EVENT_tcp_retransmit))
		flow.retransmits = f->retried.segments;
	if (!flow.bytes && !f->drops.n && !f->active.first)
		return;
	if (s->has_addr) {
		flow.local = (struct fact_address){s->laddr, s->lport};
		flow.remote = (struct fact_address){s->raddr, s->rport};
	}
	if (far && far->known)
		flow.remote = (struct fact_address){far->several ? NULL : far->addr, far->port};
	if (peer)
		flow.peer = flow_fact(peer);
	emit_flow(&c->facts, &flow);
}

static void tell_both(void *arg, const struct mg_sock *s)
{
	tell(arg, &s->tx);
	tell(arg, &s->rx);
}

void flows_tell(struct core *c)
{
	if (facts_wanted(&c->facts, FACT_flow))
		core_each_sock(c, tell_both, c);
}
