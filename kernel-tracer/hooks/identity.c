/* SPDX-License-Identifier: MIT */

#include "hooks/identity.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <linux/bpf.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "hooks/hooks.h"

static const struct {
	const char *program, *map; /* iterator program and the map it goes over, NULL = tasks */
} askers[] = {
	{"tell_tasks", NULL},
	{"tell_connections", "socks"},
	{"tell_others", "others"},
};

static int add(struct identities *all, const struct mg_identity *one)
{
	if (all->count == all->room) {
		size_t room = all->room ? 2 * all->room : 256;
		struct mg_identity *more = realloc(all->one, room * sizeof(*more));

		if (!more)
			return -ENOMEM;
		all->one = more;
		all->room = room;
	}
	all->one[all->count++] = *one;
	return 0;
}

/* Reads all records; a read() may end within a record. */
static int read_all(struct identities *all, int fd)
{
	char buffer[64 * sizeof(struct mg_identity)];
	size_t used = 0;
	ssize_t n;

	while ((n = read(fd, buffer + used, sizeof(buffer) - used)) > 0 || errno == EINTR) {
		size_t at = 0;

		if (n < 0)
			continue;
		used += (size_t)n;
		for (; used - at >= sizeof(struct mg_identity); at += sizeof(struct mg_identity)) {
			struct mg_identity one;

			memcpy(&one, buffer + at, sizeof(one));
			if (add(all, &one))
				return -ENOMEM;
		}
		memmove(buffer, buffer + at, used - at);
		used -= at;
		errno = 0;
	}
	return n < 0 ? -errno : 0;
}

static int ask(struct identities *all, const struct hooks *h, const char *program, const char *map)
{
	union bpf_iter_link_info over = {.map.map_fd = map ? (uint32_t)hooks_map_fd(h, map) : 0};
	LIBBPF_OPTS(bpf_link_create_opts, opts, .iter_info = map ? &over : NULL,
		.iter_info_len = map ? sizeof(over) : 0);
	int program_fd = hooks_program_fd(h, program), link, fd, err;

	if (program_fd < 0)
		return -EOPNOTSUPP;
	link = bpf_link_create(program_fd, 0, BPF_TRACE_ITER, &opts);
	if (link < 0)
		return link;
	fd = bpf_iter_create(link);
	close(link);
	if (fd < 0)
		return fd;
	errno = 0;
	err = read_all(all, fd);
	close(fd);
	return err;
}

int identities_read(struct identities *out, const struct hooks *h)
{
	int err = 0;

	out->count = 0;
	for (size_t i = 0; i < sizeof(askers) / sizeof(askers[0]) && !err; i++)
		err = ask(out, h, askers[i].program, askers[i].map);
	return err;
}

int identities_read_last(struct identities *out, const struct hooks *h)
{
	out->count = 0;
	return ask(out, h, "tell_listening", "listen_drops");
}

int identities_write(const struct identities *all, struct ctf_writer *w, uint64_t ts)
{
	int err = 0;

	for (size_t i = 0; i < all->count && !err; i++) {
		const struct mg_identity *one = &all->one[i];
		const struct mg_event_desc *d = mg_event_by_id(one->id);

		if (d)
			err = ctf_event_of(
				w, one->id, ts, one->tid, one->pid, one->payload, d->size);
	}
	return err;
}

void identities_free(struct identities *all)
{
	free(all->one);
	memset(all, 0, sizeof(*all));
}
