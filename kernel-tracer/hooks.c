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
#include <unistd.h>

#include "hooks.h"
#include "log.h"

extern const unsigned char magnet_bpf_object[]; /* made by embed.py */
extern const unsigned int magnet_bpf_object_size;

/*
 * Every program, in the order in which they are attached. Rows that feed the same event are
 * alternatives: the first whose hook this kernel has is used.
 */
#define TP(layer, program, event, tracepoint, args)                            \
	{                                                                      \
		MG_LAYER_##layer, HOOK_TP, program, event, tracepoint, args, 0 \
	}
#define NF(program, event, hooknum, priority)                                               \
	{                                                                                   \
		MG_LAYER_IP, HOOK_NETFILTER, program, event, "netfilter", hooknum, priority \
	}
/* clang-format off */
const struct hook hook_table[] = {
	TP(SCHED,   "on_task_fork",      "task_fork",      "sched_process_fork",      2),
	TP(SCHED,   "on_task_exec",      "task_exec",      "sched_process_exec",      1),
	TP(SCHED,   "on_task_exit",      "task_exit",      "sched_process_exit",      1),
	TP(TCP,     "on_sock_state",     "sock_state",     "inet_sock_set_state",     3),
	TP(TCP,     "on_tcp_destroy",    "sock_close",     "tcp_destroy_sock",        1),
	TP(TCP,     "on_tcp_used",       "sock_open",      "tcp_rcv_space_adjust",    1),
	TP(TCP,     "on_tcp_recv",       "tcp_recv",       "tcp_probe",               2),
	TP(TCP,     "on_tcp_ready",      "tcp_ready",      "sk_data_ready",           1),
	TP(TCP,     "on_retransmit",     "tcp_retransmit", "tcp_retransmit_skb",      3),
	TP(TCP,     "on_retransmit_old", "tcp_retransmit", "tcp_retransmit_skb",      2),
	TP(SOCKET,  "on_tcp_send",       "tcp_send",       "tcp_sendmsg_locked",      4),
	TP(SOCKET,  "on_sock_copy",      "sock_copy",      "skb_copy_datagram_iovec", 2),
	NF(         "on_ip_out",         "ip_out",         3, -500),
	NF(         "on_ip_post",        "ip_post",        4, 500),
	NF(         "on_ip_in",          "ip_in",          1, 500),
	TP(DEVICE,  "on_dev_queue",      "dev_queue",      "net_dev_queue",           1),
	TP(DEVICE,  "on_dev_xmit",       "dev_xmit",       "net_dev_start_xmit",      2),
	TP(DEVICE,  "on_dev_done",       "dev_done",       "net_dev_xmit",            4),
	TP(DEVICE,  "on_dev_recv",       "dev_recv",       "netif_receive_skb",       1),
	TP(SCHED,   "on_sched_switch",   "sched_switch",   "sched_switch",            4),
	TP(SCHED,   "on_sched_waking",   "sched_waking",   "sched_waking",            1),
	TP(SCHED,   "on_softirq_entry",  "softirq_entry",  "softirq_entry",           1),
	TP(SCHED,   "on_softirq_exit",   "softirq_exit",   "softirq_exit",            1),
	TP(SYSCALL, "on_sys_exit",       "sys_exit",       "sys_exit",                2),
	TP(SYSCALL, "on_sys_enter",      "sys_enter",      "sys_enter",               2),
};
/* clang-format on */
#define HOOKS (sizeof(hook_table) / sizeof(hook_table[0]))
_Static_assert(HOOKS <= HOOKS_MAX, "HOOKS_MAX");

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

/* Arguments of a tracepoint as the kernel's BTF has them, -1 if there is no such tracepoint. */
static int tracepoint_args(const struct btf *btf, const char *name)
{
	char type[96];
	const struct btf_type *t;
	int id;

	snprintf(type, sizeof(type), "btf_trace_%s", name);
	id = btf__find_by_name_kind(btf, type, BTF_KIND_TYPEDEF);
	if (id < 0)
		return -1;
	t = btf__type_by_id(btf, btf__type_by_id(btf, id)->type); /* pointer */
	t = btf__type_by_id(btf, t->type);                        /* prototype */
	return btf_vlen(t) - 1; /* the first is the tracepoint's own data */
}

/* BPF netfilter programs came with 6.4; whether they load is found by loading one. */
static bool netfilter_programs_load(void)
{
	struct bpf_insn accept[] = {
		{.code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = 0, .imm = 1},
		{.code = BPF_JMP | BPF_EXIT},
	};
	union bpf_attr attr;
	int fd;

	memset(&attr, 0, sizeof(attr));
	attr.prog_type = MG_BPF_PROG_TYPE_NETFILTER;
	attr.expected_attach_type = MG_BPF_NETFILTER;
	attr.insns = (uintptr_t)accept;
	attr.insn_cnt = 2;
	attr.license = (uintptr_t) "GPL";
	fd = (int)syscall(SYS_bpf, BPF_PROG_LOAD, &attr, sizeof(attr));
	if (fd < 0)
		return false;
	close(fd);
	return true;
}

static bool is_loaded(int state)
{
	return state == 0 || state == HOOK_TO_MEASURE;
}

/* Decide for every row whether its program is to be loaded; hook_state says why not. */
static void choose(struct hooks *h, const struct tracer_options *o, int state[])
{
	struct btf *btf = btf__load_vmlinux_btf();
	bool nf = netfilter_programs_load();
	const char *served[HOOKS_MAX];
	int count = 0;

	for (size_t i = 0; i < HOOKS; i++) {
		const struct hook *k = &hook_table[i];
		struct bpf_program *p = program_of(h, k->program);
		int args;

		state[i] = 0;
		for (int j = 0; j < count; j++)
			if (strcmp(served[j], k->event) == 0)
				state[i] = HOOK_NOT_NEEDED;
		if (state[i] == 0 && !(o->layers & 1u << k->layer) && !hook_is_selection(k))
			state[i] = k->layer == MG_LAYER_SYSCALL ? HOOK_TO_MEASURE : HOOK_NOT_WANTED;
		if (o->fresh && strcmp(k->event, "sock_open") == 0)
			state[i] = HOOK_NOT_WANTED; /* there is nothing open yet */
		if (is_loaded(state[i]) && k->kind == HOOK_TP) {
			args = btf ? tracepoint_args(btf, k->target) : -1;
			if (args < k->number)
				state[i] = -ENOENT;
		}
		if (state[i] == 0 && k->kind == HOOK_NETFILTER && !nf)
			state[i] = -EOPNOTSUPP;
		if (k->kind == HOOK_NETFILTER) {
			bpf_program__set_type(p, MG_BPF_PROG_TYPE_NETFILTER);
			bpf_program__set_expected_attach_type(p, MG_BPF_NETFILTER);
		}
		bpf_program__set_autoload(p, is_loaded(state[i]));
		if (state[i] == 0)
			served[count++] = k->event;
	}
	btf__free(btf);
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

static uint64_t ring_slots(const struct tracer_options *o, int cpus)
{
	uint64_t bytes = o->buffer_bytes, slots = 64;

	if (!bytes) { /* 16 MiB a CPU, but not more than 512 MiB in all */
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

int hooks_load(struct hooks *h, const struct tracer_options *o)
{
	struct mg_bpf_config config = {
		.all = o->all, .anonymize = o->anonymize, .follow_pid = (uint32_t)o->pid};
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

	h->ring_slots = ring_slots(o, h->cpus);
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
	choose(h, o, h->state);
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

	for (size_t i = 0; i < HOOKS && !err; i++)
		if (hook_table[i].layer == MG_LAYER_SYSCALL && is_loaded(h->state[i]))
			err = attach(h, i);
	return err;
}

int hooks_attach(struct hooks *h, hook_report_fn report, void *arg)
{
	uint32_t self = (uint32_t)getpid(), zero = 0;
	struct bpf_map *map;

	bpf_object__for_each_map (map, h->object)
		if (strstr(bpf_map__name(map), ".bss"))
			bpf_map_update_elem(bpf_map__fd(map), &zero, &self, BPF_ANY);
	for (size_t i = 0; i < HOOKS; i++) {
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

bool hooks_want_netfilter(const struct hooks *h, const struct hook **first, size_t *count)
{
	for (size_t i = 0; i < HOOKS; i++) {
		if (hook_table[i].kind != HOOK_NETFILTER)
			continue;
		*first = &hook_table[i];
		*count = 0;
		while (i + *count < HOOKS && hook_table[i + *count].kind == HOOK_NETFILTER)
			++*count;
		return h->state[i] == 0;
	}
	return false;
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

	for (size_t i = 0; i < HOOKS; i++) {
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
	for (size_t i = 0; i < HOOKS; i++)
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
