/* SPDX-License-Identifier: MIT */
#include "reported/listed.h"

#include "reported/getters.h"

bool next_report_unseen(const struct report_figures *f, uintptr_t *at, struct unseen_figures *to)
{
	return core_next_bypass(f->r->core, at, &to->u);
}

bool next_report_other_events(
	const struct report_figures *f, uintptr_t *at, struct other_event_figures *to)
{
	return core_next_chosen(f->r->core, at, &to->o);
}

bool next_report_dumps(const struct report_figures *f, uintptr_t *at, struct dump_figures *to)
{
	if (!core_next_dump(f->r->core, at, &to->d))
		return false;
	to->flow[0] = 0;
	if (to->d.flow.sock)
		flow_name(to->flow, to->d.flow.sock, to->d.flow.rx);
	return true;
}

bool next_report_marks(const struct report_figures *f, uintptr_t *at, struct mark_figures *to)
{
	to->r = f->r;
	return report_next_mark(f->r, at, &to->m);
}

bool next_report_hooks(const struct report_figures *f, uintptr_t *at, struct hook_figures *to)
{
	return core_next_hook(f->r->core, at, &to->h);
}

static bool bytes_of(
	struct fact_flow_id flow, uint64_t offset, uint64_t length, struct marked_bytes_figures *to)
{
	if (!flow.sock)
		return false;
	to->offset = offset;
	to->length = length;
	flow_name(to->flow, flow.sock, flow.rx);
	return true;
}

bool into_mark_received(const struct mark_figures *f, struct marked_bytes_figures *to)
{
	return bytes_of(f->m.received, f->m.received_offset, f->m.received_length, to);
}

bool into_mark_sent(const struct mark_figures *f, struct marked_bytes_figures *to)
{
	return bytes_of(f->m.sent, f->m.sent_offset, f->m.sent_length, to);
}

/* clang-format off */
GET(unseen, comm, value_text(f->u.program))
GET(unseen, processes, value_count(f->u.processes))
GET(unseen, calls, value_count(f->u.calls))
GET(unseen, io_uring_enter, value_count(f->u.io_uring))

GET(marked_bytes, flow, value_text(f->flow))
GET(marked_bytes, offset, value_count(f->offset))
GET(marked_bytes, length, value_count(f->length))

GET(dump, time_ns, value_count(f->d.time))
GET(dump, why, value_text(f->d.why))
GET(dump, value_ns, value_if(f->d.value != FACT_NONE, value_count(f->d.value)))
GET(dump, flow, value_text(f->flow[0] ? f->flow : NULL))

GET(mark, name, value_text(f->m.name))
GET(mark, id, value_count(f->m.id))
GET(mark, value, value_signed(f->m.value))
GET(mark, tid, value_count(f->m.tid))
GET(mark, pid, value_count(f->m.pid))
GET(mark, time_ns, value_number((double)core_ns(f->r->core, f->m.time)))

GET(other_event, name, value_text(f->o.name))
GET(other_event, n, value_count(f->o.events))

GET(hook, layer, value_text(f->h.layer))
GET(hook, hook, value_text(f->h.hook))
GET(hook, status, value_signed(f->h.status))
GET(hook, netns, value_if(f->h.netns, value_count(f->h.netns)))
/* clang-format on */
