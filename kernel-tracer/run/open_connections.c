/* SPDX-License-Identifier: MIT */
#include "run/open_connections.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "log.h"
#include "hooks/hooks.h"
#include "hooks/netns.h"

static void not_timed(int err)
{
	mg_warn("connections that are open already have no timestamps: %s", strerror(-err));
}

static void in_one_namespace(struct hooks *h)
{
	int err = hooks_iterate(h, "time_connections");

	if (err)
		not_timed(err);
}

/* Returns the namespaces of the connections found, which the caller frees; NULL without memory. */
static uint32_t *namespaces_of(const struct hooks *h, size_t *count)
{
	int map = hooks_map_fd(h, "open_before");
	uint32_t inum, *all = malloc(sizeof(*all));
	uint64_t key, *last = NULL;
	size_t i;

	*count = 0;
	for (; all && bpf_map_get_next_key(map, last, &key) == 0; last = &key) {
		uint32_t *more;

		if (bpf_map_lookup_elem(map, &key, &inum) != 0)
			continue;
		for (i = 0; i < *count && all[i] != inum; i++)
			;
		if (i < *count)
			continue;
		more = realloc(all, (*count + 1) * sizeof(*all));
		if (!more) {
			free(all);
			return NULL;
		}
		all = more;
		all[(*count)++] = inum;
	}
	return all;
}

void run_time_connections(struct run *r)
{
	uint32_t *only = NULL;
	size_t count = 0;
	int err;

	if (!hooks_feed(&r->hooks, "stamp_send"))
		return;
	err = hooks_iterate(&r->hooks, "find_connections");
	if (!err && !r->options.hooks.all) {
		ring_buffer__consume(r->new_netns); /* namespaces of theirs */
		only = namespaces_of(&r->hooks, &count);
		err = only ? 0 : -ENOMEM;
	}
	if (err)
		not_timed(err);
	else
		netns_visit(r->netns, only, count, in_one_namespace);
	free(only);
	/* they are found by their addresses, which others have later */
	hooks_empty(&r->hooks, "open_before");
}
