/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "doctor_verdict.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "doctor.h"
#include "event_table.h"
#include "events.h"
#include "recorder_options.h"

#define SHOWN_MAX 4 /* entries of two lines each, so that the verdict has ten lines at most */

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

/* The ways to mend something, by a part of the reason that the two sides give for it. */
static const struct {
	const char *reason;
	const char *mend;    /* as it is printed */
	const char *package; /* what the distribution's installer is to install instead */
} remedies[] = {
	{"magnet-kernel-tracer is not installed",
		"build it (scripts/setup && meson setup --reconfigure build -Dkernel=enabled && "
		"ninja -C build), or install the package magnet",
		NULL},
	{"locked down",
		"take lockdown=confidentiality off the kernel's command line (/etc/default/grub, "
		"then "
		"update-grub), and reboot",
		NULL},
	{"CONFIG_DEBUG_INFO_BTF",
		"boot a kernel that has its types: grep CONFIG_DEBUG_INFO_BTF= /boot/config-*",
		NULL},
	{"CAP_", "sudo magnet doctor, and record with sudo", NULL},
	{"ulimit -l", "ulimit -l unlimited", NULL},
	{"open files", "ulimit -n 4096", NULL},
	{"is not where it belongs", "meson install -C build, or install the package magnet again",
		NULL},
	{"lttng-sessiond", NULL, "lttng-tools"},
	{"fentry is refused",
		"boot a kernel with CONFIG_DYNAMIC_FTRACE_WITH_DIRECT_CALLS: grep "
		"DIRECT_CALLS= /boot/config-*",
		NULL},
	{"fexit is refused",
		"boot a kernel with CONFIG_DYNAMIC_FTRACE_WITH_DIRECT_CALLS: grep "
		"DIRECT_CALLS= /boot/config-*",
		NULL},
};

static const struct {
	const char *path, *command;
} installers[] = {
	{"/usr/bin/apt-get", "apt-get install"},
	{"/usr/bin/dnf", "dnf install"},
	{"/usr/bin/zypper", "zypper install"},
};

/* Returns the text in `out`. */
static const char *remedy(const char *why, char *out, size_t size)
{
	const char *sudo = geteuid() ? "sudo " : "";

	for (size_t i = 0; i < COUNT(remedies); i++) {
		if (!strstr(why, remedies[i].reason))
			continue;
		if (remedies[i].mend)
			return remedies[i].mend;
		for (size_t k = 0; remedies[i].package && k < COUNT(installers); k++)
			if (access(installers[k].path, X_OK) == 0) {
				snprintf(out, size, "%s%s %s", sudo, installers[k].command,
					remedies[i].package);
				return out;
			}
	}
	return "boot a newer kernel: Linux 6.16 and later have the tracepoints of all layers";
}

static void add(json_t *missing, bool partial, const char *what, const char *why, const char *mend)
{
	char text[256];

	json_array_append_new(missing,
		json_pack("{s:s, s:s, s:s, s:b}", "what", what, "why", why, "mend",
			mend ? mend : remedy(why, text, sizeof(text)), "partial", partial));
}

static bool works(const json_t *findings, const char *side)
{
	return json_is_true(json_object_get(json_object_get(findings, side), "works"));
}

static void look_at_side(
	const json_t *findings, json_t *missing, bool partial, const char *side, const char *what)
{
	if (!works(findings, side))
		add(missing, partial, what,
			doctor_text(json_object_get(findings, side), "why", "no reason is known"),
			NULL);
}

/* Returns whether a recording is partial without the event: a byte's way, a call or a wait has it.
 */
static bool is_needed(const char *hook)
{
#define EVENT(id, name, NAME, layer, direction, stage, ...) {#name, #stage},
	static const struct {
		const char *name, *stage;
	} events[] = {MG_SYSTEM_EVENTS(EVENT)};
#undef EVENT
	static const char *const others[] = {
		"sys_enter", "sys_exit", "sched_switch", "sched_waking", "drop", "tcp_retransmit"};
	size_t length = strcspn(hook, " ");

	for (size_t i = 0; i < COUNT(others); i++)
		if (strlen(others[i]) == length && strncmp(hook, others[i], length) == 0)
			return true;
	for (size_t i = 0; i < COUNT(events); i++)
		if (strlen(events[i].name) == length && strncmp(hook, events[i].name, length) == 0)
			return strcmp(events[i].stage, "NONE") != 0;
	return false;
}

/* Returns whether a recording without options has the layer. */
static bool is_recorded(const char *layer)
{
	struct recorder_options o;
	bool found = false;

	recorder_options_init(&o);
	for (int i = 0; i < MG_LAYER_END; i++)
		if (strcmp(mg_layer_names[i], layer) == 0)
			found = o.layers >> i & 1;
	recorder_options_free(&o);
	return found;
}

/* Adds one entry for all events without a hook, of those that are needed or of the others. */
static void look_at_hooks(const json_t *hooks, json_t *missing, bool needed)
{
	char what[300] = "";
	const json_t *h;
	const char *why = NULL;
	size_t i, used = 0;

	json_array_foreach (hooks, i, h) {
		const char *event = doctor_text(h, "hook", "");
		const json_t *none = doctor_hook_missing(hooks, i);

		if (!none || is_needed(event) != needed ||
			!is_recorded(doctor_text(h, "layer", "")))
			continue;
		why = why ? why : doctor_text(none, "why", "");
		if (used < sizeof(what))
			used += (size_t)snprintf(what + used, sizeof(what) - used, "%s%s",
				used ? ", " : "no hook for ", event);
	}
	if (why)
		add(missing, needed, what, why[0] ? why : "the kernel has none", NULL);
}

static void look_at_machine(const json_t *machine, json_t *missing)
{
	if (!json_is_true(json_object_get(machine, "counter_invariant")))
		add(missing, false, "no usable cycle counter",
			doctor_text(machine, "counter_problem", "it is not invariant"),
			"no command does: all times are those of CLOCK_MONOTONIC");
	if (!json_is_true(json_object_get(machine, "cgroup2_usable")))
		add(missing, false, "cgroup v2",
			"not mounted: --cgroup and --layers timestamps cannot be used",
			"mkdir -p /run/cgroup2 && mount -t cgroup2 none /run/cgroup2");
}

void doctor_judge(json_t *findings)
{
	const json_t *hooks = json_object_get(findings, "hooks");
	json_t *missing = json_array();
	const json_t *one;
	bool partial = false;
	size_t i;

	look_at_side(findings, missing, true, "kernel_side", "the kernel side");
	look_at_side(findings, missing, true, "app", "the application side");
	look_at_hooks(hooks, missing, true);
	look_at_hooks(hooks, missing, false);
	look_at_machine(json_object_get(findings, "machine"), missing);
	look_at_side(findings, missing, false, "lttng", "LTTng sessions");
	json_array_foreach (missing, i, one)
		partial = partial || json_is_true(json_object_get(one, "partial"));
	json_object_set_new(findings, "verdict",
		json_string(!partial ? "complete"
			    : works(findings, "app") || works(findings, "kernel_side")
				    ? "partial"
				    : "nothing"));
	json_object_set_new(findings, "missing", missing);
}

bool doctor_complete(const json_t *findings)
{
	return strcmp(doctor_text(findings, "verdict", ""), "complete") == 0;
}

static const struct {
	const char *verdict, *text;
} verdicts[] = {
	{"complete", "complete: a recording has the application's calls and every kernel layer"},
	{"partial", "PARTIAL: a recording lacks what is named here"},
	{"nothing", "NOTHING can be recorded"},
};

void doctor_print_verdict(const json_t *findings)
{
	const json_t *missing = json_object_get(findings, "missing"), *one;
	const json_t *machine = json_object_get(findings, "machine");
	size_t i;

	for (i = 0; i < COUNT(verdicts); i++)
		if (strcmp(doctor_text(findings, "verdict", ""), verdicts[i].verdict) == 0)
			printf("%s (Linux %s %s, %s)\n", verdicts[i].text,
				doctor_text(machine, "kernel", "?"),
				doctor_text(machine, "machine", "?"),
				json_is_true(json_object_get(machine, "root")) ? "root"
									       : "not root");
	json_array_foreach (missing, i, one) {
		if (i == SHOWN_MAX)
			break;
		printf("  %s%s: %s\n",
			json_is_true(json_object_get(one, "partial")) ? "missing: " : "optional: ",
			doctor_text(one, "what", "?"), doctor_text(one, "why", "?"));
		printf("    to fix it: %s\n", doctor_text(one, "mend", "?"));
	}
	if (json_array_size(missing) > SHOWN_MAX)
		printf("  and %zu more: magnet doctor --json\n",
			json_array_size(missing) - SHOWN_MAX);
	else
		puts("each layer and its hooks: magnet doctor -v");
}
