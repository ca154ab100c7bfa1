/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "room.h"

#include <linux/seccomp.h>
#include <stdbool.h>
#include <sys/prctl.h>
#include <sys/single_threaded.h>
#include <sys/mman.h>
#include <unistd.h>

#include "fdkind.h"
#include "kernel_call.h"
#include "life.h"
#include "self.h"

#define SHARE      16 /* fraction of the program's limit that the rings may take: 1/16 */
#define LOCKED_MAX (16u << 20)

/*
 * Looks up now what needs system calls later. Descriptors that appear afterwards by other means
 * than a wrapped call count as files.
 */
static void before_sandbox(void)
{
	struct rlimit limit = {1024, 1024};

	/* a filter set by a vfork child does not apply to its parent */
	if (mg_fd_ask_no_more || mg_in_vfork())
		return;
	mg_self_forget_gone();
	if (mg_tls_is_ours())
		mg_self_check();
	getrlimit(RLIMIT_NOFILE, &limit);
	for (int fd = 0; fd < FD_TABLE && (rlim_t)fd < limit.rlim_cur; fd++)
		fd_kind(fd);
	mg_fd_ask_no_more = true;
}

static void after_sandbox(int ret)
{
	static bool set;

	if (!mg_fd_ask_no_more)
		return;
	set |= ret == 0;
	mg_fd_ask_no_more = set;
}

static bool forbids_counter(int option, unsigned long argument)
{
	return (option == PR_SET_SECCOMP && argument == SECCOMP_MODE_STRICT) ||
	       (option == PR_SET_TSC && argument == PR_TSC_SIGSEGV);
}

/*
 * Returns whether the call allows reading the counter again. Only with a single thread: the ban on
 * other threads would remain.
 */
static bool allows_counter(int option, unsigned long argument)
{
	return option == PR_SET_TSC && argument == PR_TSC_ENABLE && __libc_single_threaded;
}

void mg_before_prctl(int option, unsigned long argument)
{
	if (option == PR_SET_SECCOMP)
		before_sandbox();
	if (forbids_counter(option, argument))
		mg_life_forbid_counter(mg_in_vfork());
}

void mg_after_prctl(int option, unsigned long argument, int ret)
{
	int now = PR_TSC_ENABLE;

	if (option == PR_SET_SECCOMP)
		after_sandbox(ret);
	/* the ban may have been in force before */
	if (ret != 0 && forbids_counter(option, argument))
		mg_kernel_call(SYS_prctl, PR_GET_TSC, (long)&now, 0, 0, 0, 0);
	else if (ret != 0 || !allows_counter(option, argument))
		return;
	if (mg_counter_forbidden && now == PR_TSC_ENABLE)
		mg_life_allow_counter(mg_in_vfork());
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

/*
 * mlockall() would give memory to every ring the pool could ever hold, so the unused ones are
 * unmapped before it.
 */
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
