/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "hooks/capture.h"

#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <linux/bpf.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "hooks/hook_table.h"

#if LIBBPF_MAJOR_VERSION >= 1

/* A program, as libbpf was about to load it. */
struct noted {
	const struct bpf_program *program;
	uint32_t attach_id, attach_type, flags;
	int types; /* descriptor of its own types, which its object holds */
	void *func;
	uint32_t funcs, func_size;
};

static struct {
	pthread_mutex_t lock;
	bool registered, noting;
	const struct hook_targets *targets;
	const struct btf *types;
	struct noted *noted;
	size_t count;
	bool incomplete;
} state = {.lock = PTHREAD_MUTEX_INITIALIZER};

#define ITERATOR "iter/"

/* Finds the function of the kernel to which an iterator is attached. Returns 0 if there is none. */
static uint32_t iterator_id(const char *iterator)
{
	/* for layers that are chosen later the types are read again */
	struct btf *own = state.types ? NULL : btf__load_vmlinux_btf();
	const struct btf *types = own && !libbpf_get_error(own) ? own : state.types;
	char function[128];
	int found;

	snprintf(function, sizeof(function), "bpf_iter_%s", iterator);
	found = types ? btf__find_by_name_kind(types, function, BTF_KIND_FUNC) : 0;
	if (own && !libbpf_get_error(own))
		btf__free(own);
	return found > 0 ? (uint32_t)found : 0;
}

/* Finds the type that a program is attached to; 0: it is attached to none. Returns 0 or -ESRCH. */
static int attach_id(const struct bpf_program *p, uint32_t *id)
{
	const char *section = bpf_program__section_name(p), *name = bpf_program__name(p);

	*id = 0;
	if (bpf_program__type(p) != BPF_PROG_TYPE_TRACING)
		return 0;
	for (size_t row = 0; row < hook_count; row++)
		if (strcmp(hook_table[row].program, name) == 0)
			*id = state.targets->id[row];
	if (!*id && strncmp(section, ITERATOR, strlen(ITERATOR)) == 0)
		*id = iterator_id(section + strlen(ITERATOR));
	return *id ? 0 : -ESRCH;
}

static int note(struct bpf_program *p, struct bpf_prog_load_opts *o, long cookie)
{
	struct noted one = {.program = p,
		.attach_type = o->expected_attach_type,
		.flags = o->prog_flags,
		.types = (int)o->prog_btf_fd,
		.funcs = o->func_info_cnt,
		.func_size = o->func_info_rec_size};
	size_t bytes = (size_t)one.funcs * one.func_size;
	struct noted *more;
	int err = attach_id(p, &one.attach_id);

	(void)cookie;
	if (err)
		return err;
	o->attach_btf_id = one.attach_id;
	if (!state.noting)
		return 0;
	one.func = malloc(bytes + 1);
	if (one.func && bytes)
		memcpy(one.func, o->func_info, bytes);
	pthread_mutex_lock(&state.lock);
	more = realloc(state.noted, (state.count + 1) * sizeof(*more));
	state.noted = more ? more : state.noted;
	if (more && one.func)
		more[state.count++] = one;
	else
		free(one.func);
	state.incomplete |= !more || !one.func;
	pthread_mutex_unlock(&state.lock);
	return 0;
}

void capture_begin(const struct hook_targets *targets, const struct btf *types)
{
	static const struct {
		const char *section;
		enum bpf_prog_type type;
		int attach_type;
	} of[] = {
		{"tp_btf+", BPF_PROG_TYPE_TRACING, BPF_TRACE_RAW_TP},
		{"fentry+", BPF_PROG_TYPE_TRACING, BPF_TRACE_FENTRY},
		{"fexit+", BPF_PROG_TYPE_TRACING, BPF_TRACE_FEXIT},
		{"iter+", BPF_PROG_TYPE_TRACING, BPF_TRACE_ITER},
		{"raw_tp+", BPF_PROG_TYPE_RAW_TRACEPOINT, 0},
		{"sockops", BPF_PROG_TYPE_SOCK_OPS, BPF_CGROUP_SOCK_OPS},
		{"magnet_nf+", MG_BPF_PROG_TYPE_NETFILTER, MG_BPF_NETFILTER},
	};
	LIBBPF_OPTS(libbpf_prog_handler_opts, opts, .prog_prepare_load_fn = note);

	state.targets = targets;
	state.types = types;
	state.noting = true;
	for (size_t i = 0; i < sizeof(of) / sizeof(of[0]) && !state.registered; i++)
		state.incomplete |= libbpf_register_prog_handler(of[i].section, of[i].type,
					    (enum bpf_attach_type)of[i].attach_type, &opts) < 0;
	state.registered = true;
}

void capture_again(void)
{
	for (size_t i = 0; i < state.count; i++)
		free(state.noted[i].func);
	free(state.noted);
	state.noted = NULL;
	state.count = 0;
}

void capture_end(void)
{
	capture_again();
	state.types = NULL;
	state.noting = false;
}

static const struct noted *find(const struct bpf_program *p)
{
	for (size_t i = 0; i < state.count; i++)
		if (state.noted[i].program == p)
			return &state.noted[i];
	return NULL;
}

/* An object whose programs are captured, and the one whose maps they use, in an order of its own.
 */
struct objects {
	const struct bpf_object *programs, *maps;
};

/* Returns the place of a map among all, -1 if the programs have none of this descriptor. */
static int place_of_map(const struct objects *of, int fd)
{
	const struct bpf_map *its = NULL, *map = NULL;

	while ((its = bpf_object__next_map(of->programs, its)) && bpf_map__fd(its) != fd)
		;
	for (int i = 0; its && (map = bpf_object__next_map(of->maps, map)); i++)
		if (strcmp(bpf_map__name(map), bpf_map__name(its)) == 0)
			return i;
	return -1;
}

/*
 * Names the maps by their places. Returns whether the instructions then depend on the kernel alone:
 * not on a module's functions or types, which have descriptors too.
 */
static bool place_maps(const struct objects *of, struct bpf_insn *insn, size_t count)
{
	bool ok = true;

	for (size_t i = 0; i < count && ok; i++) {
		struct bpf_insn *one = &insn[i];
		bool wide = one->code == (BPF_LD | BPF_IMM | BPF_DW);

		if (one->code == (BPF_JMP | BPF_CALL) && one->src_reg == BPF_PSEUDO_KFUNC_CALL) {
			ok = one->off == 0;
		} else if (wide && (one->src_reg == BPF_PSEUDO_MAP_FD ||
					   one->src_reg == BPF_PSEUDO_MAP_VALUE)) {
			one->imm = place_of_map(of, one->imm);
			ok = one->imm >= 0;
		} else if (wide && one->src_reg == BPF_PSEUDO_BTF_ID) {
			ok = i + 1 < count && insn[i + 1].imm == 0;
		} else if (wide) {
			ok = one->src_reg == 0 || one->src_reg == BPF_PSEUDO_FUNC;
		}
	}
	return ok;
}

static uint32_t cost_of(const struct bpf_program *p)
{
	struct bpf_prog_info info;
	uint32_t len = sizeof(info);

	memset(&info, 0, sizeof(info));
	if (bpf_obj_get_info_by_fd(bpf_program__fd(p), &info, &len) != 0 || !info.verified_insns)
		return (uint32_t)bpf_program__insn_cnt(p); /* before Linux 5.16 */
	return info.verified_insns;
}

static bool take_program(
	struct program_image *one, const struct objects *of, const struct bpf_program *p)
{
	const struct noted *noted = find(p);
	size_t count = bpf_program__insn_cnt(p);
	struct bpf_insn *insn = malloc(count * sizeof(*insn) + 1);

	one->insn = insn;
	if (!insn || !noted)
		return false;
	memcpy(insn, bpf_program__insns(p), count * sizeof(*insn));
	one->facts = (struct program_facts){.type = bpf_program__type(p),
		.attach_type = noted->attach_type,
		.flags = noted->flags,
		.attach_id = noted->attach_id,
		.cost = cost_of(p),
		.insns = (uint32_t)count,
		.funcs = noted->funcs,
		.func_size = noted->func_size};
	snprintf(one->facts.name, sizeof(one->facts.name), "%s", bpf_program__name(p));
	one->func = noted->func;
	return place_maps(of, insn, count);
}

/* Returns the programs' own types as the kernel has them: libbpf leaves out what it does not know.
 */
static void *own_types(uint32_t *size)
{
	struct bpf_btf_info info;
	uint32_t len = sizeof(info);
	int fd = state.count ? state.noted[0].types : -1;
	void *types;

	memset(&info, 0, sizeof(info));
	if (fd <= 0 || bpf_obj_get_info_by_fd(fd, &info, &len) != 0)
		return NULL;
	*size = info.btf_size;
	types = malloc(info.btf_size);
	memset(&info, 0, sizeof(info));
	info.btf = (uintptr_t)types;
	info.btf_size = *size;
	len = sizeof(info);
	if (types && bpf_obj_get_info_by_fd(fd, &info, &len) == 0)
		return types;
	free(types);
	return NULL;
}

static bool name_maps(struct program_images *images, struct map_name *name, uint32_t most,
	const struct bpf_object *object)
{
	const struct bpf_map *map = NULL;

	while ((map = bpf_object__next_map(object, map)) && images->maps < most)
		snprintf(name[images->maps++].text, sizeof(name->text), "%s", bpf_map__name(map));
	return !map;
}

uint8_t *capture_images(const struct hooks *h, size_t *size)
{
	struct program_images images = {.targets = *state.targets};
	struct map_name name[128];
	bool ok = state.count && !state.incomplete;
	char *data = NULL;
	FILE *f;

	memset(name, 0, sizeof(name));
	memcpy(images.refused, h->refused, sizeof(images.refused));
	images.targets.cast = h->cast;
	images.types = own_types(&images.types_size);
	images.map = name;
	ok = ok && images.types && name_maps(&images, name, 128, h->object);
	images.one = calloc(state.count + 1, sizeof(*images.one));
	for (int i = -1; i < h->parts && ok && images.one; i++) {
		struct objects of = {i < 0 ? h->object : h->part[i].object, h->object};
		struct bpf_program *p = NULL;

		while (ok && (p = bpf_object__next_program(of.programs, p)))
			if (bpf_program__autoload(p) && images.count < state.count)
				ok = take_program(&images.one[images.count++], &of, p);
	}
	f = ok && images.one && images.count == state.count ? open_memstream(&data, size) : NULL;
	ok = f && program_images_write(&images, f);
	if (f)
		ok &= fclose(f) == 0;
	if (!ok) {
		free(data);
		data = NULL;
	}
	for (uint32_t i = 0; i < images.count; i++)
		free((void *)images.one[i].insn);
	free(images.one);
	free((void *)images.types);
	return (uint8_t *)data;
}

#else

void capture_begin(const struct hook_targets *targets, const struct btf *types)
{
	(void)targets;
	(void)types;
}

void capture_again(void)
{
}

uint8_t *capture_images(const struct hooks *h, size_t *size)
{
	(void)h;
	(void)size;
	return NULL;
}

void capture_end(void)
{
}

#endif
