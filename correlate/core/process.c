/* SPDX-License-Identifier: MIT */
/* Which programs went past libmagnet.so. */
#include <stdlib.h>
#include <string.h>

#include "alloc.h"
#include "parts.h"

struct process *process_of(struct core *c, struct thread *t)
{
	struct process *p = t->process;

	if (p && p->pid == t->pid)
		return p;
	p = NULL;
	HASH_FIND(hh, c->processes, &t->pid, sizeof(t->pid), p);
	if (!p) {
		p = mg_calloc(1, sizeof(*p));
		if (!p)
			return NULL;
		p->pid = t->pid;
		HASH_ADD(hh, c->processes, pid, sizeof(p->pid), p);
		p = hash_kept(p);
		if (!p)
			return NULL;
	}
	if (!p->comm[0])
		memcpy(p->comm, t->comm, sizeof(p->comm));
	return t->process = p;
}

void process_ends(struct core *c, struct process *p)
{
	bool passed_by = !p->app && p->moved; /* the C library asks for names by itself */
	struct unseen *u = NULL;
	char name[sizeof(p->comm)] = ""; /* a key has no leftovers behind its end */

	if (passed_by || p->io_uring) {
		memcpy(name, p->comm, strnlen(p->comm, sizeof(name) - 1));
		HASH_FIND(hh, c->unseen, name, sizeof(name), u);
		if (!u) {
			u = mg_calloc(1, sizeof(*u));
			if (u) {
				memcpy(u->comm, name, sizeof(u->comm));
				HASH_ADD(hh, c->unseen, comm, sizeof(u->comm), u);
				u = hash_kept(u);
			}
		}
	}
	if (u) {
		u->processes++;
		u->calls += passed_by ? p->kernel_only : 0;
		u->io_uring += p->io_uring;
	}
	p->app = p->kernel_only = p->moved = p->io_uring = 0;
	descriptors_end(p);
}

void processes_end(struct core *c)
{
	struct process *p, *tmp;

	HASH_ITER (hh, c->processes, p, tmp) {
		process_ends(c, p);
	}
}

void processes_free(struct core *c)
{
	struct process *p, *ptmp;
	struct unseen *u, *utmp;

	HASH_ITER (hh, c->processes, p, ptmp) {
		HASH_DEL(c->processes, p);
		descriptors_end(p);
		free(p);
	}
	HASH_ITER (hh, c->unseen, u, utmp) {
		HASH_DEL(c->unseen, u);
		free(u);
	}
}
