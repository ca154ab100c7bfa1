/* SPDX-License-Identifier: MIT */
/* The table of hooks: one row per BPF program. */
#ifndef MAGNET_KERNEL_TRACER_HOOKS_HOOK_TABLE_H
#define MAGNET_KERNEL_TRACER_HOOKS_HOOK_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "event_table.h"

/* values that <linux/bpf.h> has since 6.4, as the build machine's may be older */
#define MG_BPF_PROG_TYPE_NETFILTER 32
#define MG_BPF_NETFILTER           45

enum hook_kind { HOOK_TP, HOOK_FENTRY, HOOK_FEXIT, HOOK_NETFILTER, HOOK_SOCKOPS, HOOK_KINDS };
extern const char *const hook_kind_names[HOOK_KINDS];

struct hook {
	enum mg_layer layer;
	enum hook_kind kind;
	const char *program; /* name in the BPF object */
	const char *event;   /* event that the program feeds */
	const char *target; /* tracepoint or function; sockops: a function that its program calls */
	int number;         /* least number of arguments; netfilter: number of the hook */
	int priority;       /* netfilter only */
};

/* states beside 0 and negative errnos */
#define HOOK_NOT_NEEDED 1 /* another row feeds the event */
#define HOOK_OFF        2 /* its layer is not chosen; it can be chosen later */
#define HOOK_TO_MEASURE 3 /* the same, but calibration needs it now */

extern const struct hook hook_table[];
extern const size_t hook_count;

/*
 * Returns whether the program meets sockets other than TCP's where the layer syscall, which
 * otherwise does, is off.
 */
static inline bool hook_meets_sockets(const struct hook *k)
{
	return strcmp(k->event, "sock_new") == 0;
}

/* Returns whether the program sees sockets of all kinds but records nothing of TCP's. */
static inline bool hook_is_of_others(const struct hook *k)
{
	return hook_meets_sockets(k) || strncmp(k->event, "sock_sent", 9) == 0 ||
	       strncmp(k->event, "sock_received", 13) == 0;
}

/*
 * Returns whether the program decides what is traced; such programs are attached whatever the
 * layers.
 */
static inline bool hook_is_selection(const struct hook *k)
{
	return strncmp(k->event, "task_", 5) == 0 || strcmp(k->event, "sock_state") == 0 ||
	       strcmp(k->event, "sock_open") == 0 || strcmp(k->event, "sock_close") == 0 ||
	       hook_meets_sockets(k);
}

#endif
