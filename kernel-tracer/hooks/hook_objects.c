/* SPDX-License-Identifier: MIT */
/* Opens the BPF objects, and loads their maps. */
#define _GNU_SOURCE
#include "hooks/hook_objects.h"

#include <bpf/btf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <linux/btf.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "hooks/hook_table.h"

/* BPF objects made by embed.py from one source */
extern const unsigned char magnet_bpf_cast[], magnet_bpf_plain[], magnet_bpf_old[];
extern const unsigned int magnet_bpf_cast_size, magnet_bpf_plain_size, magnet_bpf_old_size;

/* Returns whether a map has the settings that do not change; texts have one of their own. */
static bool is_constants(const char *map)
{
	const char *section = strstr(map, ".rodata");

	return section && strcmp(section, ".rodata") == 0;
}

/* Sets sizes of maps, and the constants. */
static int set_maps(
	const struct hooks *h, const struct mg_bpf_config *config, struct bpf_object *object)
{
	struct bpf_map *map;
	int err = 0;

	bpf_object__for_each_map (map, object) {
		const char *name = bpf_map__name(map);

		if (strcmp(name, "rings") == 0) {
			err = bpf_map__set_max_entries(map, (uint32_t)h->cpus);
			if (!err)
				err = bpf_map__set_value_size(map, (uint32_t)h->ring_stride);
		} else if (!config->stack_ns && strcmp(name, "stacks_sent") == 0) {
			err = bpf_map__set_max_entries(map, 1); /* no program uses it */
		} else if (!config->stack_ns && strcmp(name, "new_stacks") == 0) {
			err = bpf_map__set_max_entries(map, (uint32_t)sysconf(_SC_PAGESIZE));
		} else if (is_constants(name)) {
			err = bpf_map__set_initial_value(map, config, sizeof(*config));
		}
		if (err)
			return err;
	}
	return 0;
}

/*
 * Opens the object with all programs; nothing is in the kernel yet. `types` is a file with the
 * kernel's types or NULL.
 */
static int open_object(
	const struct hooks *h, const char *types, bool cast, struct bpf_object **object)
{
	LIBBPF_OPTS(bpf_object_open_opts, opts, .object_name = "magnet", .btf_custom_path = types);

	if (h->old)
		*object = bpf_object__open_mem(magnet_bpf_old, magnet_bpf_old_size, &opts);
	else if (cast)
		*object = bpf_object__open_mem(magnet_bpf_cast, magnet_bpf_cast_size, &opts);
	else
		*object = bpf_object__open_mem(magnet_bpf_plain, magnet_bpf_plain_size, &opts);
	if (!*object)
		return -errno;
	return set_maps(h, h->config, *object);
}

int hook_objects_open(const struct hooks *h, struct bpf_object **object)
{
	/*
	 * libbpf searches modules for types that this kernel lacks, which takes CAP_SYS_ADMIN,
	 * unless the path of the kernel's own BTF is given
	 */
	return open_object(h, h->sees_modules ? NULL : VMLINUX_BTF, h->cast, object);
}

bool hook_objects_wants(const bool *rows, const char *program, bool first)
{
	bool meets = false, times = false;

	for (size_t i = 0; i < hook_count; i++) {
		if (strcmp(hook_table[i].program, program) == 0)
			return rows[i];
		meets |= rows[i] && hook_meets_sockets(&hook_table[i]);
		times |= rows[i] && hook_table[i].kind == HOOK_SOCKOPS;
	}
	if (strcmp(program, "find_connections") == 0 || strcmp(program, "time_connections") == 0)
		return times;
	return strcmp(program, "meet_existing") == 0 ? meets : first;
}

void hook_objects_select(struct bpf_object *object, const bool *rows, bool first)
{
	struct bpf_program *p;

	bpf_object__for_each_program (p, object)
		bpf_program__set_autoload(p, hook_objects_wants(rows, bpf_program__name(p), first));
	for (size_t i = 0; i < hook_count; i++) {
		if (hook_table[i].kind != HOOK_NETFILTER)
			continue;
		p = bpf_object__find_program_by_name(object, hook_table[i].program);
		bpf_program__set_type(p, MG_BPF_PROG_TYPE_NETFILTER);
		bpf_program__set_expected_attach_type(p, MG_BPF_NETFILTER);
	}
}

/*
 * Makes a file with no types at all. An object of which only the maps are loaded needs none, and
 * libbpf would read all of the kernel's. Returns its descriptor or a negative errno.
 */
static int no_types(char *path, size_t size)
{
	const struct {
		struct btf_header header;
		char strings[1];
	} empty = {.header = {.magic = BTF_MAGIC,
			   .version = BTF_VERSION,
			   .hdr_len = sizeof(empty.header),
			   .str_len = sizeof(empty.strings)}};
	const size_t length = sizeof(empty.header) + sizeof(empty.strings);
	int fd = memfd_create("magnet-no-types", MFD_CLOEXEC);

	if (fd < 0)
		return -errno;
	snprintf(path, size, "/proc/self/fd/%d", fd);
	if (write(fd, &empty, length) == (ssize_t)length && access(path, R_OK) == 0)
		return fd;
	close(fd);
	return -EIO;
}

struct maps_thread {
	struct hooks *h;
	struct load_part part;
	pthread_t thread;
	bool runs;
};

/* Loads an object for its maps. It takes no types if it has been compiled without casts. */
static void *load_maps(void *arg)
{
	struct maps_thread *m = arg;
	char path[64];
	int fd = no_types(path, sizeof(path));
	struct bpf_program *p;

	m->part.err = open_object(m->h, fd < 0 ? NULL : path, false, &m->part.object);
	if (!m->part.err) {
		bpf_object__for_each_program (p, m->part.object)
			bpf_program__set_autoload(p, false);
		load_part(&m->part);
	}
	if (fd >= 0)
		close(fd);
	return NULL;
}

struct maps_thread *hook_maps_begin(struct hooks *h)
{
	struct maps_thread *maps = calloc(1, sizeof(*maps));

	if (!maps)
		return NULL;
	maps->h = h;
	maps->runs = pthread_create(&maps->thread, NULL, load_maps, maps) == 0;
	return maps;
}

int hook_maps_end(struct hooks *h, struct maps_thread *maps, struct load_part *failed)
{
	int err;

	if (maps->runs)
		pthread_join(maps->thread, NULL);
	else
		load_maps(maps);
	h->object = maps->part.object;
	err = maps->part.err;
	if (err)
		*failed = maps->part;
	free(maps);
	return err;
}

int hook_objects_open_parts(struct hooks *h, int parts, struct load_part *failed)
{
	struct maps_thread *maps = hook_maps_begin(h);
	int err = maps ? 0 : -ENOMEM, maps_err;

	while (maps && h->parts < parts && !err)
		err = hook_objects_open(h, &h->part[h->parts++].object);
	maps_err = maps ? hook_maps_end(h, maps, failed) : 0;
	return maps_err ? maps_err : err;
}

void hook_objects_close(struct hooks *h)
{
	for (int i = 0; i < h->parts; i++)
		bpf_object__close(h->part[i].object);
	bpf_object__close(h->object);
	h->parts = 0;
	h->object = NULL;
}
