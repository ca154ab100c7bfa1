/* SPDX-License-Identifier: MIT */
#include "callers.h"

#include <stdlib.h>
#include <string.h>

#include "alloc.h"

#define MOST 65536

static struct caller *find(struct callers *c, uint32_t pid)
{
	struct caller *p = c->last;

	if (p && p->pid == pid)
		return p;
	p = NULL;
	HASH_FIND(hh, c->all, &pid, sizeof(pid), p);
	if (!p && HASH_COUNT(c->all) < MOST) { /* a program can make up as many as it likes */
		p = mg_calloc(1, sizeof(*p));
		if (p) {
			p->pid = pid;
			HASH_ADD(hh, c->all, pid, sizeof(p->pid), p);
			p = hash_kept(p);
		}
	}
	c->more |= !p;
	return c->last = p;
}

void callers_count(struct callers *c, uint32_t pid, bool moves)
{
	struct caller *p = find(c, pid);

	if (!p)
		return;
	p->calls++;
	p->moved += moves;
}

void callers_name(struct callers *c, uint32_t pid, const char comm[16])
{
	struct caller *p = find(c, pid);

	if (p) {
		memcpy(p->comm, comm, sizeof(p->comm) - 1);
		p->comm[sizeof(p->comm) - 1] = 0;
	}
}

void callers_forked(struct callers *c, uint32_t parent, uint32_t pid, const char comm[16])
{
	const struct caller *from = NULL;

	HASH_FIND(hh, c->all, &parent, sizeof(parent), from);
	callers_name(c, pid, from && from->comm[0] ? from->comm : comm);
}

uint64_t callers_calls(const struct callers *c, uint32_t pid)
{
	struct caller *p = NULL;

	HASH_FIND(hh, c->all, &pid, sizeof(pid), p);
	return p ? p->calls : 0;
}

void callers_free(struct callers *c)
{
	struct caller *p, *tmp;

	HASH_ITER (hh, c->all, p, tmp) {
		HASH_DEL(c->all, p);
		free(p);
	}
	c->last = NULL;
}
