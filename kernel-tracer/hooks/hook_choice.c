/* SPDX-License-Identifier: MIT */
/*
 * Chooses the rows of the table of hooks that this kernel and the user's options allow, and gives
 * the reason for each of the others.
 */
#define _GNU_SOURCE
#include "hooks/hook_choice.h"

#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <linux/bpf.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "hooks/hook_table.h"
#include "hooks/hooks.h"

/* Features of this kernel. */
struct kernel {
	const struct btf *btf;
	/* arguments of each row's tracepoint, -1 if it does not exist */
	int args[HOOKS_MAX];
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

static bool is_of_function(const struct hook *k)
{
	return k->kind == HOOK_FENTRY || k->kind == HOOK_FEXIT;
}

/*
 * Loads and attaches a small program to a function. Returns 0 or the error: kernels refuse to patch
 * some functions, either when the program is loaded or when it is attached.
 */
static int try_function(const struct btf *btf, const struct hook *k)
{
	struct bpf_insn leave[] = RETURN(0);
	LIBBPF_OPTS(bpf_prog_load_opts, opts,
		.expected_attach_type = k->kind == HOOK_FEXIT ? BPF_TRACE_FEXIT : BPF_TRACE_FENTRY);
	int id = btf__find_by_name_kind(btf, k->target, BTF_KIND_FUNC), fd, link, err = 0;

	if (id < 0)
		return id;
	opts.attach_btf_id = (uint32_t)id;
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

static int kind_problem(struct kernel *kernel, const struct hook *k)
{
	int *problem = &kernel->kind[k->kind];

	if (*problem > 0)
		*problem = k->kind == HOOK_NETFILTER ? try_netfilter()
			   : is_of_function(k)       ? try_function(kernel->btf, k)
						     : 0;
	return *problem;
}

/* Returns the arguments of a tracepoint, given the typedef that the kernel has for each. */
static int args_of_typedef(const struct btf *btf, const struct btf_type *t)
{
	t = btf__type_by_id(btf, t->type);
	t = btf__type_by_id(btf, t->type); /* the typedef names a pointer to the function's type */
	return btf_vlen(t) - 1;            /* the first argument is the tracepoint's own data */
}

#define TRACEPOINT "btf_trace_"

/* Counts the arguments of all tracepoints at once, as a search for each row takes a millisecond. */
static void count_args(struct kernel *kernel)
{
	unsigned int types = btf__type_cnt(kernel->btf);

	for (size_t row = 0; row < hook_count; row++)
		kernel->args[row] = -1;
	for (unsigned int id = 1; id < types; id++) {
		const struct btf_type *t = btf__type_by_id(kernel->btf, id);
		const char *name;

		if (!btf_is_typedef(t))
			continue;
		name = btf__name_by_offset(kernel->btf, t->name_off);
		if (!name || strncmp(name, TRACEPOINT, strlen(TRACEPOINT)) != 0)
			continue;
		for (size_t row = 0; row < hook_count; row++)
			if (hook_table[row].kind == HOOK_TP &&
				strcmp(name + strlen(TRACEPOINT), hook_table[row].target) == 0)
				kernel->args[row] = args_of_typedef(kernel->btf, t);
	}
}

static int args_of_function(const struct btf *btf, const char *name)
{
	int id = btf__find_by_name_kind(btf, name, BTF_KIND_FUNC);

	return id < 0 ? -1 : btf_vlen(btf__type_by_id(btf, btf__type_by_id(btf, id)->type));
}

/* Returns 0, or the errno for which a row's hook cannot be used here. */
static int problem_of(struct kernel *kernel, size_t row)
{
	const struct hook *k = &hook_table[row];
	int args = k->kind == HOOK_TP ? kernel->args[row] : k->number;

	if (is_of_function(k))
		args = args_of_function(kernel->btf, k->target);
	return args < k->number ? -ENOENT : kind_problem(kernel, k);
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
	problem = h->refused[row]              ? h->refused[row]
		  : o->without & 1u << k->kind ? -ECANCELED
					       : problem_of(kernel, row);
	return problem ? problem : wanted;
}

void hooks_choose(struct hooks *h, const struct hook_options *o, const struct btf *btf)
{
	struct kernel kernel = {.btf = btf, .kind = {1, 1, 1, 1}};

	count_args(&kernel);
	for (size_t i = 0; i < hook_count; i++)
		h->state[i] = choose(h, o, &kernel, i);
}

void hook_by(const struct hook *k, char *text, size_t size)
{
	static const char *const points[] = {
		"PRE_ROUTING", "LOCAL_IN", "FORWARD", "LOCAL_OUT", "POST_ROUTING"};

	snprintf(text, size, "%s %s", hook_kind_names[k->kind],
		k->kind == HOOK_NETFILTER ? points[k->number] : k->target);
}

void hook_reason(const struct hook *k, int state, char *text, size_t size)
{
	const char *what = k->kind == HOOK_TP ? "tracepoint" : "function";

	if (state == -ENOENT && k->kind != HOOK_NETFILTER)
		snprintf(text, size, "no %s %s with %d argument%s or more", what, k->target,
			k->number, k->number == 1 ? "" : "s");
	else if (state == -ECANCELED)
		snprintf(text, size, "--without %s", hook_kind_names[k->kind]);
	else if (state == -EOPNOTSUPP && k->kind == HOOK_NETFILTER)
		snprintf(text, size, "no BPF netfilter programs, which came with Linux 6.4");
	else if (state == -EPERM && k->kind == HOOK_NETFILTER)
		snprintf(text, size, "netfilter takes CAP_NET_ADMIN");
	else if (is_of_function(k))
		snprintf(text, size, "%s is refused (%s)", hook_kind_names[k->kind],
			strerror(-state));
	else
		snprintf(text, size, "%s %s: %s", hook_kind_names[k->kind],
			k->kind == HOOK_NETFILTER ? k->event : k->target, strerror(-state));
}
