/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "nested.h"

#include <fcntl.h>
#include <linux/nsfs.h>
#include <sched.h>
#include <stdbool.h>
#include <sys/stat.h>

#include "fdkind.h"
#include "kernel_call.h"
#include "self.h"

static bool look(const char *path, struct stat *st)
{
	return mg_kernel_call(SYS_newfstatat, AT_FDCWD, (long)path, (long)st, 0, 0, 0) == 0;
}

/*
 * Returns whether this thread's next child is made in another PID namespace; true where that cannot
 * be known, as the child's ids then are not taken for those outside.
 */
static bool children_are_elsewhere(void)
{
	struct stat own, theirs; /* the kernel's layout */

	if (mg_fd_ask_no_more || !look("/proc/thread-self/ns/pid", &own) ||
		!look("/proc/thread-self/ns/pid_for_children", &theirs))
		return true;
	return own.st_dev != theirs.st_dev || own.st_ino != theirs.st_ino;
}

/* A vfork child's namespaces are not its parent's, whose storage it uses. */
static bool is_of_this_thread(void)
{
	return mg_tls_is_ours() && !mg_in_vfork();
}

void mg_after_unshare(unsigned long flags, int ret)
{
	if (ret == 0 && flags & CLONE_NEWPID && is_of_this_thread())
		mg_self.children_nested = true;
}

/* Returns whether setns() may have been about PID namespaces: 0 stands for the kind `fd` is of. */
static bool may_be_of_pids(int fd, int kind)
{
	long found = kind || mg_fd_ask_no_more
			     ? 0
			     : mg_kernel_call(SYS_ioctl, fd, NS_GET_NSTYPE, 0, 0, 0, 0);

	if (found > 0)
		kind = (int)found;
	return !kind || kind & CLONE_NEWPID;
}

void mg_after_setns(int fd, int kind, int ret)
{
	if (ret == 0 && may_be_of_pids(fd, kind) && is_of_this_thread())
		mg_self.children_nested = children_are_elsewhere();
}
