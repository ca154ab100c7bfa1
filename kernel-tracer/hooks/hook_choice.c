/* SPDX-License-Identifier: MIT */
/*
 * Chooses the rows of the table of hooks that this kernel and the user's options allow, and gives
 * the reason for each of the others.
 */
#define _GNU_SOURCE
#include "hooks/hook_choice.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <linux/bpf.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "hooks/cgroup.h"
#include "hooks/hook_table.h"
#include "hooks/hook_targets.h"
#include "hooks/hooks.h"

/* Features of this kernel. */
struct kernel {
	const struct hook_targets *targets;
	/* 0, or the errno with which hooks of the kind cannot be attached; 1 = not tried yet */
	int kind[HOOK_KINDS];
};

/* The smallest valid program: it returns a number. */
#define RETURN(n)                                                              \
	{                                                                      \
		{.code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = 0, .imm = n}, \
			{.code = BPF_JMP | BPF_EXIT},                          \
	}

/* Loads a small BPF netfilter program, a type that came with Linux 6.4. Returns 0 or the error. */
static int try_netfilter(void)
{
	struct bpf_insn accept[] = RETURN(1);
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
		return errno == EPERM ? -EPERM : -EOPNOTSUPP;
	close(fd);
	return 0;
}

/*
 * Loads and attaches a small program to a function. Returns 0 or the error: kernels refuse to patch
 * some functions, either when the program is loaded or when it is attached.
 */
static int try_function(const struct hook *k, uint32_t id)
{
	struct bpf_insn leave[] = RETURN(0);
	LIBBPF_OPTS(bpf_prog_load_opts, opts,
		.expected_attach_type = k->kind == HOOK_FEXIT ? BPF_TRACE_FEXIT : BPF_TRACE_FENTRY);
	int fd, link, err = 0;

	opts.attach_btf_id = id;
	fd = bpf_prog_load(BPF_PROG_TYPE_TRACING, "magnet_try", "GPL", leave, 2, &opts);
	if (fd < 0)
		return fd;
	link = bpf_raw_tracepoint_open(NULL, fd);
	if (link < 0)
		err = link;
	else
		close(link);
	close(fd);
	return err;
}

/*
 * Loads a small program for sockets and attaches it to all of the machine. Returns 0 or the error;
 * -EBUSY: another program is there, and shares the place with none.
 */
static int try_sockops(void)
{
	struct bpf_insn go_on[] = RETURN(1);
	LIBBPF_OPTS(bpf_prog_load_opts, opts, .expected_attach_type = BPF_CGROUP_SOCK_OPS);
	int fd = bpf_prog_load(BPF_PROG_TYPE_SOCK_OPS, "magnet_try", "GPL", go_on, 2, &opts), link;
	bool whole;

	if (fd < 0)
		return -errno;
	link = cgroup_link_sockets(fd, &whole);
	close(fd);
	if (link < 0)
		return link == -EPERM ? -EBUSY : link;
	close(link);
	return 0;
}

static int kind_problem(struct kernel *kernel, size_t row)
{
	const struct hook *k = &hook_table[row];
	int *problem = &kernel->kind[k->kind];

	if (*problem > 0)
		*problem = k->kind == HOOK_NETFILTER ? try_netfilter()
			   : k->kind == HOOK_SOCKOPS ? try_sockops()
			   : hook_is_of_function(k)  ? try_function(k, kernel->targets->id[row])
						     : 0;
	return *problem;
}

/*
 * Returns 0, or the errno for which a row's hook cannot be used here. To attach a program to all
 * sockets takes the kernel some time: that is tried only where it is wanted.
 */
static int problem_of(struct kernel *kernel, size_t row, bool wanted)
{
	const struct hook *k = &hook_table[row];
	int args = k->kind == HOOK_NETFILTER ? k->number : kernel->targets->args[row];

	if (args < k->number)
		return -ENOENT;
	return wanted || k->kind != HOOK_SOCKOPS ? kind_problem(kernel, row) : 0;
}

bool hook_is_usable(int state)
{
	return state == 0 || state == HOOK_OFF || state == HOOK_TO_MEASURE;
}

bool hook_is_needed(int state)
{
	return state == 0 || state == HOOK_TO_MEASURE;
}

/*
 * Returns whether `part` feeds a part of the event that `whole` feeds: several rows of one kind may
 * together replace a row of another kind.
 */
static bool is_part(const struct hook *whole, const struct hook *part)
{
	size_t n = strlen(whole->event);

	return whole->kind != part->kind && strncmp(whole->event, part->event, n) == 0 &&
	       part->event[n] == ' ';
}

bool hook_same_event(size_t a, size_t b)
{
	const struct hook *x = &hook_table[a], *y = &hook_table[b];

	return strcmp(x->event, y->event) == 0 || is_part(x, y) || is_part(y, x);
}

static bool is_served(const struct hooks *h, size_t row)
{
	for (size_t i = 0; i < row; i++)
		if (hook_is_usable(h->state[i]) && hook_same_event(i, row))
			return true;
	return false;
}

static bool only_tcp_passes(const struct mg_bpf_settings *filters)
{
	return filters->active & MG_FILTERS_PROTOCOL && filters->protocols == 1u << MG_KIND_tcp;
}

bool hook_is_wanted(const struct hook *k, uint32_t layers, const struct mg_bpf_settings *filters)
{
	static const uint32_t passed = 1u << MG_LAYER_SOCKET | 1u << MG_LAYER_TCP |
				       1u << MG_LAYER_IP | 1u << MG_LAYER_NETFILTER |
				       1u << MG_LAYER_DEVICE | 1u << MG_LAYER_GRO;

	if (hook_is_of_others(k) && only_tcp_passes(filters))
		return false;
	if (strcmp(k->event, "sock_open") == 0 && layers == 1u << MG_LAYER_TIMESTAMPS)
		return false; /* a hook at each reading, and timestamps are of sends */
	if (hook_meets_sockets(k))
		return layers & passed && !(layers & 1u << MG_LAYER_SYSCALL);
	return hook_is_selection(k) || layers & 1u << k->layer;
}

static int choose(struct hooks *h, const struct hook_options *o, struct kernel *kernel, size_t row)
{
	const struct hook *k = &hook_table[row];
	int wanted = 0, problem;

	if (is_served(h, row))
		return HOOK_NOT_NEEDED;
	if (!hook_is_wanted(k, o->layers, &o->settings))
		wanted = k->layer == MG_LAYER_SYSCALL ? HOOK_TO_MEASURE : HOOK_OFF;
	if (o->fresh && strcmp(k->event, "sock_open") == 0)
		return HOOK_NOT_NEEDED; /* no connection is open yet */
	problem = h->refused[row]                                           ? h->refused[row]
		  : k->kind == HOOK_SOCKOPS && h->targets->cast && !h->cast ? -ECONNREFUSED
		  : o->without & 1u << k->kind                              ? -ECANCELED
					       : problem_of(kernel, row, !wanted);
	return problem ? problem : wanted;
}

void hooks_choose(struct hooks *h, const struct hook_options *o, const struct hook_targets *targets)
{
	struct kernel kernel = {.targets = targets, .kind = {1, 1, 1, 1, 1}};

	for (size_t i = 0; i < hook_count; i++)
		h->state[i] = choose(h, o, &kernel, i);
}

void hook_by(const struct hook *k, char *text, size_t size)
{
	static const char *const points[] = {
		"PRE_ROUTING", "LOCAL_IN", "FORWARD", "LOCAL_OUT", "POST_ROUTING"};

	if (k->kind == HOOK_SOCKOPS)
		snprintf(text, size, "%s", hook_kind_names[k->kind]);
	else
		snprintf(text, size, "%s %s", hook_kind_names[k->kind],
			k->kind == HOOK_NETFILTER ? points[k->number] : k->target);
}

static const char *sockops_reason(int state)
{
	switch (state) {
	case -ENOENT:
		return "no transmit timestamps for BPF, which came with Linux 6.15";
	case -ENODEV:
		return "no cgroup v2 hierarchy is mounted (mount -t cgroup2 none DIR)";
	case -EPERM:
		return "sockops takes CAP_NET_ADMIN";
	case -EBUSY:
		return "another program has the root of cgroup v2 to itself (bpftool cgroup show)";
	case -ECONNREFUSED:
		return "this kernel refused the kind of BPF program that this hook needs";
	default:
		return strerror(-state);
	}
}

void hook_reason(const struct hook *k, int state, char *text, size_t size)
{
	const char *what = k->kind == HOOK_TP ? "tracepoint" : "function";

	if (k->kind == HOOK_SOCKOPS && state != -ECANCELED)
		snprintf(text, size, "%s", sockops_reason(state));
	else if (state == -ENOENT && k->kind != HOOK_NETFILTER)
		snprintf(text, size, "no %s %s with %d argument%s or more", what, k->target,
			k->number, k->number == 1 ? "" : "s");
	else if (state == -ECANCELED)
		snprintf(text, size, "--without %s", hook_kind_names[k->kind]);
	else if (state == -EOPNOTSUPP && k->kind == HOOK_NETFILTER)
		snprintf(text, size, "no BPF netfilter programs, which came with Linux 6.4");
	else if (state == -EPERM && k->kind == HOOK_NETFILTER)
		snprintf(text, size, "netfilter takes CAP_NET_ADMIN");
	else if (hook_is_of_function(k))
		snprintf(text, size, "%s is refused (%s)", hook_kind_names[k->kind],
			strerror(-state));
	else
		snprintf(text, size, "%s %s: %s", hook_kind_names[k->kind],
			k->kind == HOOK_NETFILTER ? k->event : k->target, strerror(-state));
}
