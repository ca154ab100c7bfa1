/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "confine.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <linux/capability.h>
#include <sched.h>
#include <seccomp.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

/* ---- descriptors ---- */

/* Before Linux 5.9. */
static void close_listed(unsigned int first, unsigned int last)
{
	DIR *d = opendir("/proc/self/fd");
	struct dirent *e;

	while (d && (e = readdir(d))) {
		unsigned long fd = strtoul(e->d_name, NULL, 10);

		if (fd >= first && fd <= last && e->d_name[0] != '.' && (int)fd != dirfd(d))
			close((int)fd);
	}
	if (d)
		closedir(d);
}

static void close_all(unsigned int first, unsigned int last)
{
	if (first <= last && syscall(SYS_close_range, first, last, 0) != 0)
		close_listed(first, last);
}

void mg_close_others(int keep, int also)
{
	const int kept[] = {keep < also ? keep : also, keep < also ? also : keep};
	unsigned int from = 3;

	for (int i = 0; i < 2; i++) {
		if (kept[i] < (int)from)
			continue;
		close_all(from, (unsigned int)kept[i] - 1);
		from = (unsigned int)kept[i] + 1;
	}
	close_all(from, UINT_MAX);
}

/* ---- capabilities ---- */

int mg_keep_capabilities(uint64_t keep)
{
	struct __user_cap_header_struct head = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct data[2];

	if (syscall(SYS_capget, &head, data) != 0)
		return -errno;
	for (int i = 0; i < 2; i++) {
		data[i].permitted &= (uint32_t)(keep >> 32 * i);
		data[i].effective = data[i].permitted;
		data[i].inheritable = 0;
	}
	return syscall(SYS_capset, &head, data) == 0 ? 0 : -errno;
}

/* ---- system calls ---- */

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) || \
	__has_feature(memory_sanitizer)
#define SANITIZED 1
#endif
#endif

/*
 * System calls that reading rings and writing a trace take, and those that C libraries make on
 * their own.
 */
static const char *const always[] = {
	/* files, which the trace is and /proc has */
	"access", "close", "close_range", "dup", "dup2", "dup3", "faccessat", "faccessat2",
	"fallocate", "fcntl", "fstat", "fstatfs", "ftruncate", "getdents64", "lseek", "lstat",
	"newfstatat", "open", "openat", "pread64", "pwrite64", "pwritev", "read", "readlink",
	"readlinkat", "readv", "rename", "renameat", "renameat2", "rmdir", "stat", "statx", "umask",
	"unlink", "unlinkat", "write", "writev",
	/* waiting, and speaking with the parent */
	"clock_nanosleep", "epoll_create1", "epoll_ctl", "epoll_pwait", "epoll_wait", "nanosleep",
	"poll", "ppoll", "recvfrom", "recvmsg", "restart_syscall", "sendmsg", "sendto", "shutdown",
	/* memory and threads */
	"brk", "futex", "futex_waitv", "get_robust_list", "madvise", "membarrier", "mmap",
	"mprotect", "mremap", "munmap", "rseq", "sched_getaffinity", "sched_yield",
	"set_robust_list", "set_tid_address",
	/* the process itself, and the time */
	"clock_getres", "clock_gettime", "exit", "exit_group", "getcpu", "getegid", "geteuid",
	"getgid", "getpid", "getppid", "getrandom", "getrusage", "gettid", "gettimeofday", "getuid",
	"rt_sigaction", "rt_sigprocmask", "rt_sigreturn", "sigaltstack", "sysinfo", "time", "times",
	"uname", NULL};

/* A call of a name that this machine does not have needs no permission. */
static int allow(scmp_filter_ctx filter, const char *name)
{
	int number = seccomp_syscall_resolve_name(name);

	return number == __NR_SCMP_ERROR || number < 0
		       ? 0
		       : seccomp_rule_add(filter, SCMP_ACT_ALLOW, number, 0);
}

static int allow_some(scmp_filter_ctx filter)
{
	const struct scmp_arg_cmp thread = SCMP_A0(SCMP_CMP_MASKED_EQ, CLONE_THREAD, CLONE_THREAD);
	const struct scmp_arg_cmp own = SCMP_A0(SCMP_CMP_EQ, (scmp_datum_t)getpid());
	const struct scmp_arg_cmp asks = SCMP_A2(SCMP_CMP_EQ, 0);
	const struct scmp_arg_cmp local = SCMP_A0(SCMP_CMP_EQ, AF_UNIX);
	int err = seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(clone), 1, thread);

	if (!err) /* abort() */
		err = seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(tgkill), 1, own);
	if (!err) /* limits are read, and not set */
		err = seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(prlimit64), 1, asks);
	if (!err) /* accepts connections; connect() is not allowed */
		err = seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(socket), 1, local);
	return err;
}

int mg_keep_calls(const char *const more[])
{
#ifdef SANITIZED
	(void)more;
	(void)always;
	(void)allow;
	(void)allow_some;
	return 0; /* the run time makes calls of its own at the end */
#else
	scmp_filter_ctx filter = seccomp_init(SCMP_ACT_ERRNO(ENOSYS));
	int err;

	if (!filter)
		return -ENOMEM;
	err = seccomp_attr_set(filter, SCMP_FLTATR_CTL_TSYNC, 1);
	for (size_t i = 0; !err && always[i]; i++)
		err = allow(filter, always[i]);
	for (size_t i = 0; !err && more[i]; i++)
		err = allow(filter, more[i]);
	if (!err)
		err = allow_some(filter);
	if (!err) /* sets no_new_privs as well */
		err = seccomp_load(filter);
	seccomp_release(filter);
	return err;
#endif
}
