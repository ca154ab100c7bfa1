/* SPDX-License-Identifier: MIT */
/* Configures the BPF programs and loads those that this kernel accepts. */
#define _GNU_SOURCE
#include "hooks/hook_load.h"

#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "options.h"
#include "hooks/capture.h"
#include "hooks/hook_choice.h"
#include "hooks/hook_objects.h"
#include "hooks/hook_table.h"
#include "hooks/hook_targets.h"
#include "hooks/hooks.h"
#include "hooks/load_kept.h"
#include "hooks/load_parts.h"
#include "hooks/privilege.h"
#include "hooks/start_cache.h"

/* Fills in the table of calls to trace, indexed by this machine's system call numbers. */
/* splice and splice_in share a number; which end is a socket tells them apart */
#define __NR_splice_in __NR_splice
#define NR(id, name, dir, len, flags)            \
	if (__NR_##name < MG_NR_MAX)             \
		if (!c->call_of_nr[__NR_##name]) \
			c->call_of_nr[__NR_##name] = id;
#define ARGUMENT(n) (uint8_t)((n) < 0 ? MG_NO_ARGUMENT : (n))
#define SHAPE(id, name, dir, len, flags) \
	c->shape[id] = (struct mg_call_shape){MG_DIR_##dir, ARGUMENT(len), ARGUMENT(flags), 0};
_Static_assert(MG_SYS_END <= MG_SHAPES, "MG_SHAPES");

/*
 * Ranges of system call numbers by which 32-bit programs make calls that only sockets have: first
 * and last.
 */
#if defined(__x86_64__)
static const uint16_t numbers_32bit[][2] = {{102, 102}, {337, 337}, {345, 345}, {359, 373}};
#else
static const uint16_t numbers_32bit[][2] = {{281, 297}, {365, 366}, {374, 374}};
#endif

static void number_calls(struct mg_bpf_config *c)
{
	MG_SYSCALLS(NR)
	MG_SYSCALLS(SHAPE)
	for (size_t i = 0; i < sizeof(numbers_32bit) / sizeof(numbers_32bit[0]); i++)
		for (int nr = numbers_32bit[i][0]; nr <= numbers_32bit[i][1]; nr++)
			if (!c->call_of_nr[nr])
				c->call_of_nr[nr] = MG_CALL_32BIT;
}

uint64_t hooks_ring_slots(const struct hook_options *o)
{
	uint64_t bytes = o->buffer_bytes, slots = 64;
	int cpus = libbpf_num_possible_cpus();

	if (!bytes && cpus > 0) { /* default: 16 MiB per CPU, but at most 512 MiB in all */
		bytes = (512u << 20) / (unsigned int)cpus;
		if (bytes > 16u << 20)
			bytes = 16u << 20;
	}
	while (slots * 2 * sizeof(struct mg_slot) <= bytes &&
		mg_slots_in_memory(slots * 2) * sizeof(struct mg_slot) < MG_BUFFER_MAX)
		slots *= 2;
	return slots;
}

static int log2_of(uint64_t x)
{
	return 63 - __builtin_clzll(x);
}

#define NO_MEMORY_FOR_TYPES "no memory for the kernel's types"

#define BTF_MEMORY (32u << 20) /* bytes; more than the kernel's types take */

/*
 * Returns whether memory is too short to read the kernel's types, as libbpf does not always report
 * it.
 */
static bool is_short_of_memory(void)
{
	void *memory = malloc(BTF_MEMORY);

	free(memory);
	return !memory;
}

/*
 * Reads the kernel's BTF, without which no program loads, into `*types`; fails where an older
 * libbpf cannot read a newer kernel's.
 */
static int read_btf(struct hooks *h, struct btf **types)
{
	struct btf *btf = btf__load_vmlinux_btf();
	long err = libbpf_get_error(btf);

	if (!err) {
		*types = btf;
		err = hook_targets_find(h->targets, btf);
		h->old = h->targets->old;
		h->cast = h->targets->cast;
		return (int)err;
	}
	if (err == -ENOMEM || is_short_of_memory()) {
		snprintf(h->why, sizeof(h->why), NO_MEMORY_FOR_TYPES);
		return -ENOMEM;
	}
	if (access(VMLINUX_BTF, R_OK) != 0)
		snprintf(h->why, sizeof(h->why),
			"the kernel's types cannot be read (" VMLINUX_BTF ": %s): it takes a "
			"kernel built with CONFIG_DEBUG_INFO_BTF, and in a container its /sys",
			strerror(errno));
	else
		snprintf(h->why, sizeof(h->why),
			"libbpf cannot read this kernel's BTF: from Linux 6.0 on it takes libbpf "
			"1.0 "
			"or newer");
	return (int)err;
}

/*
 * Returns the microseconds of a timer tick times 1024, as one tick is the resolution of the coarse
 * clocks.
 */
static uint32_t jiffy(void)
{
	struct timespec tick;

	clock_getres(CLOCK_MONOTONIC_COARSE, &tick);
	return (uint32_t)((uint64_t)tick.tv_nsec * 1024 / 1000);
}

#define OLD_RING_MAX (4u << 20) /* limit of one map element in such kernels */

/*
 * Returns whether the limit of descriptors suffices: one for each program, one for each link, one
 * for each map in each of the parts, and a few more.
 */
static int check_descriptors(struct hooks *h, struct bpf_object *object, int parts)
{
	struct bpf_program *program;
	struct bpf_map *map;
	struct rlimit limit;
	unsigned int n = 32;

	bpf_object__for_each_program (program, object)
		n += bpf_program__autoload(program) ? 2 : 0;
	bpf_object__for_each_map (map, object)
		n += 1 + (unsigned int)parts;
	if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur >= n)
		return 0;
	snprintf(h->why, sizeof(h->why), "its programs take some %u open files", n);
	return -EMFILE;
}

/* Returns the row of the program that failed to load, -1 if it is not in the table. */
static int refused_row(const struct hooks *h, const char *program)
{
	for (size_t i = 0; i < hook_count; i++)
		if (hook_is_needed(h->state[i]) && strcmp(hook_table[i].program, program) == 0)
			return (int)i;
	return -1;
}

/* Chooses the programs and loads them, shared among as many copies as are worth it. */
static int load_chosen(struct hooks *h, const struct hook_options *o, struct load_part *failed)
{
	int parts = load_parts_count(), err;
	struct load_part whole = {0};
	bool rows[HOOKS_MAX];

	capture_again();
	hooks_choose(h, o, h->targets);
	for (size_t i = 0; i < hook_count; i++)
		rows[i] = hook_is_needed(h->state[i]);
	err = hook_objects_open(h, &whole.object);
	if (err)
		return err;
	hook_objects_select(whole.object, rows, true);
	if (h->old || h->names_refused)
		bpf_program__set_autoload(
			bpf_object__find_program_by_name(whole.object, NAME_DROP), false);
	if (parts > 1 && check_descriptors(h, whole.object, parts) == 0) {
		h->part[h->parts++] = whole;
		err = hook_objects_open_parts(h, parts, failed);
		return err ? err : load_parts(h->object, h->part, h->parts, failed);
	}
	h->why[0] = 0;
	h->object = whole.object;
	err = check_descriptors(h, h->object, 0);
	if (err)
		return err;
	load_part(&whole);
	*failed = whole;
	return whole.err;
}

static void are_loaded(struct hooks *h)
{
	for (size_t i = 0; i < hook_count; i++)
		h->loaded[i] |= hook_is_needed(h->state[i]);
}

/*
 * Loads the programs. A program that one kernel's verifier accepts another's may refuse: it is left
 * out and its row's alternatives are tried. libbpf loads an object only once, so each attempt
 * starts over.
 */
static int load_what_loads(struct hooks *h, const struct hook_options *o)
{
	struct load_part failed;
	int err, row;

	for (;;) {
		memset(&failed, 0, sizeof(failed));
		err = load_chosen(h, o, &failed);
		if (!err)
			return 0;
		if (err == -ESRCH) { /* libbpf cannot read the types, which were read before */
			snprintf(h->why, sizeof(h->why), NO_MEMORY_FOR_TYPES);
			return -ENOMEM;
		}
		row = refused_row(h, failed.program);
		if (!h->names_refused && strcmp(failed.program, NAME_DROP) == 0) {
			h->names_refused = true; /* the names are read from lists then */
			hook_objects_close(h);
			continue;
		}
		if (row < 0 || err == -ENOMEM || privilege_lacks_bpf() || privilege_locked_down())
			break;
		if (h->cast) /* that machine's verifier may know less than this one's */
			h->cast = false;
		else
			h->refused[row] = err;
		hook_objects_close(h);
	}
	snprintf(h->said, sizeof(h->said), "%.200s",
		failed.line[0] ? failed.line : load_parts_line());
	return err;
}

/* ---- beginning ---- */

int hooks_configure(struct hooks *h, const struct hook_options *o)
{
	struct mg_bpf_config *config = h->config;

#if !defined(__x86_64__) /* bpf/ring_old.bpf.h needs stores to become visible in order */
	if (h->old) {
		snprintf(h->why, sizeof(h->why), "before Linux 5.12 it takes an x86-64");
		return -EOPNOTSUPP;
	}
#endif
	h->ring_slots = hooks_ring_slots(o);
	while (h->old && mg_slots_in_memory(h->ring_slots) * sizeof(struct mg_slot) >= OLD_RING_MAX)
		h->ring_slots /= 2;
	h->near_slots = h->ring_slots < MG_NEAR_SLOTS ? h->ring_slots : MG_NEAR_SLOTS;
	h->ring_stride =
		sizeof(struct mg_ring) + mg_slots_in_memory(h->ring_slots) * sizeof(struct mg_slot);
	config->ring_mask = (uint32_t)(h->ring_slots - 1);
	config->others_first = mg_others_first(h->cpus);
	config->ring_room = (uint32_t)(h->ring_slots - h->ring_slots / 8 - 1);
	config->ring_shift = (uint32_t)log2_of(h->ring_slots);
	config->near_mask = (uint32_t)(h->near_slots - 1);
	config->near_shift = (uint32_t)log2_of(h->near_slots);
	return 0;
}

static int prepare(struct hooks *h, const struct hook_options *o)
{
	struct mg_bpf_config *config;
	FILE *random;

	memset(h, 0, sizeof(*h));
	config = h->config = calloc(1, sizeof(*config));
	h->targets = calloc(1, sizeof(*h->targets));
	if (!config || !h->targets)
		return -ENOMEM;
	*config = (struct mg_bpf_config){.stack_ns = o->stack_ns,
		.all = o->all,
		.anonymize = o->anonymize,
		.jiffy = jiffy()};
	number_calls(config);
	random = fopen("/dev/urandom", "re");
	if (!random || fread(&config->seed, sizeof(config->seed), 1, random) != 1)
		config->seed = (uint64_t)getpid() << 32;
	if (random)
		fclose(random);
	libbpf_set_strict_mode(LIBBPF_STRICT_ALL);
	load_parts_listen();
	h->sees_modules = privilege_sees_modules();
	h->cpus = libbpf_num_possible_cpus();
	return h->cpus < 1 ? -EINVAL : 0;
}

/* Has libbpf load the programs. */
static int load_anew(struct hooks *h, const struct hook_options *o, const struct start_cache *cache)
{
	struct btf *btf = NULL;
	int err = read_btf(h, &btf);

	if (!err)
		err = hooks_configure(h, o);
	if (err) {
		btf__free(btf);
		return err;
	}
	capture_begin(h->targets, btf);
	err = load_what_loads(h, o);
	if (!err)
		keep_programs(h, cache);
	capture_end();
	btf__free(btf);
	if (err && !h->why[0]) {
		/* EACCES is also the verifier's refusal, EINVAL also a locked down kernel's */
		if ((err != -EPERM && err != -EACCES && !privilege_locked_down()) ||
			!privilege_reason(h->why, sizeof(h->why)))
			snprintf(h->why, sizeof(h->why), "loading BPF programs: %s (%.200s)",
				strerror(-err), h->said);
	}
	return err;
}

int hooks_load(struct hooks *h, const struct hook_options *o)
{
	struct start_cache cache;
	int err = prepare(h, o);

	if (err)
		return err;
	start_cache_open(&cache, o, h->sees_modules);
	if (load_kept_programs(h, o, &cache) != 0)
		err = load_anew(h, o, &cache);
	start_cache_close(&cache);
	if (err)
		return err;
	are_loaded(h);
	/* no filters yet: calibration's own socket must pass */
	err = hooks_set(h, &(struct mg_bpf_settings){.level = o->settings.level});
	if (err)
		return err;
	h->ring_memory = mmap(NULL, h->ring_stride * (uint64_t)h->cpus, PROT_READ | PROT_WRITE,
		MAP_SHARED, hooks_map_fd(h, "rings"), 0);
	if (h->ring_memory == MAP_FAILED) {
		h->ring_memory = NULL;
		return -errno;
	}
	return 0;
}
