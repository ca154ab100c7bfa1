/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "hooks/program_images.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <linux/bpf.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define THREADS_MAX 8

/* ---- as bytes ---- */

struct counts {
	uint32_t maps, types_size, count, more;
};

static size_t padded(size_t bytes)
{
	return (bytes + 7) & ~(size_t)7;
}

static bool put(FILE *f, const void *data, size_t bytes)
{
	static const uint8_t nothing[8];

	return fwrite(data, 1, bytes, f) == bytes &&
	       fwrite(nothing, 1, padded(bytes) - bytes, f) == padded(bytes) - bytes;
}

bool program_images_write(const struct program_images *images, FILE *f)
{
	const struct counts counts = {images->maps, images->types_size, images->count, 0};
	bool ok = put(f, &images->targets, sizeof(images->targets)) &&
		  put(f, images->refused, sizeof(images->refused)) &&
		  put(f, &counts, sizeof(counts)) &&
		  put(f, images->map, images->maps * sizeof(*images->map)) &&
		  put(f, images->types, images->types_size);

	for (uint32_t i = 0; i < images->count && ok; i++) {
		const struct program_image *one = &images->one[i];

		ok = put(f, &one->facts, sizeof(one->facts)) &&
		     put(f, one->insn, one->facts.insns * sizeof(*one->insn)) &&
		     put(f, one->func, (size_t)one->facts.funcs * one->facts.func_size);
	}
	return ok;
}

struct cursor {
	const uint8_t *at, *end;
};

/* Returns the next bytes, NULL if there are not as many. */
static const void *take(struct cursor *c, uint64_t bytes)
{
	const uint8_t *at = c->at;

	if (bytes > (uint64_t)(c->end - c->at) || padded(bytes) > (size_t)(c->end - c->at))
		return NULL;
	c->at += padded(bytes);
	return at;
}

static bool is_name(const char *text)
{
	return memchr(text, 0, IMAGE_NAME) != NULL;
}

static bool is_map(const struct bpf_insn *insn)
{
	return insn->code == (BPF_LD | BPF_IMM | BPF_DW) &&
	       (insn->src_reg == BPF_PSEUDO_MAP_FD || insn->src_reg == BPF_PSEUDO_MAP_VALUE);
}

static bool read_one(
	const struct program_images *images, struct program_image *one, struct cursor *c)
{
	const struct program_facts *facts = take(c, sizeof(*facts));

	if (!facts || !is_name(facts->name))
		return false;
	one->facts = *facts;
	one->fd = -1;
	one->insn = take(c, (uint64_t)facts->insns * sizeof(*one->insn));
	one->func = take(c, (uint64_t)facts->funcs * facts->func_size);
	if (!one->insn || !one->func)
		return false;
	for (uint32_t i = 0; i < facts->insns; i++)
		if (is_map(&one->insn[i]) && (uint32_t)one->insn[i].imm >= images->maps)
			return false;
	return true;
}

int program_images_read(
	struct program_images *images, void *memory, const uint8_t *data, size_t size)
{
	struct cursor c = {data, data + size};
	const struct hook_targets *targets = take(&c, sizeof(*targets));
	const int *refused = targets ? take(&c, sizeof(images->refused)) : NULL;
	const struct counts *counts = refused ? take(&c, sizeof(*counts)) : NULL;
	bool ok = counts && counts->maps < 1000 && counts->count < 1000;

	memset(images, 0, sizeof(*images));
	images->memory = memory;
	if (ok) {
		images->targets = *targets;
		memcpy(images->refused, refused, sizeof(images->refused));
		images->maps = counts->maps;
		images->map = take(&c, counts->maps * sizeof(*images->map));
		images->types_size = counts->types_size;
		images->types = images->map ? take(&c, counts->types_size) : NULL;
		images->one = calloc(counts->count + 1, sizeof(*images->one));
		ok = images->types && images->one;
	}
	for (uint32_t i = 0; ok && i < images->maps; i++)
		ok = is_name(images->map[i].text);
	for (uint32_t i = 0; ok && i < counts->count; i++)
		ok = read_one(images, &images->one[images->count++], &c);
	if (ok && c.at == c.end)
		return 0;
	program_images_free(images);
	return -EINVAL;
}

static void unload(struct program_images *images)
{
	for (uint32_t i = 0; i < images->count; i++) {
		if (images->one[i].fd >= 0)
			close(images->one[i].fd);
		images->one[i].fd = -1;
	}
}

void program_images_free(struct program_images *images)
{
	unload(images);
	free(images->one);
	free(images->memory);
	memset(images, 0, sizeof(*images));
}

struct program_image *program_images_find(const struct program_images *images, const char *name)
{
	for (uint32_t i = 0; i < images->count; i++)
		if (strcmp(images->one[i].facts.name, name) == 0)
			return &images->one[i];
	return NULL;
}

/* ---- into the kernel ---- */

struct work {
	struct program_images *images;
	const int *map; /* their descriptors */
	int types;      /* descriptor of the programs' own types */
	uint32_t next;
	int err;
};

static int load_one(const struct work *w, struct program_image *one)
{
	const struct program_facts *facts = &one->facts;
	LIBBPF_OPTS(bpf_prog_load_opts, opts,
		.expected_attach_type = (enum bpf_attach_type)facts->attach_type,
		.prog_flags = facts->flags, .attach_btf_id = facts->attach_id,
		.prog_btf_fd = (uint32_t)w->types, .func_info = one->func,
		.func_info_cnt = facts->funcs, .func_info_rec_size = facts->func_size);
	struct bpf_insn *insn = malloc(facts->insns * sizeof(*insn) + 1);

	if (!insn)
		return -ENOMEM;
	memcpy(insn, one->insn, facts->insns * sizeof(*insn));
	for (uint32_t i = 0; i < facts->insns; i++)
		if (is_map(&insn[i]))
			insn[i].imm = w->map[insn[i].imm];
	one->fd = bpf_prog_load((enum bpf_prog_type)facts->type, facts->name, "Dual MIT/GPL", insn,
		facts->insns, &opts);
	free(insn);
	return one->fd < 0 ? one->fd : 0;
}

/* Loads the next program, until none is left. */
static void *load(void *arg)
{
	struct work *w = arg;

	while (!__atomic_load_n(&w->err, __ATOMIC_RELAXED)) {
		uint32_t i = __atomic_fetch_add(&w->next, 1, __ATOMIC_RELAXED);
		int err;

		if (i >= w->images->count)
			break;
		err = load_one(w, &w->images->one[i]);
		if (err)
			__atomic_store_n(&w->err, err, __ATOMIC_RELAXED);
	}
	return NULL;
}

static int by_cost(const void *a, const void *b)
{
	uint32_t x = ((const struct program_image *)a)->facts.cost;
	uint32_t y = ((const struct program_image *)b)->facts.cost;

	return (x < y) - (x > y);
}

/* Finds the descriptors of the maps that the images name. Returns NULL if it is another object. */
static int *map_descriptors(const struct program_images *images, struct bpf_object *maps)
{
	int *fd = calloc(images->maps + 1, sizeof(*fd));
	struct bpf_map *map = NULL;

	for (uint32_t i = 0; i < images->maps && fd; i++) {
		map = bpf_object__next_map(maps, map);
		if (!map || strcmp(bpf_map__name(map), images->map[i].text) != 0) {
			free(fd);
			return NULL;
		}
		fd[i] = bpf_map__fd(map);
	}
	return fd;
}

int program_images_load(struct program_images *images, struct bpf_object *maps, int threads)
{
	struct work w = {.images = images, .map = map_descriptors(images, maps)};
	pthread_t thread[THREADS_MAX];
	int started = 0;

	if (!w.map)
		return -EINVAL;
	w.types = bpf_btf_load(images->types, images->types_size, NULL);
	if (w.types < 0)
		w.err = -errno;
	/* the dearest first, so that the threads end together */
	qsort(images->one, images->count, sizeof(*images->one), by_cost);
	while (started < threads - 1 && started < THREADS_MAX &&
		pthread_create(&thread[started], NULL, load, &w) == 0)
		started++;
	load(&w);
	while (started)
		pthread_join(thread[--started], NULL);
	if (w.err)
		unload(images);
	if (w.types >= 0)
		close(w.types);
	free((void *)w.map);
	return w.err;
}
