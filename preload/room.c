/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "room.h"

#include <sys/mman.h>
#include <unistd.h>

#include "fdkind.h"
#include "life.h"
#include "self.h"

#define SHARE      16 /* of what the program may have: one part of so many */
#define LOCKED_MAX (16u << 20)

/*
 * What would later have to be asked of the kernel is asked now. Descriptors that come afterwards
 * from elsewhere pass for files.
 */
void mg_before_sandbox(void)
{
	struct rlimit limit = {1024, 1024};

	if (mg_fd_ask_no_more || mg_in_vfork()) /* a child's filter is not its parent's */
		return;
	if (mg_tls_is_ours())
		mg_self_check();
	getrlimit(RLIMIT_NOFILE, &limit);
	for (int fd = 0; fd < FD_TABLE && (rlim_t)fd < limit.rlim_cur; fd++)
		fd_kind(fd);
	mg_fd_ask_no_more = true;
}

void mg_after_sandbox(int ret)
{
	static bool set;

	if (!mg_fd_ask_no_more)
		return;
	set |= ret == 0;
	mg_fd_ask_no_more = set;
}

uint64_t mg_room_under(rlim_t limit, uint64_t least)
{
	if (limit == RLIM_INFINITY)
		return UINT64_MAX;
	return limit / SHARE > least ? limit / SHARE : least;
}

void mg_before_limit(int resource, const struct rlimit *limit)
{
	if (resource == RLIMIT_AS && limit && limit->rlim_cur != RLIM_INFINITY && !mg_in_vfork())
		mg_life_make_room(mg_room_under(limit->rlim_cur, 0));
}

/* It would give memory to every ring there may ever be. */
void mg_before_lock(int flags)
{
	struct rlimit limit = {0, 0};
	int saved = mg_get_errno();

	if (!(flags & MCL_CURRENT))
		return;
	getrlimit(RLIMIT_MEMLOCK, &limit);
	if (geteuid() == 0 || limit.rlim_cur / SHARE > LOCKED_MAX)
		mg_life_make_room(LOCKED_MAX);
	else
		mg_life_make_room(limit.rlim_cur / SHARE);
	mg_set_errno(saved);
}
