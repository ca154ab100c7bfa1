/* SPDX-License-Identifier: MIT */
/* Logging one call: the part that all wrappers share. */
#ifndef MAGNET_PRELOAD_LOG_CALL_H
#define MAGNET_PRELOAD_LOG_CALL_H

#include <errno.h>

#include "cycles.h"
#include "events.h"
#include "fdkind.h"
#include "life.h"
#include "self.h"

/* A thread measures the cost of logging once in so many calls. */
#define MEASURE_EVERY 16

/*
 * Fills in the fields that are the same for every call; `error` is errno as the real call left it.
 */
static inline void complete(struct mg_call *c, int fd, int64_t ret, int error, int kind)
{
	mg_self_check();
	c->ret = ret;
	c->fd = fd;
	c->error = ret == -1 ? error : 0;
	c->tid = mg_self.tid;
	c->pid = mg_self.pid;
	if (__builtin_expect(!c->tid, 0))
		mg_self_ask(&c->tid, &c->pid);
	c->logged = mg_self.logged;
	c->kind = (uint8_t)kind;
	mg_self.logged = 0;
}

/*
 * Returns whether the call failed because `fd` was no open socket: something no wrapper saw, such
 * as another thread, closed it meanwhile. Such a call is not logged, as the kernel side has none
 * either.
 */
static inline bool was_no_socket(int64_t ret, int error, int kind, int fd)
{
	return __builtin_expect(ret == -1, 0) && (error == EBADF || error == ENOTSOCK) &&
	       kind != MG_KIND_several && !MG_KIND_TRACED(mg_fd_classify(fd));
}

static inline void measure(const struct mg_call *c)
{
	if (++mg_self.calls % MEASURE_EVERY == 0)
		mg_self.logged = (uint32_t)(mg_cycles_after() - c->exit);
}

/* Logs the begin of a call, for sessions that want to see calls while they block. */
void mg_log_entry(unsigned int fn, int fd, int kind);

#endif
