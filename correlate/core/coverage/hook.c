/* SPDX-License-Identifier: MIT */
/*
 * Determines the events that the recording can have from the hooks it lists, and the time for which
 * a layer was off.
 */
#include "coverage/hook.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "alloc.h"
#include "core.h"
#include "event_table.h"
#include "coverage/gap.h"

/* Returns the entry of a hook, made if needed. */
static struct hook_info *hook_of(struct core *c, const struct mg_hook *p)
{
	struct hook_info h = {.netns = p->netns}, *more;
	const struct mg_event_desc *d;
	char name[33];

	memcpy(h.layer, p->layer, sizeof(h.layer) - 1);
	memcpy(h.what, p->hook, sizeof(h.what) - 1);
	/* each part repeats them, and they may be switched on and off */
	for (uint32_t i = 0; i < c->probes.hook_count; i++)
		if (c->probes.hooks[i].netns == h.netns &&
			strcmp(c->probes.hooks[i].what, h.what) == 0)
			return &c->probes.hooks[i];
	more = mg_realloc(c->probes.hooks, (c->probes.hook_count + 1) * sizeof(*more));
	if (!more)
		return NULL;
	memcpy(name, p->hook, 32);
	name[32] = 0;
	name[strcspn(name, " ")] = 0; /* "ip_out ipv4" */
	d = mg_event_by_name(name);
	if (d && MG_IS_RING(d->id))
		h.event = d->id;
	c->probes.hooks = more;
	more[c->probes.hook_count] = h;
	return &more[c->probes.hook_count++];
}

/* Updates a namespace's set when it changes, as it is needed with every call. */
static void note_netns(struct core *c, uint32_t netns)
{
	struct netns_hooks *n, *more;
	uint32_t at = 0;

	while (at < c->probes.netns_hooks_n && c->probes.netns_hooks[at].netns != netns)
		at++;
	if (at == c->probes.netns_hooks_n) {
		more = mg_realloc(c->probes.netns_hooks, (at + 1) * sizeof(*more));
		if (!more)
			return;
		c->probes.netns_hooks = more;
		c->probes.netns_hooks_n++;
	}
	n = &c->probes.netns_hooks[at];
	*n = (struct netns_hooks){.netns = netns};
	for (uint32_t i = 0; i < c->probes.hook_count; i++)
		if (c->probes.hooks[i].netns == netns && c->probes.hooks[i].status == 0)
			mg_events_add(&n->events, c->probes.hooks[i].event);
}

static void tell_off(struct core *c, int layer, uint64_t from_ns, uint64_t to_ns)
{
	struct gap g = {.cpu = -1,
		.from_ns = from_ns,
		.to_ns = to_ns,
		.reason = MG_LOST_LAYER_OFF,
		.layers = 1u << layer};

	snprintf(g.producer, sizeof(g.producer), "layer %s off", mg_layer_names[layer]);
	if (to_ns > from_ns)
		gap_keep(c, &g);
}

/* Notes the time for which a layer is off: switched off, or switched on after the beginning. */
static void note_layer(struct core *c, const struct hook_info *of, uint64_t time_ns)
{
	struct core_probes *p = &c->probes;
	bool was, on = false;
	int layer = 0;

	while (layer < MG_LAYER_END && strcmp(mg_layer_names[layer], of->layer) != 0)
		layer++;
	if (layer == MG_LAYER_END)
		return;
	for (uint32_t i = 0; i < p->hook_count; i++)
		on |= p->hooks[i].status == 0 && strcmp(p->hooks[i].layer, of->layer) == 0;
	was = p->layers_on >> layer & 1;
	if (on && !was) {
		if (p->off_since_ns[layer])
			tell_off(c, layer, p->off_since_ns[layer], time_ns);
		else if (p->listed && !(p->layers_met >> layer & 1))
			tell_off(c, layer, core_begin_ns(c), time_ns);
		p->off_since_ns[layer] = 0;
		p->layers_on |= 1u << layer;
		p->layers_met |= 1u << layer;
	} else if (!on && was) {
		p->layers_on &= ~(1u << layer);
		if (of->status == -ENOLINK)
			p->off_since_ns[layer] = time_ns;
	}
}

void hook_finish(struct core *c, uint64_t end_ns)
{
	for (int i = 0; i < MG_LAYER_END; i++)
		if (c->probes.off_since_ns[i])
			tell_off(c, i, c->probes.off_since_ns[i], end_ns);
}

bool hook_on_event(struct core *c, const struct mg_hook *p, uint64_t time_ns)
{
	struct hook_info *h = hook_of(c, p);
	struct mg_events before = c->probes.hooked;

	if (!h)
		return false;
	h->status = p->status;
	if (h->status == 0)
		mg_events_add(&c->probes.met, h->event);
	note_layer(c, h, time_ns);
	c->probes.hook_changes++;
	c->probes.hooked = (struct mg_events){{0}};
	for (uint32_t i = 0; i < c->probes.hook_count; i++)
		if (c->probes.hooks[i].status == 0)
			mg_events_add(&c->probes.hooked, c->probes.hooks[i].event);
	if (h->netns) {
		mg_events_add(&c->probes.hooked_ns, h->event);
		note_netns(c, h->netns);
	}
	return mg_events_have(mg_events_without(c->probes.hooked, before), MG_EVENT_sys_exit);
}

void hook_seen(struct core *c, enum mg_event_id id)
{
	if (core_knows_hooks(c) || !MG_IS_RING(id) || mg_events_have(c->probes.hooked, id))
		return;
	mg_events_add(&c->probes.hooked, id);
	c->probes.hook_changes++;
}

/* A trace with the tracer's calibration has its head, and so the hooks, if there are any. */
bool core_knows_hooks(const struct core *c)
{
	return c->probes.hook_count || c->trace.has_calibration;
}

bool core_is_paused(const struct core *c)
{
	return c->trace.is_paused;
}

bool core_observes(const struct core *c, enum mg_event_id id)
{
	return !core_knows_hooks(c) || mg_events_have(c->probes.hooked, id);
}

bool core_has_observed(const struct core *c, enum mg_event_id id)
{
	return !core_knows_hooks(c) || mg_events_have(c->probes.met, id);
}

bool core_knows_lock_state(const struct core *c, enum call_state state)
{
	struct mg_events both = state == STATE_LOCK ? MG_EVENTS(lock_wait, lock_got)
						    : MG_EVENTS(backlog_begin, backlog_end);

	return mg_events_have_all(c->probes.hooked, both);
}

bool core_knows_states(const struct core *c)
{
	uint32_t scheduler = 1u << MG_LAYER_SCHED | 1u << MG_LAYER_SWITCH;
	uint32_t met = c->probes.layers_met; /* 0: the trace has no list of hooks */

	return c->counts.kernel_events && !c->trace.kernel_tracer[0] && (!met || met & ~scheduler);
}

struct mg_events core_hooked(const struct core *c, uint32_t netns)
{
	struct mg_events of = mg_events_without(c->probes.hooked, c->probes.hooked_ns);

	if (!mg_events_meet(c->probes.hooked, c->probes.hooked_ns))
		return of;
	for (uint32_t i = 0; i < c->probes.netns_hooks_n; i++)
		if (c->probes.netns_hooks[i].netns == netns)
			mg_events_add_all(&of, c->probes.netns_hooks[i].events);
	return of;
}
