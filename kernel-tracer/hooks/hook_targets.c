/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "hooks/hook_targets.h"

#include <bpf/btf.h>
#include <errno.h>
#include <search.h>
#include <stdlib.h>
#include <string.h>

#include "hooks/hook_table.h"

/* functions that tell the generation of a kernel: these are no hooks */
#define OF_5_12 "bpf_get_socket_ptr_cookie"
#define OF_6_2  "bpf_rdonly_cast"

bool hook_is_of_function(const struct hook *k)
{
	return k->kind == HOOK_FENTRY || k->kind == HOOK_FEXIT;
}

/* Returns whether the target of a row, which is not netfilter's, is a function. */
static bool names_function(const struct hook *k)
{
	return hook_is_of_function(k) || k->kind == HOOK_SOCKOPS;
}

/* Returns the arguments of a tracepoint, given the typedef that the kernel has for each. */
static int args_of_typedef(const struct btf *btf, const struct btf_type *t)
{
	t = btf__type_by_id(btf, t->type);
	t = btf__type_by_id(btf, t->type); /* the typedef names a pointer to the function's type */
	return btf_vlen(t) - 1;            /* the first argument is the tracepoint's own data */
}

static void found(struct hook_targets *targets, const struct btf *btf, unsigned int id,
	const struct btf_type *t, const char *name)
{
	bool function = btf_is_func(t);

	for (size_t row = 0; row < hook_count; row++) {
		const struct hook *k = &hook_table[row];

		if (k->kind == HOOK_NETFILTER || names_function(k) != function ||
			targets->id[row] || strcmp(k->target, name) != 0)
			continue;
		targets->id[row] = id;
		targets->args[row] = function ? btf_vlen(btf__type_by_id(btf, t->type))
					      : args_of_typedef(btf, t);
	}
}

int hook_targets_find(struct hook_targets *targets, const struct btf *btf)
{
	unsigned int types = btf__type_cnt(btf);
	struct hsearch_data names = {0};
	ENTRY one = {.key = (char *)OF_5_12}, *entry;

	memset(targets, 0, sizeof(*targets));
	for (size_t row = 0; row < hook_count; row++)
		targets->args[row] = -1;
	if (!hcreate_r(4 * HOOKS_MAX, &names))
		return -ENOMEM;
	hsearch_r(one, ENTER, &entry, &names);
	one.key = (char *)OF_6_2;
	hsearch_r(one, ENTER, &entry, &names);
	for (size_t row = 0; row < hook_count; row++) {
		one.key = (char *)hook_table[row].target;
		hsearch_r(one, ENTER, &entry, &names);
	}
	targets->old = true;
	/* all at once: libbpf takes most of a millisecond to find one */
	for (unsigned int id = 1; id < types; id++) {
		const struct btf_type *t = btf__type_by_id(btf, id);
		const char *name;

		if (!btf_is_typedef(t) && !btf_is_func(t))
			continue;
		name = btf__name_by_offset(btf, t->name_off);
		if (!name || (btf_is_typedef(t) &&
				     strncmp(name, TRACEPOINT_TYPE, strlen(TRACEPOINT_TYPE)) != 0))
			continue;
		one.key = (char *)name + (btf_is_typedef(t) ? strlen(TRACEPOINT_TYPE) : 0);
		if (!hsearch_r(one, FIND, &entry, &names))
			continue;
		targets->old &= strcmp(name, OF_5_12) != 0;
		targets->cast |= strcmp(name, OF_6_2) == 0;
		found(targets, btf, id, t, one.key);
	}
	hdestroy_r(&names);
	return 0;
}
