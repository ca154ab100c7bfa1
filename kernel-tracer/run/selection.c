/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE

#include "run/selection.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <linux/nsfs.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "event_table.h"
#include "option_lists.h"
#include "options.h"
#include "hooks/hook_table.h"

/* A list being parsed, and where to write what is wrong. */
struct list {
	const char *at;
	char item[OPTION_ITEM_SIZE];
	char *why;
	size_t size;
};

static int wrong(struct list *l, const char *what)
{
	snprintf(l->why, l->size, "'%s': %s", l->item, what);
	return -EINVAL;
}

/* Says what is wrong with an item that was refused. */
static int refused(struct list *l)
{
	snprintf(l->why, l->size, "'%s': it takes %s", l->item, option_takes());
	return -EINVAL;
}

/* Takes the next item. Returns false if there is none. */
static bool next(struct list *l)
{
	return option_item(&l->at, l->item);
}

static int set_protocols(struct mg_bpf_settings *s, struct list *l)
{
	s->protocols = 0;
	while (next(l)) {
		uint32_t bits;

		if (!option_protocol(l->item, &bits))
			return refused(l);
		s->protocols |= bits;
	}
	return 0;
}

static void text_protocols(const struct mg_bpf_settings *s, char *out, size_t size)
{
	size_t used = 0;

	for (unsigned int k = MG_KIND_tcp; k < MG_KIND_END && used < size; k++)
		if (s->protocols & 1u << k)
			used += (size_t)snprintf(
				out + used, size - used, "%s%s", used ? "," : "", mg_kind_name(k));
}

/*
 * Returns whether a file is a network namespace; another file's inode number could match by chance.
 */
static bool is_netns(const char *path)
{
	struct statfs fs;
	bool is = false;
	int fd;

	if (statfs(path, &fs) != 0 || fs.f_type != NSFS_MAGIC) /* before it is opened: a FIFO */
		return false;
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (fd >= 0) {
		is = ioctl(fd, NS_GET_NSTYPE) == CLONE_NEWNET;
		close(fd);
	}
	return is;
}

/*
 * Finds a network namespace by a name below /run/netns, a path, or the inode number of `magnet
 * report --json`.
 */
static bool find_netns(const char *text, uint32_t *inum)
{
	char path[300];
	struct stat st;
	uint64_t n;

	if (option_number(text, 1, UINT32_MAX, &n)) {
		*inum = (uint32_t)n;
		return true;
	}
	snprintf(path, sizeof(path), "%s%s", strchr(text, '/') ? "" : "/run/netns/", text);
	if (!is_netns(path) || stat(path, &st) != 0)
		return false;
	*inum = (uint32_t)st.st_ino;
	return true;
}

static int set_netns(struct mg_bpf_settings *s, struct list *l)
{
	int n = 0;

	while (next(l)) {
		if (n == MG_FILTER_NETNS)
			return wrong(l, "too many network namespaces");
		if (!find_netns(l->item, &s->netns[n++]))
			return wrong(l, "no network namespace of that name in /run/netns, nor a "
					"path or inode number of one");
	}
	for (int i = n; n && i < MG_FILTER_NETNS; i++)
		s->netns[i] = s->netns[n - 1];
	return 0;
}

static void text_netns(const struct mg_bpf_settings *s, char *out, size_t size)
{
	size_t used = 0;

	for (int i = 0; i < MG_FILTER_NETNS && used < size; i++)
		if (!i || s->netns[i] != s->netns[i - 1])
			used += (size_t)snprintf(
				out + used, size - used, "%s%u", used ? "," : "", s->netns[i]);
}

static int set_ports(struct mg_bpf_settings *s, struct list *l)
{
	int n = 0;

	while (next(l)) {
		if (n == MG_FILTER_PORTS)
			return wrong(l, "too many ports");
		if (!option_port(l->item, &s->ports[n++]))
			return refused(l);
	}
	for (int i = n; n && i < MG_FILTER_PORTS; i++)
		s->ports[i] = s->ports[n - 1];
	return 0;
}

static void text_ports(const struct mg_bpf_settings *s, char *out, size_t size)
{
	size_t used = 0;

	for (int i = 0; i < MG_FILTER_PORTS && used < size; i++)
		if (!i || s->ports[i] != s->ports[i - 1])
			used += (size_t)snprintf(
				out + used, size - used, "%s%u", used ? "," : "", s->ports[i]);
}

static int set_addresses(struct mg_bpf_settings *s, struct list *l)
{
	int n = 0;

	while (next(l)) {
		if (n == MG_FILTER_PREFIXES)
			return wrong(l, "too many prefixes");
		if (!option_prefix(l->item, &s->prefix[n++]))
			return refused(l);
	}
	for (int i = n; n && i < MG_FILTER_PREFIXES; i++)
		s->prefix[i] = s->prefix[n - 1];
	return 0;
}

static void text_addresses(const struct mg_bpf_settings *s, char *out, size_t size)
{
	size_t used = 0;

	for (int i = 0; i < MG_FILTER_PREFIXES && used < size; i++) {
		const struct mg_prefix *p = &s->prefix[i];
		char text[INET6_ADDRSTRLEN];
		unsigned int bits = 0;
		bool v4;

		if (i && memcmp(p, p - 1, sizeof(*p)) == 0)
			continue;
		for (int w = 0; w < 4; w++)
			bits += (unsigned int)__builtin_popcount(p->mask[w]);
		v4 = bits >= 96 && !p->addr[0] && !p->addr[1] && p->addr[2] == htonl(0xffff);
		inet_ntop(v4 ? AF_INET : AF_INET6, v4 ? p->addr + 3 : p->addr, text, sizeof(text));
		used += (size_t)snprintf(out + used, size - used, "%s%s/%u", used ? "," : "", text,
			v4 ? bits - 96 : bits);
	}
}

static int set_sample(struct mg_bpf_settings *s, struct list *l)
{
	snprintf(l->item, sizeof(l->item), "%s", l->at);
	return option_sample(l->at, &s->sample) ? 0 : refused(l);
}

static void text_sample(const struct mg_bpf_settings *s, char *out, size_t size)
{
	snprintf(out, size, "%u", s->sample);
}

static int set_interface(struct mg_bpf_settings *s, struct list *l)
{
	snprintf(l->item, sizeof(l->item), "%s", l->at);
	if (!option_interface(l->at))
		return refused(l);
	memset(s->interface, 0, sizeof(s->interface));
	memcpy(s->interface, l->at, strlen(l->at));
	return 0;
}

static void text_interface(const struct mg_bpf_settings *s, char *out, size_t size)
{
	snprintf(out, size, "%s", s->interface);
}

static const struct {
	const char *name;
	uint8_t active; /* bit of the filter in mg_bpf_settings.active; 0: none */
	bool list;      /* whether it takes a list */
	int (*set)(struct mg_bpf_settings *s, struct list *l);
	void (*text)(const struct mg_bpf_settings *s, char *out, size_t size);
} filters[] = {
	{"protocol", MG_FILTERS_PROTOCOL, true, set_protocols, text_protocols},
	{"netns", MG_FILTERS_NETNS, true, set_netns, text_netns},
	{"port", MG_FILTERS_PORT, true, set_ports, text_ports},
	{"address", MG_FILTERS_ADDRESS, true, set_addresses, text_addresses},
	{"sample", MG_FILTERS_SAMPLE, false, set_sample, text_sample},
	{"interface", 0, false, set_interface, text_interface},
};
#define FILTERS (sizeof(filters) / sizeof(filters[0]))

static int index_of(const char *name)
{
	for (size_t i = 0; i < FILTERS; i++)
		if (strcmp(filters[i].name, name) == 0)
			return (int)i;
	return -1;
}

bool selection_is(const char *name)
{
	return index_of(name) >= 0;
}

int selection_set(
	struct mg_bpf_settings *s, const char *name, const char *value, char *why, size_t size)
{
	struct list l = {.at = value, .why = why, .size = size};
	struct mg_bpf_settings new = *s;
	int i = index_of(name), err;

	if (i < 0) {
		snprintf(why, size, "there is no filter of that name");
		return -EINVAL;
	}
	if (strcmp(value, "any") == 0) {
		s->active &= (uint8_t)~filters[i].active;
		if (!filters[i].active)
			s->interface[0] = 0;
		return 0;
	}
	if (!value[0])
		return wrong(&l, "empty; \"any\" takes a filter away");
	err = filters[i].set(&new, &l);
	if (err)
		return err;
	new.active |= filters[i].active;
	*s = new;
	return 0;
}

void selection_text(const struct mg_bpf_settings *s, const char *name, char *out, size_t size)
{
	int i = index_of(name);

	snprintf(out, size, "any");
	if (i >= 0 && (filters[i].active ? s->active & filters[i].active : s->interface[0] != 0))
		filters[i].text(s, out, size);
}

int selection_add(
	struct mg_bpf_settings *s, const char *name, const char *value, char *why, size_t size)
{
	char before[2048], both[4096];
	int i = index_of(name);

	if (i < 0 || !filters[i].list || !(s->active & filters[i].active) || !value[0] ||
		strcmp(value, "any") == 0)
		return selection_set(s, name, value, why, size);
	selection_text(s, name, before, sizeof(before));
	snprintf(both, sizeof(both), "%s,%.2000s", before, value);
	return selection_set(s, name, both, why, size);
}
