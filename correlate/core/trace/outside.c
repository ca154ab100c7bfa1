/* SPDX-License-Identifier: MIT */
/* Threads, sockets and clocks known from other sources than the core's own events. */
#include <string.h>

#include "core.h"
#include "event_table.h"
#include "socket/socket.h"
#include "task/process.h"
#include "task/thread.h"
#include "task/threads.h"

void core_know_thread(struct core *c, uint32_t tid, uint32_t pid, const char *comm)
{
	struct thread *t = tid ? thread_get(c, tid, pid) : NULL;

	if (!t)
		return;
	t->traced = true;
	if (!comm)
		return;
	memset(t->comm, 0, sizeof(t->comm));
	memcpy(t->comm, comm, strnlen(comm, sizeof(t->comm) - 1));
	process_known(c, t);
}

void core_know_sock(struct core *c, uint64_t id, const struct sock_known *k)
{
	struct mg_sock *s = sock_get(c, id);

	if (!s)
		return;
	s->kind = k->kind;
	s->family = k->family;
	s->lport = k->lport;
	s->rport = k->rport;
	memcpy(s->laddr, k->laddr, sizeof(s->laddr));
	memcpy(s->raddr, k->raddr, sizeof(s->raddr));
	s->has_addr = k->has_addr;
	s->unclaimed = true;
	memcpy(s->name, k->name, sizeof(s->name) - 1);
}

void core_know_tracer(struct core *c, const char *name)
{
	memcpy(c->trace.kernel_tracer, name, strnlen(name, sizeof(c->trace.kernel_tracer) - 1));
	clockmap_use_ns(&c->clock);
}
