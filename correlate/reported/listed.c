/* SPDX-License-Identifier: MIT */
#include "reported/listed.h"

#include "reported/getters.h"

/* In the lists that are hash tables `at` is the last entry that was returned. */
bool next_report_unseen(const struct report_figures *f, uintptr_t *at, struct unseen_figures *to)
{
	const struct unseen *last = (const struct unseen *)*at;

	to->u = last ? last->hh.next : f->r->core->unseen;
	*at = (uintptr_t)to->u;
	return to->u;
}

bool next_report_other_events(
	const struct report_figures *f, uintptr_t *at, struct other_event_figures *to)
{
	const struct other_stats *last = (const struct other_stats *)*at;

	to->o = last ? last->hh.next : f->r->core->others;
	*at = (uintptr_t)to->o;
	return to->o;
}

bool next_report_marks(const struct report_figures *f, uintptr_t *at, struct mark_figures *to)
{
	if (*at >= f->r->core->marked.marks_n)
		return false;
	*to = (struct mark_figures){f->r, &f->r->core->marked.marks[(*at)++]};
	return true;
}

bool next_report_hooks(const struct report_figures *f, uintptr_t *at, struct hook_figures *to)
{
	if (*at >= f->r->core->probes.hook_count)
		return false;
	to->h = &f->r->core->probes.hooks[(*at)++];
	return true;
}

static bool bytes_of(const struct span *s, struct marked_bytes_figures *to)
{
	if (!s->sock)
		return false;
	to->s = s;
	flow_name(to->flow, s->sock, s->rx);
	return true;
}

bool into_mark_received(const struct mark_figures *f, struct marked_bytes_figures *to)
{
	return bytes_of(&f->m->received, to);
}

bool into_mark_sent(const struct mark_figures *f, struct marked_bytes_figures *to)
{
	return bytes_of(&f->m->sent, to);
}

/* clang-format off */
GET(unseen, comm, value_text(f->u->comm[0] ? f->u->comm : NULL))
GET(unseen, processes, value_count(f->u->processes))
GET(unseen, calls, value_count(f->u->calls))
GET(unseen, io_uring_enter, value_count(f->u->io_uring))

GET(marked_bytes, flow, value_text(f->flow))
GET(marked_bytes, offset, value_count(f->s->off))
GET(marked_bytes, length, value_count(f->s->len))

GET(mark, name, value_text(f->m->name))
GET(mark, id, value_count(f->m->id))
GET(mark, value, value_signed(f->m->value))
GET(mark, tid, value_count(f->m->tid))
GET(mark, pid, value_count(f->m->pid))
GET(mark, time_ns, value_number((double)clockmap_ns(&f->r->core->clock, f->m->t)))

GET(other_event, name, value_text(f->o->name))
GET(other_event, n, value_count(f->o->n))

GET(hook, layer, value_text(f->h->layer))
GET(hook, hook, value_text(f->h->what))
GET(hook, status, value_signed(f->h->status))
GET(hook, netns, value_if(f->h->netns, value_count(f->h->netns)))
/* clang-format on */
