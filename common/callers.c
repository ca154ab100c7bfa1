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

/*
 * Returns the process with the program that it ran at `t`; `after` gets the one with its next
 * program, NULL = none.
 */
static struct caller *running(struct caller *p, uint64_t t, struct caller **after)
{
	*after = NULL;
	while (p && t < p->since_ns && p->before) {
		*after = p;
		p = p->before;
	}
	return p;
}

void callers_count(struct callers *c, uint32_t pid, uint64_t t, bool moves)
{
	struct caller *after, *p = running(find(c, pid), t, &after);

	if (!p)
		return;
	if (!p->calls || t < p->first_ns)
		p->first_ns = t;
	if (t > p->last_ns)
		p->last_ns = t;
	p->calls++;
	p->moved += moves;
}

#define SEEN_MAX 16384

struct call_seen {
	uint64_t t;
	uint32_t pid;
	bool moves;
};

void callers_tell(struct callers *c, uint32_t pid, uint64_t t, bool moves)
{
	if (!c->seen)
		c->seen = mg_malloc(SEEN_MAX * sizeof(*c->seen));
	if (c->seen && c->seen_n < SEEN_MAX)
		c->seen[c->seen_n++] = (struct call_seen){t, pid, moves};
	else
		callers_count(c, pid, t, moves);
}

void callers_turn(struct callers *c)
{
	for (uint32_t i = 0; i < c->seen_last; i++)
		callers_count(c, c->seen[i].pid, c->seen[i].t, c->seen[i].moves);
	c->seen_n -= c->seen_last;
	if (c->seen_n)
		memmove(c->seen, c->seen + c->seen_last, c->seen_n * sizeof(*c->seen));
	c->seen_last = c->seen_n;
}

static void name_it(struct caller *p, uint32_t parent, uint64_t t, const char comm[16])
{
	p->parent = parent;
	p->since_ns = t;
	memcpy(p->comm, comm, sizeof(p->comm) - 1);
	p->comm[sizeof(p->comm) - 1] = 0;
}

/* Returns a new entry for the process with the program that it runs from `t` on; NULL: no room. */
static struct caller *begin(struct callers *c, uint32_t pid, uint64_t t)
{
	struct caller *after, *p = running(find(c, pid), t, &after), *other = NULL;

	if (!p || (p->calls &&
			  p->first_ns >= t)) /* the calls belong to the program that begins now */
		return p;
	if (c->programs_before < MOST)
		other = mg_calloc(1, sizeof(*other));
	if (!other) {
		c->more = true;
		return NULL;
	}
	c->programs_before++;
	if (after) {
		other->pid = pid;
		other->before = p;
		return after->before = other;
	}
	*other = *p; /* `p` is in the hash table and remains the newest */
	p->before = other;
	p->calls = p->moved = p->first_ns = p->last_ns = 0;
	return p;
}

void callers_executed(struct callers *c, uint32_t pid, uint64_t t, const char comm[16])
{
	struct caller *p = begin(c, pid, t);

	if (p)
		name_it(p, 0, t, comm);
}

void callers_forked(
	struct callers *c, uint32_t parent, uint32_t pid, uint64_t t, const char comm[16])
{
	struct caller *after, *p = running(find(c, pid), t, &after);

	if (!p)
		return;
	if (pid == parent) {
		if (!p->comm[0])
			name_it(p, 0, p->since_ns, comm);
		return;
	}
	/* another process may have had its number */
	if (p->calls || p->parent || p->comm[0] || p->before)
		p = begin(c, pid, t);
	if (p)
		name_it(p, parent, t, comm);
}

#define ANCESTORS_MAX 64

const char *callers_program(const struct callers *c, const struct caller *p)
{
	const char *name = p->comm;

	for (int i = 0; p->parent && i < ANCESTORS_MAX; i++) {
		struct caller *after, *from = NULL;

		HASH_FIND(hh, c->all, &p->parent, sizeof(p->parent), from);
		from = running(from, p->since_ns, &after);
		if (!from || !from->comm[0])
			break;
		name = from->comm;
		p = from;
	}
	return name;
}

bool callers_called(const struct callers *c, uint32_t pid, uint64_t from, uint64_t until)
{
	const struct caller *p = NULL;

	HASH_FIND(hh, c->all, &pid, sizeof(pid), p);
	for (; p; p = p->before)
		if (p->calls && p->first_ns < until && p->last_ns >= from)
			return true;
	return false;
}

void callers_free(struct callers *c)
{
	struct caller *p, *tmp;

	HASH_ITER (hh, c->all, p, tmp) {
		HASH_DEL(c->all, p);
		for (struct caller *before; p; p = before) {
			before = p->before;
			free(p);
		}
	}
	free(c->seen);
	c->seen = NULL;
	c->last = NULL;
}
