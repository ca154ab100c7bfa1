/* SPDX-License-Identifier: MIT */
#include "call/forget.h"

#include <stdlib.h>

#include "core.h"
#include "call/forget_socks.h"
#include "message/pieces.h"
#include "task/holders.h"
#include "task/past.h"
#include "task/process.h"
#include "task/threads.h"

void thread_free(struct thread *t)
{
	kernel_call_free(&t->now);
	kernel_call_free(&t->claimed);
	for (uint32_t i = 0; i < t->done.n; i++)
		kernel_call_free(&t->done.call[i]);
	free(t->done.call);
	free(t);
}

/* Whether no event needs the thread any more, as far as it alone can tell. */
static bool is_over(const struct thread *t)
{
	if (t->in_call || t->done.n)
		return false;
	/*
	 * A thread that is not traced is there as the kernel handled packets in its context. Its
	 * end is not recorded; without a name nothing is lost with it.
	 */
	return t->has_ended || (!t->traced && !t->comm[0]);
}

static void forget_threads(struct core *c)
{
	struct thread *t, *tmp;
	bool some = false;

	HASH_ITER (hh, c->tasks.threads, t, tmp) {
		struct thread **recent = &c->recent.thread[t->tid % RECENT_THREADS];

		if (!is_over(t)) {
			t->is_forgotten_next = false;
			continue;
		}
		if (!t->is_forgotten_next) { /* its last events may not have come yet */
			t->is_forgotten_next = true;
			continue;
		}
		HASH_DEL(c->tasks.threads, t);
		some = true;
		if (*recent == t)
			*recent = NULL;
		thread_free(t);
	}
	if (some)
		holders_renumber(c);
}

static void forget_processes(struct core *c)
{
	struct process *p, *tmp;

	HASH_ITER (hh, c->tasks.processes, p, tmp)
		p->has_threads = false;
	for (const struct thread *t = c->tasks.threads; t; t = t->hh.next)
		if (t->process)
			t->process->has_threads = true;
	HASH_ITER (hh, c->tasks.processes, p, tmp)
		if (!p->has_threads && p->has_ended && !p->ended_ns) {
			HASH_DEL(c->tasks.processes, p);
			process_free(p);
		}
}

static void tasks_forget(struct core *c)
{
	if (past_wanted(c))
		return;
	forget_threads(c);
	forget_processes(c);
}

void core_forget(struct core *c, uint64_t now_ns)
{
	if (!c->forgetting.each_ns || now_ns < c->forgetting.again_ns)
		return;
	c->forgetting.again_ns = now_ns + c->forgetting.each_ns;
	tasks_forget(c);
	socks_forget(c, now_ns);
}
