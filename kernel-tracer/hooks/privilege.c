/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE

#include "hooks/privilege.h"

#include <bpf/bpf.h>
#include <cap-ng.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

/* values that <linux/capability.h> has since 5.8, as the build machine's may be older */
#define MG_CAP_PERFMON 38
#define MG_CAP_BPF     39

static bool have(unsigned int capability)
{
	return capng_have_capability(CAPNG_EFFECTIVE, capability);
}

/*
 * Returns whether a capability is missing. For BPF, CAP_SYS_ADMIN includes each of the newer ones.
 */
static bool lacks(unsigned int capability)
{
	return !have(capability) && !have(CAP_SYS_ADMIN);
}

static const struct {
	unsigned int capability;
	const char *name;
} needed[] = {
	{MG_CAP_BPF, "CAP_BPF"}, {MG_CAP_PERFMON, "CAP_PERFMON"},
	{CAP_NET_ADMIN, "CAP_NET_ADMIN"}, /* for netfilter's hooks only */
};
#define NEEDED (sizeof(needed) / sizeof(needed[0]))

bool privilege_lacks_bpf(void)
{
	return lacks(MG_CAP_BPF) || lacks(MG_CAP_PERFMON);
}

/* Returns whether the kernel refuses a program only because it reads kernel memory. */
static bool memory_is_refused(void)
{
	/* bpf_probe_read_kernel(fp - 8, 8, NULL) */
	static const struct bpf_insn reads[] = {
		{.code = BPF_ALU64 | BPF_MOV | BPF_X, .dst_reg = 1, .src_reg = 10},
		{.code = BPF_ALU64 | BPF_ADD | BPF_K, .dst_reg = 1, .imm = -8},
		{.code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = 2, .imm = 8},
		{.code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = 3, .imm = 0},
		{.code = BPF_JMP | BPF_CALL, .imm = BPF_FUNC_probe_read_kernel},
		{.code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = 0, .imm = 0},
		{.code = BPF_JMP | BPF_EXIT},
	};
	int fd = bpf_prog_load(BPF_PROG_TYPE_RAW_TRACEPOINT, "reads", "GPL", reads,
		sizeof(reads) / sizeof(reads[0]), NULL);

	if (fd >= 0)
		close(fd);
	return fd == -EINVAL; /* a missing privilege gives another error */
}

bool privilege_locked_down(void)
{
	char line[128] = "";
	FILE *f = fopen("/sys/kernel/security/lockdown", "re");

	if (f) {
		if (!fgets(line, sizeof(line), f))
			line[0] = 0;
		fclose(f);
	}
	/* the file may be absent, as securityfs may not be mounted */
	return strstr(line, "[confidentiality]") != NULL || memory_is_refused();
}

/* Returns whether BPF takes locked memory, of which the limit is too low: before Linux 5.11. */
static bool limit_of_locked_memory(void)
{
	unsigned int major = 0, minor = 0;
	struct utsname kernel;
	struct rlimit limit;

	if (uname(&kernel) != 0 || sscanf(kernel.release, "%u.%u", &major, &minor) != 2 ||
		major > 5 || (major == 5 && minor >= 11))
		return false;
	return !have(CAP_SYS_RESOURCE) && getrlimit(RLIMIT_MEMLOCK, &limit) == 0 &&
	       limit.rlim_cur != RLIM_INFINITY;
}

bool privilege_sees_modules(void)
{
	capng_get_caps_process();
	return have(CAP_SYS_ADMIN);
}

bool privilege_reason(char *text, size_t size)
{
	size_t at = 0;

	if (privilege_locked_down()) {
		snprintf(text, size,
			"the kernel is locked down (confidentiality): it lets no BPF program read "
			"its memory, whoever loads it; boot with lockdown=integrity or without");
		return true;
	}
	for (size_t i = 0; i < NEEDED && privilege_lacks_bpf(); i++)
		if (lacks(needed[i].capability) && at < size)
			at += (size_t)snprintf(text + at, size - at, "%s%s",
				at ? ", " : "the kernel refuses BPF without ", needed[i].name);
	if (at && at < size)
		snprintf(text + at, size - at, ": run as root, or with these capabilities");
	if (!at && limit_of_locked_memory()) {
		at = 1;
		snprintf(text, size,
			"before Linux 5.11 BPF takes locked memory, which is limited (ulimit -l): "
			"run "
			"as root, with CAP_SYS_RESOURCE, or without that limit");
	}
	return at != 0;
}

int privilege_drop(const char *dir, bool namespaces, bool stacks)
{
	/* layers that are chosen later have their programs loaded then, which takes all three */
	static const unsigned int always[] = {MG_CAP_BPF, MG_CAP_PERFMON, CAP_NET_ADMIN};
	/* needed to enter the namespaces, and to open them through other users' processes */
	static const unsigned int entering[] = {CAP_SYS_ADMIN, CAP_SYS_PTRACE};
	unsigned int keep[9];
	size_t count = 0;
	struct stat st;

	for (size_t i = 0; i < sizeof(always) / sizeof(always[0]); i++)
		keep[count++] = always[i];
	for (size_t i = 0; i < 2 && namespaces; i++)
		keep[count++] = entering[i];
	/* kernels before 5.8, and users who were given the old capability only */
	if (!have(MG_CAP_BPF) && !namespaces)
		keep[count++] = CAP_SYS_ADMIN;
	if (stat(dir, &st) != 0 || st.st_uid != geteuid())
		keep[count++] = CAP_DAC_OVERRIDE; /* needed to add files to another user's trace */
	/* needed to open programs of other users, and to see which ones a process had mapped */
	if (stacks)
		keep[count++] = CAP_DAC_READ_SEARCH;
	if (stacks && !namespaces)
		keep[count++] = CAP_SYS_PTRACE;
	for (size_t i = 0; i < count;)
		if (have(keep[i]))
			i++;
		else
			keep[i] = keep[--count];
	capng_clear(CAPNG_SELECT_CAPS);
	for (size_t i = 0; i < count; i++)
		capng_update(CAPNG_ADD, CAPNG_EFFECTIVE | CAPNG_PERMITTED, keep[i]);
	return capng_apply(CAPNG_SELECT_CAPS) ? -EPERM : 0;
}
