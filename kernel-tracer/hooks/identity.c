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

/* Adds the tasks, which an iterator tells. */
static int read_tasks(struct identities *all, const struct hooks *h)
{
	int program = hooks_program_fd(h, "tell_tasks"), link, fd, err;

	if (program < 0)
		return -EOPNOTSUPP;
	link = bpf_link_create(program, 0, BPF_TRACE_ITER, NULL);
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

/* Has a program tell of these sockets, and adds what it told. */
static int ask(
	struct identities *all, int program, int told, const uint64_t *sockets, uint32_t count)
{
	uint64_t arguments[MG_ASKED] = {0};
	LIBBPF_OPTS(bpf_test_run_opts, opts, .ctx_in = arguments, .ctx_size_in = sizeof(arguments));
	struct mg_told answer;
	uint32_t zero = 0;
	int err = 0;

	memcpy(arguments, sockets, count * sizeof(*sockets));
	if (bpf_prog_test_run_opts(program, &opts) || bpf_map_lookup_elem(told, &zero, &answer))
		return -errno;
	for (uint32_t i = 0; i < answer.count && i < MG_TOLD && !err; i++)
		err = add(all, &answer.one[i]);
	return err;
}

/* Part of a map whose keys are addresses of sockets. */
struct part {
	int map;
	uint64_t *key;
	uint8_t *value;
	uint32_t value_size, room, count;
	uint32_t next; /* where the kernel goes on */
	bool begun, ended;
};

static int make_room(struct part *p, uint32_t room)
{
	uint64_t *key = realloc(p->key, room * sizeof(*key));
	uint8_t *value = NULL;

	if (key) {
		p->key = key;
		value = realloc(p->value, (size_t)room * p->value_size);
	}
	if (!value)
		return -ENOMEM;
	p->value = value;
	p->room = room;
	return 0;
}

/* Reads the next part of the map. The kernel gives no elements of a bucket if not all have room. */
static int read_part(struct part *p)
{
	int err;

	for (;;) {
		p->count = p->room;
		if (bpf_map_lookup_batch(p->map, p->begun ? &p->next : NULL, &p->next, p->key,
			    p->value, &p->count, NULL) == 0)
			break;
		if (errno == ENOENT) {
			p->ended = true;
			break;
		}
		if (errno != ENOSPC)
			return -errno;
		err = make_room(p, 2 * p->room);
		if (err)
			return err;
	}
	p->begun = true;
	return 0;
}

#define AT_ONCE 256 /* elements of a map that are read at once */

/* Adds the sockets whose addresses are the keys of a map. */
static int read_sockets(
	struct identities *all, const struct hooks *h, const char *program, const char *map)
{
	struct part p = {.map = hooks_map_fd(h, map)};
	int fd = hooks_program_fd(h, program), told = hooks_map_fd(h, "told"), err;
	struct bpf_map_info info;
	uint32_t len = sizeof(info);

	if (fd < 0)
		return -EOPNOTSUPP;
	memset(&info, 0, sizeof(info));
	if (bpf_obj_get_info_by_fd(p.map, &info, &len) != 0)
		return -errno;
	p.value_size = info.value_size;
	err = make_room(&p, AT_ONCE);
	while (!err && !p.ended) {
		err = read_part(&p);
		for (uint32_t i = 0; i < p.count && !err; i += MG_ASKED)
			err = ask(all, fd, told, p.key + i,
				p.count - i < MG_ASKED ? p.count - i : MG_ASKED);
	}
	free(p.key);
	free(p.value);
	return err;
}

int identities_read(struct identities *out, const struct hooks *h)
{
	int err;

	out->count = 0;
	err = read_tasks(out, h);
	if (!err)
		err = read_sockets(out, h, "tell_connections", "socks");
	return err ? err : read_sockets(out, h, "tell_others", "others");
}

int identities_read_last(struct identities *out, const struct hooks *h)
{
	out->count = 0;
	return read_sockets(out, h, "tell_listening", "listen_drops");
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
