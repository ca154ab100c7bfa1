/* SPDX-License-Identifier: MIT */
/* Tracks which program each process runs, and which programs bypassed libmagnet.so. */
#include "task/process.h"

#include <stdlib.h>
#include <string.h>

#include "alloc.h"
#include "core.h"
#include "event_table.h"
#include "coverage/side.h"
#include "task/threads.h"

/* Returns the program of that name; NULL if memory is short or there is no name. */
static const struct program *program_of(struct core *c, const char comm[16])
{
	/* zeroed, as the whole array is the key */
	char name[sizeof(((struct program *)NULL)->comm)] = "";
	struct program *p = NULL;

	memcpy(name, comm, strnlen(comm, sizeof(name) - 1));
	if (!name[0])
		return NULL;
	HASH_FIND(hh, c->tasks.programs, name, sizeof(name), p);
	if (p)
		return p;
	p = mg_calloc(1, sizeof(*p));
	if (!p)
		return NULL;
	memcpy(p->comm, name, sizeof(p->comm));
	HASH_ADD(hh, c->tasks.programs, comm, sizeof(p->comm), p);
	return hash_kept(p);
}

static struct process *find(const struct core *c, uint32_t pid)
{
	struct process *p = NULL;

	HASH_FIND(hh, c->tasks.processes, &pid, sizeof(pid), p);
	return p;
}

/* Returns a process; NULL if memory is short. */
static struct process *find_or_make(struct core *c, uint32_t pid)
{
	struct process *p = find(c, pid);

	if (p)
		return p;
	p = mg_calloc(1, sizeof(*p));
	if (!p)
		return NULL;
	p->pid = pid;
	HASH_ADD(hh, c->tasks.processes, pid, sizeof(p->pid), p);
	return hash_kept(p);
}

/*
 * Names a process: an executed program takes precedence over the name of its first thread, and that
 * over others.
 */
static void name(struct core *c, struct process *p, const char comm[16], int by)
{
	if (p->program && (int)p->named > by && !p->has_ended)
		return;
	p->program = program_of(c, comm);
	p->named = by;
	p->has_ended = false;
}

struct process *process_of(struct core *c, struct thread *t)
{
	struct process *p = t->process;

	if (!p || p->pid != t->pid)
		p = find_or_make(c, t->pid);
	if (!p)
		return NULL;
	if (!p->program)
		name(c, p, t->comm, NAMED_BY_THREAD);
	return t->process = p;
}

void process_named(struct core *c, struct process *p, const char comm[16])
{
	name(c, p, comm, NAMED_BY_EXEC);
}

/*
 * A forked process runs its parent's program; the kernel names it after the thread that forked,
 * which may have any name.
 */
void process_on_fork(struct core *c, struct thread *t, const struct mg_event *e)
{
	const struct mg_task_fork *f = &e->task_fork;
	const struct process *parent = e->pid != f->child_pid ? find(c, e->pid) : NULL;
	struct process *p;

	if (f->child_tid != f->child_pid || !parent || !parent->program) {
		process_known(c, t);
		return;
	}
	p = find_or_make(c, f->child_pid);
	if (!p)
		return;
	process_ends(c, p); /* it had the same id, and its end was not seen */
	p->program = parent->program;
	p->named = parent->named;
	p->has_ended = false;
}

void process_known(struct core *c, struct thread *t)
{
	struct process *p = t->pid ? find_or_make(c, t->pid) : NULL;
	bool leads = t->tid == t->pid;

	if (p && (leads || !p->program))
		name(c, p, t->comm, leads ? NAMED_BY_LEADER : NAMED_BY_THREAD);
}

/* Forgets the descriptors by which call/descriptor.c attributes bytes of lost calls. */
static void forget_descriptors(struct process *p)
{
	free(p->descriptors);
	p->descriptors = NULL;
}

void process_ends(struct core *c, struct process *p)
{
	bool passed_by = !p->app && p->moved; /* the C library resolves names by itself */
	struct unseen *u = NULL;
	char name[sizeof(u->comm)] = ""; /* zeroed, as the whole array is the key */

	if (passed_by || p->io_uring) {
		if (p->program)
			memcpy(name, p->program->comm, sizeof(name));
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
	p->app = p->kernel_only = p->moved = p->io_uring = p->ended_ns = 0;
	forget_descriptors(p);
}

void process_on_exit(struct core *c, struct process *p, uint64_t now_ns)
{
	p->has_ended = true;
	if (has_app_side(c))
		p->ended_ns = now_ns;
	else
		process_ends(c, p);
}

void processes_settle(struct core *c, uint64_t before_ns)
{
	struct process *p, *tmp;

	HASH_ITER (hh, c->tasks.processes, p, tmp)
		if (p->ended_ns && p->ended_ns < before_ns)
			process_ends(c, p);
}

void processes_end(struct core *c)
{
	struct process *p, *tmp;

	HASH_ITER (hh, c->tasks.processes, p, tmp) {
		process_ends(c, p);
	}
}

void process_free(struct process *p)
{
	forget_descriptors(p);
	free(p);
}

void processes_free(struct core *c)
{
	struct process *p, *ptmp;
	struct unseen *u, *utmp;
	struct program *g, *gtmp;

	HASH_ITER (hh, c->tasks.programs, g, gtmp) {
		HASH_DEL(c->tasks.programs, g);
		free(g);
	}
	HASH_ITER (hh, c->tasks.processes, p, ptmp) {
		HASH_DEL(c->tasks.processes, p);
		process_free(p);
	}
	HASH_ITER (hh, c->unseen, u, utmp) {
		HASH_DEL(c->unseen, u);
		free(u);
	}
}
