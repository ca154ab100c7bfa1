/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "tracer.h"

#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/bpf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "hooks.h"
#include "log.h"

extern const unsigned char magnet_bpf_object[]; /* made by embed.py */
extern const unsigned int magnet_bpf_object_size;

static struct bpf_program *program_of(const struct hooks *h, const char *name)
{
	return bpf_object__find_program_by_name(h->object, name);
}

int hooks_program_fd(const struct hooks *h, const char *name)
{
	struct bpf_program *p = program_of(h, name);

	return p ? bpf_program__fd(p) : -ENOENT;
}

int hooks_map_fd(const struct hooks *h, const char *name)
{
	return bpf_object__find_map_fd_by_name(h->object, name);
}

static char last_libbpf_line[256];

static int libbpf_line(enum libbpf_print_level level, const char *fmt, va_list ap)
{
	char line[256];

	if (level == LIBBPF_DEBUG)
		return 0;
	if (getenv("MAGNET_DEBUG")) /* the verifier's log is many lines */
		return vfprintf(stderr, fmt, ap);
	vsnprintf(line, sizeof(line), fmt, ap);
	line[strcspn(line, "\n")] = 0;
	if (line[0] && !strstr(line, "failed to load object"))
		memcpy(last_libbpf_line, line, sizeof(line));
	return 0;
}

/* The calls to follow by their number on this machine, from the table. */
#define __NR_splice_in __NR_splice /* told apart by which end is a socket */
#define NR(id, name, dir, len, flags)            \
	if (__NR_##name < MG_NR_MAX)             \
		if (!c->call_of_nr[__NR_##name]) \
			c->call_of_nr[__NR_##name] = id;
static void number_calls(struct mg_bpf_config *c)
{
	MG_SYSCALLS(NR)
}

static int map_by_suffix(const struct hooks *h, const char *suffix)
{
	struct bpf_map *map;

	bpf_object__for_each_map (map, h->object)
		if (strstr(bpf_map__name(map), suffix))
			return bpf_map__fd(map);
	return -ENOENT;
}

uint64_t hooks_ring_slots(const struct tracer_options *o)
{
	uint64_t bytes = o->buffer_bytes, slots = 64;
	int cpus = libbpf_num_possible_cpus();

	if (!bytes && cpus > 0) { /* 16 MiB a CPU, but not more than 512 MiB in all */
		bytes = (512u << 20) / (unsigned int)cpus;
		if (bytes > 16u << 20)
			bytes = 16u << 20;
	}
	while (slots * 2 * sizeof(struct mg_slot) <= bytes)
		slots *= 2;
	return slots;
}

static int log2_of(uint64_t x)
{
	return 63 - __builtin_clzll(x);
}

/* The kernel's description of itself, on which everything rests; older libbpf cannot read newer
 * ones. */
static int check_btf(struct hooks *h)
{
	struct btf *btf = btf__load_vmlinux_btf();
	long err = libbpf_get_error(btf);

	if (!err) {
		btf__free(btf);
		return 0;
	}
	if (access("/sys/kernel/btf/vmlinux", R_OK) != 0)
		snprintf(h->why, sizeof(h->why),
			"this kernel describes its types to nobody (/sys/kernel/btf/vmlinux: %s): "
			"it "
			"takes one built with CONFIG_DEBUG_INFO_BTF",
			strerror(errno));
	else
		snprintf(h->why, sizeof(h->why),
			"libbpf cannot read this kernel's BTF: from Linux 6.0 on it takes libbpf "
			"1.0 "
			"or newer");
	return (int)err;
}

static void empty(int map)
{
	uint8_t key[64];

	while (bpf_map_get_next_key(map, NULL, key) == 0)
		bpf_map_delete_elem(map, key);
}

int hooks_set(struct hooks *h, const struct mg_bpf_settings *s)
{
	int map = map_by_suffix(h, ".data.settings");
	struct mg_bpf_settings was;
	uint32_t zero = 0;

	if (bpf_map_lookup_elem(map, &zero, &was) || bpf_map_update_elem(map, &zero, s, BPF_ANY))
		return -errno;
	was.level = s->level;
	if (memcmp(&was, s, sizeof(was)) == 0)
		return 0; /* which sockets are followed does not depend on the level */
	empty(hooks_map_fd(h, "socks"));
	empty(hooks_map_fd(h, "tuples"));
	return 0;
}

/* Microseconds of a timer tick, times 1024: the resolution of the coarse clocks is one tick. */
static uint32_t jiffy(void)
{
	struct timespec tick;

	clock_getres(CLOCK_MONOTONIC_COARSE, &tick);
	return (uint32_t)((uint64_t)tick.tv_nsec * 1024 / 1000);
}

int hooks_load(struct hooks *h, const struct tracer_options *o)
{
	struct mg_bpf_config config = {.all = o->all,
		.anonymize = o->anonymize,
		.switch_cost = o->layers & 1u << MG_LAYER_SWITCH ? 1 : 0,
		.follow_pid = (uint32_t)o->pid,
		.jiffy = jiffy()};
	struct bpf_map *map;
	FILE *random;
	int err;

	memset(h, 0, sizeof(*h));
	libbpf_set_strict_mode(LIBBPF_STRICT_ALL);
	libbpf_set_print(libbpf_line);
	err = check_btf(h);
	if (err)
		return err;
	h->cpus = libbpf_num_possible_cpus();
	if (h->cpus < 1)
		return -EINVAL;
	h->object = bpf_object__open_mem(magnet_bpf_object, magnet_bpf_object_size, NULL);
	if (!h->object)
		return -errno;

	h->ring_slots = hooks_ring_slots(o);
	h->ring_stride = sizeof(struct mg_ring) + h->ring_slots * sizeof(struct mg_slot);
	config.ring_mask = (uint32_t)(h->ring_slots - 1);
	config.ring_shift = (uint32_t)log2_of(h->ring_slots);
	number_calls(&config);
	random = fopen("/dev/urandom", "re");
	if (!random || fread(&config.seed, sizeof(config.seed), 1, random) != 1)
		config.seed = (uint64_t)getpid() << 32;
	if (random)
		fclose(random);

	bpf_object__for_each_map (map, h->object) {
		const char *name = bpf_map__name(map);

		err = 0;
		if (strcmp(name, "rings") == 0) {
			err = bpf_map__set_max_entries(map, (uint32_t)h->cpus);
			if (!err)
				err = bpf_map__set_value_size(map, (uint32_t)h->ring_stride);
		} else if (strstr(name, ".rodata")) {
			err = bpf_map__set_initial_value(map, &config, sizeof(config));
		}
		if (err)
			return err;
	}
	hooks_choose(h, o);
	err = bpf_object__load(h->object);
	if (err) {
		/* the verifier's refusal is EACCES too */
		if (err == -EPERM || (err == -EACCES && geteuid() != 0))
			snprintf(h->why, sizeof(h->why),
				"the kernel refuses BPF (%s); it takes root, or CAP_BPF, "
				"CAP_PERFMON "
				"and CAP_NET_ADMIN",
				strerror(-err));
		else
			snprintf(h->why, sizeof(h->why), "loading BPF programs: %s (%.200s)",
				strerror(-err), last_libbpf_line);
		return err;
	}
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

static int attach(struct hooks *h, size_t row)
{
	struct bpf_link *link = bpf_program__attach(program_of(h, hook_table[row].program));

	if (!link)
		return -errno;
	h->links[row] = link;
	return 0;
}

static void detach(struct hooks *h, size_t row)
{
	if (h->links[row])
		bpf_link__destroy(h->links[row]);
	h->links[row] = NULL;
}

int hooks_attach_calls(struct hooks *h)
{
	int err = 0;

	for (size_t i = 0; i < hook_count && !err; i++)
		if (hook_table[i].layer == MG_LAYER_SYSCALL && hook_is_loaded(h->state[i]))
			err = attach(h, i);
	return err;
}

int hooks_attach(struct hooks *h, hook_report_fn report, void *arg)
{
	uint32_t self = (uint32_t)getpid(), zero = 0;

	bpf_map_update_elem(map_by_suffix(h, ".bss"), &zero, &self, BPF_ANY);
	for (size_t i = 0; i < hook_count; i++) {
		const struct hook *k = &hook_table[i];
		struct hook_status s = {.layer = k->layer, .status = h->state[i]};

		if (s.status == HOOK_TO_MEASURE)
			detach(h, i);
		if (s.status > 0)
			continue;
		snprintf(s.what, sizeof(s.what), "%s", k->event);
		if (s.status == 0 && k->kind == HOOK_NETFILTER)
			continue; /* netns.c attaches and reports these */
		if (s.status == 0 && !h->links[i])
			s.status = h->state[i] = attach(h, i);
		if (!hook_is_selection(k) || s.status)
			report(arg, &s);
	}
	return 0;
}

bool hook_in_namespaces(const struct hooks *h, size_t row)
{
	return hook_table[row].kind == HOOK_NETFILTER && h->state[row] == 0;
}

int hooks_follow(struct hooks *h)
{
	struct bpf_program *p = program_of(h, "follow_existing");
	struct bpf_link *link = bpf_program__attach(p);
	char sink[64];
	int fd, err = 0;

	if (!link)
		return -errno;
	fd = bpf_iter_create(bpf_link__fd(link));
	if (fd < 0) {
		err = -errno;
	} else {
		while (read(fd, sink, sizeof(sink)) > 0)
			;
		close(fd);
	}
	bpf_link__destroy(link);
	return err;
}

uint64_t hooks_new_misses(struct hooks *h, char producer[32])
{
	uint64_t sum = 0, worst = 0, not_followed;
	uint32_t zero = 0;

	for (size_t i = 0; i < hook_count; i++) {
		struct bpf_prog_info info;
		uint32_t len = sizeof(info);
		uint64_t more;

		if (h->state[i] != 0)
			continue;
		memset(&info, 0, sizeof(info));
		if (bpf_obj_get_info_by_fd(hooks_program_fd(h, hook_table[i].program), &info, &len))
			continue;
		more = info.recursion_misses - h->misses[i];
		h->misses[i] = info.recursion_misses;
		if (more > worst) {
			worst = more;
			snprintf(producer, 32, "%s", hook_table[i].event);
		}
		sum += more;
	}
	if (bpf_map_lookup_elem(hooks_map_fd(h, "not_followed"), &zero, &not_followed) == 0 &&
		not_followed > h->not_followed) {
		sum += not_followed - h->not_followed;
		h->not_followed = not_followed;
		snprintf(producer, 32, "too many connections at once");
	}
	return sum;
}

void hooks_detach(struct hooks *h)
{
	for (size_t i = 0; i < hook_count; i++)
		detach(h, i);
}

void hooks_unload(struct hooks *h)
{
	hooks_detach(h);
	if (h->ring_memory)
		munmap(h->ring_memory, h->ring_stride * (uint64_t)h->cpus);
	bpf_object__close(h->object);
	memset(h, 0, sizeof(*h));
}
