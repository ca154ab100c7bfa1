/* SPDX-License-Identifier: MIT */
/* Shows listeners of events a part of the core's state; declared in contract.h. */
#include "core.h"
#include "call/call_settle.h"
#include "task/thread.h"
#include "task/threads.h"

struct fact_flow_id annotated_flow(const struct annotation *a)
{
	return (struct fact_flow_id){.sock = a->sock ? a->sock->cookie : 0, .rx = a->rx};
}

struct fact_flow_id annotated_sender(const struct annotation *a)
{
	return a->from ? flow_fact(a->from) : (struct fact_flow_id){0};
}

uint8_t annotated_kind(const struct annotation *a)
{
	return a->sock->kind;
}

struct moved_bytes annotated_bytes(const struct annotation *a, uint32_t i)
{
	const struct piece *p = &a->piece[i];

	return (struct moved_bytes){flow_fact(p->flow), p->off, p->len};
}

const uint64_t *annotated_states(const struct annotation *a)
{
	return a->call ? a->call->state : NULL;
}

const char *core_program(const struct core *c, uint32_t tid)
{
	const struct thread *t = thread_find(c, tid);

	if (t && t->comm[0])
		return t->comm;
	return t && t->process && t->process->program ? t->process->program->comm : "";
}

bool core_ended_call(const struct core *c, uint32_t tid, uint64_t exit, struct ended_call *to)
{
	const struct thread *t = thread_find(c, tid);
	const struct kernel_call *k = t && t->done.n ? &t->done.call[t->done.n - 1] : NULL;

	if (!k || k->exit != exit)
		return false;
	*to = (struct ended_call){.call = k->call,
		.ret = k->ret,
		.enter = k->enter,
		.exit = k->exit,
		.bytes = call_moved_bytes(k)};
	return true;
}
