/* SPDX-License-Identifier: MIT */
/*
 * Attributes bytes of calls whose system calls were lost. A TCP socket counts its bytes itself; for
 * others the program's calls count, by descriptor: it belongs to the socket on which the calls
 * around them were made. Calls are not joined this way, only bytes are counted.
 */
#include "call/descriptor.h"

#include "alloc.h"
#include "core.h"
#include "event_table.h"
#include "socket/socket.h"
#include "task/threads.h"

#define DESCRIPTORS 64 /* per process; a power of two */

struct descriptor {
	int32_t fd;
	uint64_t sock;       /* 0 not known yet */
	uint64_t waiting[2]; /* bytes lost before the socket was known, sent and received */
};

static struct descriptor *at(struct process *p, int32_t fd)
{
	struct descriptor *d;

	if (fd < 0)
		return NULL;
	if (!p->descriptors)
		p->descriptors = mg_calloc(DESCRIPTORS, sizeof(*p->descriptors));
	if (!p->descriptors)
		return NULL;
	d = &p->descriptors[fd & (DESCRIPTORS - 1)];
	if (d->fd != fd)
		*d = (struct descriptor){.fd = fd};
	return d;
}

void descriptor_is(struct process *p, int32_t fd, struct mg_sock *s)
{
	struct descriptor *d = at(p, fd);

	if (!d || d->sock == s->cookie)
		return;
	d->sock = s->cookie;
	s->tx.missing.bytes += d->waiting[0];
	s->rx.missing.bytes += d->waiting[1];
	d->waiting[0] = d->waiting[1] = 0;
}

void descriptor_lost(struct core *c, struct process *p, const struct mg_call *call,
	enum mg_direction dir, uint64_t bytes)
{
	bool rx = dir == MG_DIR_RX;
	struct descriptor *d;
	struct mg_sock *s;

	if (!bytes || call->kind == MG_KIND_tcp || (!rx && dir != MG_DIR_TX))
		return;
	d = at(p, call->fd);
	if (!d)
		return;
	s = d->sock ? sock_find(c, d->sock) : NULL;
	if (s)
		(rx ? &s->rx : &s->tx)->missing.bytes += bytes;
	else
		d->waiting[rx] += bytes;
}

void descriptor_closed(struct process *p, int32_t fd)
{
	if (p->descriptors && fd >= 0 && p->descriptors[fd & (DESCRIPTORS - 1)].fd == fd)
		p->descriptors[fd & (DESCRIPTORS - 1)] = (struct descriptor){.fd = fd};
}
