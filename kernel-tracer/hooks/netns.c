/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "hooks/netns.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <linux/bpf.h>

#include "log.h"
#include "hooks/hook_choice.h"
#include "hooks/hook_table.h"
#include "hooks/hooks.h"

#define FAMILIES 2

/* A link of a row of the table of hooks, for one family of addresses. */
struct netns_link {
	size_t row;
	int family, fd;
};

struct attached {
	uint32_t inum;
	char path[300]; /* path that last led to the namespace: its name's, or a process's in it */
	struct netns_link links[32];
	int count;
	bool told; /* that it cannot be entered */
};

struct netns_hooks {
	struct hooks *hooks;
	bool wanted; /* whether there is any hook to attach */
	hook_report_fn report;
	void *report_arg;
	int home; /* descriptor of the tracer's own namespace */
	uint32_t home_inum;
	dev_t device; /* device of the file system whose files are namespaces */
	struct attached *at;
	size_t at_count;
};

#define NFPROTO_IPV4 2
#define NFPROTO_IPV6 10

/* BPF_LINK_CREATE for a netfilter program, as <linux/bpf.h> declares it since 6.4. */
static int nf_link(int prog_fd, uint32_t pf, uint32_t hooknum, int32_t priority)
{
	struct {
		uint32_t prog_fd, target_fd, attach_type, flags;
		uint32_t pf, hooknum;
		int32_t priority;
		uint32_t nf_flags;
		char rest[64];
	} attr = {.prog_fd = (uint32_t)prog_fd,
		.attach_type = MG_BPF_NETFILTER,
		.pf = pf,
		.hooknum = hooknum,
		.priority = priority};
	int fd = (int)syscall(SYS_bpf, BPF_LINK_CREATE, &attr, 64);

	return fd < 0 ? -errno : fd;
}

/*
 * Links a program with the wanted priority or the next free one: two tracers cannot share a
 * priority, and a neighbouring one serves as well.
 */
static int nf_link_near(int prog_fd, uint32_t pf, uint32_t hooknum, int32_t priority)
{
	int fd = -EBUSY;

	for (int i = 0; i < 16 && fd == -EBUSY; i++)
		fd = nf_link(prog_fd, pf, hooknum, priority + (priority < 0 ? i : -i));
	return fd;
}

static void want(struct netns_hooks *n)
{
	n->wanted = false;
	for (size_t i = 0; i < hook_count; i++)
		n->wanted |= hook_in_namespaces(n->hooks, i);
}

struct netns_hooks *netns_new(struct hooks *h, hook_report_fn report, void *arg)
{
	struct netns_hooks *n = calloc(1, sizeof(*n));
	struct stat st;

	if (!n)
		return NULL;
	n->hooks = h;
	n->report = report;
	n->report_arg = arg;
	want(n);
	n->home = open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC);
	if (fstat(n->home, &st) == 0) {
		n->home_inum = (uint32_t)st.st_ino;
		n->device = st.st_dev;
	}
	return n;
}

static bool known(const struct netns_hooks *n, uint32_t inum)
{
	for (size_t i = 0; i < n->at_count; i++)
		if (n->at[i].inum == inum)
			return true;
	return false;
}

static bool is_linked(const struct attached *a, size_t row, int family)
{
	for (int i = 0; i < a->count; i++)
		if (a->links[i].row == row && a->links[i].family == family)
			return true;
	return false;
}

static void name_hook(char *to, size_t size, size_t row, int family)
{
	snprintf(to, size, "%s ipv%d", hook_table[row].event, family ? 6 : 4);
}

/* Attaches the hooks in the calling thread's namespace that are not attached there yet. */
static void attach_here(struct netns_hooks *n, struct attached *a)
{
	static const uint32_t families[FAMILIES] = {NFPROTO_IPV4, NFPROTO_IPV6};

	for (size_t i = 0; i < hook_count; i++) {
		const struct hook *k = &hook_table[i];

		for (int f = 0; f < FAMILIES && hook_in_namespaces(n->hooks, i); f++) {
			struct hook_status s = {.layer = k->layer, .netns = a->inum};
			int fd;

			if (is_linked(a, i, f))
				continue;
			fd = nf_link_near(hooks_program_fd(n->hooks, k->program), families[f],
				(uint32_t)k->number, k->priority);
			name_hook(s.what, sizeof(s.what), i, f);
			hook_by(k, s.by, sizeof(s.by));
			if (fd >= 0)
				a->links[a->count++] = (struct netns_link){i, f, fd};
			else
				s.status = fd;
			n->report(n->report_arg, &s);
		}
	}
}

static void attach_through(struct netns_hooks *n, int ns_fd, const char *path)
{
	struct attached *at;
	struct stat st;
	uint32_t inum, one = 1;

	if (fstat(ns_fd, &st) != 0)
		return;
	inum = (uint32_t)st.st_ino;
	if (known(n, inum))
		return;
	at = realloc(n->at, (n->at_count + 1) * sizeof(*at));
	if (!at) {
		struct hook_status s = {
			.layer = MG_LAYER_IP, .what = "ip", .status = -ENOMEM, .netns = inum};

		snprintf(s.by, sizeof(s.by), "netfilter");
		snprintf(s.why, sizeof(s.why), "%s", strerror(ENOMEM));
		n->report(n->report_arg, &s);
		return;
	}
	n->at = at;
	at = &n->at[n->at_count++];
	memset(at, 0, sizeof(*at));
	at->inum = inum;
	snprintf(at->path, sizeof(at->path), "%s", path);
	/* marked even if attaching fails, so that the namespace is not requested again and again */
	bpf_map_update_elem(hooks_map_fd(n->hooks, "hooked_netns"), &inum, &one, BPF_ANY);
	if (!n->wanted)
		return;
	if (inum == n->home_inum) { /* needs no privilege to enter */
		attach_here(n, at);
		return;
	}
	if (setns(ns_fd, CLONE_NEWNET) != 0) {
		struct hook_status s = {
			.layer = MG_LAYER_IP, .what = "ip", .status = -errno, .netns = inum};

		snprintf(s.by, sizeof(s.by), "netfilter");
		snprintf(s.why, sizeof(s.why), "cannot enter network namespace %u: %s", inum,
			errno == EPERM ? "it takes CAP_SYS_ADMIN" : strerror(errno));
		n->report(n->report_arg, &s);
		return;
	}
	attach_here(n, at);
	if (setns(n->home, CLONE_NEWNET) != 0)
		mg_warn("cannot return to the own network namespace: %s", strerror(errno));
}

/* Opens a namespace file if it is the one looked for; `inum` 0 accepts any. */
static int open_ns(const char *path, uint32_t inum)
{
	struct stat st;
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		return -1;
	if (inum && (fstat(fd, &st) != 0 || st.st_ino != inum)) {
		close(fd);
		return -1;
	}
	return fd;
}

/*
 * Calls attach_through() for each matching namespace below a directory; with `inum` stops at the
 * first.
 */
static bool scan(struct netns_hooks *n, const char *dir, const char *suffix, uint32_t inum)
{
	DIR *d = opendir(dir);
	struct dirent *e;
	bool found = false;

	while (d && !(found && inum) && (e = readdir(d))) {
		char path[600];
		int fd;

		if (e->d_name[0] == '.' ||
			(suffix[0] && (e->d_name[0] < '0' || e->d_name[0] > '9')))
			continue;
		snprintf(path, sizeof(path), "%s/%s%s", dir, e->d_name, suffix);
		fd = open_ns(path, inum);
		if (fd < 0)
			continue;
		attach_through(n, fd, path);
		close(fd);
		found = true;
	}
	if (d)
		closedir(d);
	return found;
}

void netns_attach_initial(struct netns_hooks *n, const struct hook_options *o)
{
	char path[64];
	int fd;

	attach_through(n, n->home, "/proc/self/ns/net");
	scan(n, "/run/netns", "", 0);
	if (o->all)
		scan(n, "/proc", "/ns/net", 0);
	for (uint32_t i = 0; i < o->pid.count; i++) {
		snprintf(path, sizeof(path), "/proc/%d/ns/net", (int)o->pid.pid[i]);
		fd = open_ns(path, 0);
		if (fd >= 0) {
			attach_through(n, fd, path);
			close(fd);
		}
	}
}

void netns_attach(struct netns_hooks *n, uint32_t inum, pid_t pid)
{
	char path[64];
	int fd;

	if (known(n, inum))
		return;
	snprintf(path, sizeof(path), "/proc/%d/ns/net", (int)pid);
	fd = open_ns(path, inum);
	if (fd >= 0) {
		attach_through(n, fd, path);
		close(fd);
	} else if (!scan(n, "/run/netns", "", inum)) {
		scan(n, "/proc", "/ns/net", inum);
	}
}

static bool is_among(const uint32_t *only, size_t count, uint32_t inum)
{
	for (size_t i = 0; i < count; i++)
		if (only[i] == inum)
			return true;
	return !only;
}

static void cannot_enter(struct attached *a)
{
	if (a->told)
		return;
	a->told = true;
	mg_warn("cannot enter network namespace %u: connections that are open there may have no "
		"timestamps: %s",
		a->inum,
		errno == ENOSYS || errno == EPERM
			? "that takes CAP_SYS_ADMIN, which the tracer keeps only if netfilter's "
			  "hooks (layer ip) are in use when it begins"
			: strerror(errno));
}

void netns_visit(
	struct netns_hooks *n, const uint32_t *only, size_t count, void (*fn)(struct hooks *h))
{
	for (size_t i = 0; i < n->at_count; i++) {
		struct attached *a = &n->at[i];
		bool home = a->inum == n->home_inum, entered;
		int fd;

		if (!is_among(only, count, a->inum))
			continue;
		fd = home ? -1 : open_ns(a->path, a->inum);
		if (!home && fd < 0)
			continue; /* it is gone */
		entered = home || setns(fd, CLONE_NEWNET) == 0;
		if (entered)
			fn(n->hooks);
		else
			cannot_enter(a);
		if (home)
			continue;
		close(fd);
		if (entered && setns(n->home, CLONE_NEWNET) != 0)
			mg_warn("cannot return to the own network namespace: %s", strerror(errno));
	}
}

static bool is_at(const struct netns_hooks *n, const char *path, uint32_t inum)
{
	struct stat st;

	return stat(path, &st) == 0 && st.st_dev == n->device && st.st_ino == inum;
}

static bool seen_below(
	const struct netns_hooks *n, const char *dir, const char *suffix, struct attached *a)
{
	DIR *d = opendir(dir);
	struct dirent *e;
	bool seen = false;

	while (d && !seen && (e = readdir(d))) {
		snprintf(a->path, sizeof(a->path), "%s/%s%s", dir, e->d_name, suffix);
		seen = is_at(n, a->path, a->inum);
	}
	if (d)
		closedir(d);
	return seen;
}

static void close_links(struct attached *a)
{
	for (int i = 0; i < a->count; i++)
		close(a->links[i].fd);
}

void netns_release(struct netns_hooks *n)
{
	for (size_t i = 0; i < n->at_count; i++) {
		struct attached *a = &n->at[i];

		if (a->inum == n->home_inum || is_at(n, a->path, a->inum) ||
			seen_below(n, "/run/netns", "", a) || seen_below(n, "/proc", "/ns/net", a))
			continue;
		bpf_map_delete_elem(hooks_map_fd(n->hooks, "hooked_netns"), &a->inum);
		close_links(a);
		*a = n->at[--n->at_count];
		i--;
	}
}

bool netns_wanted(const struct netns_hooks *n)
{
	return n->wanted;
}

/* Detaches the hooks that are not wanted any more. */
static void drop_links(struct netns_hooks *n, struct attached *a)
{
	int kept = 0;

	for (int i = 0; i < a->count; i++) {
		struct netns_link *l = &a->links[i];
		struct hook_status s = {
			.layer = hook_table[l->row].layer, .status = -ENOLINK, .netns = a->inum};

		if (!hook_is_off_in_namespaces(n->hooks, l->row)) {
			a->links[kept++] = *l;
			continue;
		}
		close(l->fd);
		name_hook(s.what, sizeof(s.what), l->row, l->family);
		n->report(n->report_arg, &s);
	}
	a->count = kept;
}

static void switch_at(struct netns_hooks *n, struct attached *a)
{
	bool home = a->inum == n->home_inum;
	int fd = home ? -1 : open_ns(a->path, a->inum);

	drop_links(n, a);
	if (home || (fd >= 0 && setns(fd, CLONE_NEWNET) == 0))
		attach_here(n, a);
	if (fd >= 0) {
		close(fd);
		if (setns(n->home, CLONE_NEWNET) != 0)
			mg_warn("cannot return to the own network namespace: %s", strerror(errno));
	}
}

void netns_switch(struct netns_hooks *n)
{
	want(n);
	for (size_t i = 0; i < n->at_count; i++)
		switch_at(n, &n->at[i]);
}

void netns_free(struct netns_hooks *n)
{
	if (!n)
		return;
	for (size_t i = 0; i < n->at_count; i++)
		close_links(&n->at[i]);
	free(n->at);
	close(n->home);
	free(n);
}
