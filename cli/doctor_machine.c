/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "cgroup_root.h"
#include "clock.h"
#include "cycles.h"
#include "doctor.h"

static char *first_line(const char *path, char *buf, size_t size)
{
	FILE *f = fopen(path, "re");

	if (!f || !fgets(buf, (int)size, f))
		buf[0] = 0;
	if (f)
		fclose(f);
	buf[strcspn(buf, "\n")] = 0;
	return buf;
}

#define SECURITYFS "/sys/kernel/security"

/* "none [integrity] confidentiality" -> "integrity"; NULL where the kernel has none, or hides it.
 */
static json_t *lockdown(void)
{
	char line[128], *open, *close;

	first_line(SECURITYFS "/lockdown", line, sizeof(line));
	open = strchr(line, '[');
	close = open ? strchr(open, ']') : NULL;
	if (!close)
		return json_null();
	*close = 0;
	return json_string(open + 1);
}

static json_t *setting(const char *path)
{
	char line[64];

	first_line(path, line, sizeof(line));
	return line[0] ? json_integer(atoll(line)) : json_null();
}

/* Capabilities that the kernel side may need. */
static const struct {
	int bit;
	const char *name;
} capabilities[] = {
	{39, "CAP_BPF"},
	{38, "CAP_PERFMON"},
	{12, "CAP_NET_ADMIN"},
	{21, "CAP_SYS_ADMIN"},
	{19, "CAP_SYS_PTRACE"},
	{2, "CAP_DAC_READ_SEARCH"},
};

static json_t *capability_list(void)
{
	FILE *f = fopen("/proc/self/status", "re");
	unsigned long long bits = 0;
	json_t *list = json_array();
	char line[256];

	while (f && fgets(line, sizeof(line), f))
		if (sscanf(line, "CapEff: %llx", &bits) == 1)
			break;
	if (f)
		fclose(f);
	for (size_t i = 0; i < sizeof(capabilities) / sizeof(capabilities[0]); i++)
		if (bits >> capabilities[i].bit & 1)
			json_array_append_new(list, json_string(capabilities[i].name));
	return list;
}

json_t *doctor_machine(void)
{
	const char *why = NULL;
	bool invariant = mg_counter_invariant(&why);
	char cgroup2[PATH_MAX];
	int root = mg_cgroup_root(cgroup2);
	struct utsname u;

	if (root >= 0)
		close(root);
	uname(&u);
	return json_pack("{s:s, s:s, s:b, s:o, s:b, s:o, s:s?, s:b, s:o, s:o, s:s, s:I, s:b, s:s?}",
		"kernel", u.release, "machine", u.machine, "btf",
		access("/sys/kernel/btf/vmlinux", R_OK) == 0, "lockdown", lockdown(), "root",
		geteuid() == 0, "capabilities", capability_list(), "cgroup2",
		cgroup2[0] ? cgroup2 : NULL, "cgroup2_usable", root >= 0,
		"unprivileged_bpf_disabled", setting("/proc/sys/kernel/unprivileged_bpf_disabled"),
		"perf_event_paranoid", setting("/proc/sys/kernel/perf_event_paranoid"), "counter",
		MG_COUNTER_NAME, "counter_hz", (json_int_t)mg_counter_hz(20), "counter_invariant",
		invariant, "counter_problem", why);
}

static void print_capabilities(const json_t *list)
{
	size_t all = sizeof(capabilities) / sizeof(capabilities[0]), i;
	const json_t *name;

	if (json_array_size(list) == all) {
		puts("capabilities      all that the kernel side can use");
		return;
	}
	printf("capabilities     ");
	if (!json_array_size(list))
		printf(" none that the kernel side can use");
	json_array_foreach (list, i, name)
		printf(" %s", json_string_value(name));
	putchar('\n');
}

void doctor_print_machine(const json_t *m)
{
	double hz = (double)json_integer_value(json_object_get(m, "counter_hz"));

	printf("Linux %s %s, BTF %s, lockdown %s, %s\n", doctor_text(m, "kernel", "?"),
		doctor_text(m, "machine", "?"),
		json_is_true(json_object_get(m, "btf")) ? "yes" : "no",
		doctor_text(m, "lockdown",
			access(SECURITYFS "/lsm", F_OK) == 0 ? "not built in" : "not known"),
		json_is_true(json_object_get(m, "root")) ? "root" : "not root");
	printf("counter %s %.6f GHz, %s\n", doctor_text(m, "counter", "?"), hz / 1e9,
		json_is_true(json_object_get(m, "counter_invariant"))
			? "invariant"
			: doctor_text(m, "counter_problem", "not invariant"));
	print_capabilities(json_object_get(m, "capabilities"));
	printf("cgroup v2         %s%s\n",
		doctor_text(m, "cgroup2",
			json_is_true(json_object_get(m, "cgroup2_usable"))
				? "not mounted here; magnet mounts it for itself"
				: "not mounted: --cgroup and --layers timestamps cannot be used"),
		json_is_string(json_object_get(m, "cgroup2"))
			? ", for --cgroup and --layers timestamps"
			: "");
}
