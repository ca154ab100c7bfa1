/* SPDX-License-Identifier: MIT */
/* The table of BPF programs, for hooks.c and netns.c. */
#ifndef MAGNET_KERNEL_TRACER_HOOKS_H
#define MAGNET_KERNEL_TRACER_HOOKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "event_table.h"

/* of <linux/bpf.h> since 6.4, which may be newer than the build machine's */
#define MG_BPF_PROG_TYPE_NETFILTER 32
#define MG_BPF_NETFILTER           45

enum hook_kind { HOOK_TP, HOOK_FENTRY, HOOK_FEXIT, HOOK_NETFILTER, HOOK_KINDS };
extern const char *const hook_kind_names[HOOK_KINDS];

struct hook {
	enum mg_layer layer;
	enum hook_kind kind;
	const char *program; /* in the BPF object */
	const char *event;   /* it feeds */
	const char *target;  /* tracepoint or function */
	int number;          /* arguments that must have; netfilter: which hook */
	int priority;        /* netfilter */
};

/* outcomes beside 0 and negative errnos */
#define HOOK_NOT_NEEDED 1 /* another row feeds the event */
#define HOOK_OFF        2 /* its layer is not chosen: loaded, so that it can be */
#define HOOK_TO_MEASURE 3 /* nor this one, but calibration needs it */

extern const struct hook hook_table[];
extern const size_t hook_count;

/* The program that meets sockets other than TCP's where the layer syscall, which does, is off. */
static inline bool hook_meets_sockets(const struct hook *k)
{
	return strcmp(k->event, "sock_new") == 0;
}

/* Programs that decide what is traced are attached whatever the layers. */
static inline bool hook_is_selection(const struct hook *k)
{
	return strncmp(k->event, "task_", 5) == 0 || strcmp(k->event, "sock_state") == 0 ||
	       strcmp(k->event, "sock_open") == 0 || strcmp(k->event, "sock_close") == 0 ||
	       hook_meets_sockets(k);
}

/* Whether a row is to be attached where these layers are chosen. */
bool hook_is_wanted(const struct hook *k, uint32_t layers);

struct hooks;
struct tracer_options;
/*
 * Decide for every row whether its program is to be loaded; h->state says why not. What h->refused
 * has was tried, and is left out.
 */
void hooks_choose(struct hooks *h, const struct tracer_options *o);
/* Whether two rows' events are one, or the one a part of the other. */
bool hook_same_event(size_t a, size_t b);
/* What a row is attached to, as "fentry ip_output". */
void hook_by(const struct hook *k, char *text, size_t size);
/* Why a row with a negative state is not in use. */
void hook_reason(const struct hook *k, int state, char *text, size_t size);
/* Whether a row's program was loaded, by its state. */
bool hook_is_loaded(int state);
/* Whether a row is to be attached in each network namespace: netfilter's. */
bool hook_in_namespaces(const struct hooks *h, size_t row);
/* Or could be, but its layer is not chosen. */
bool hook_is_off_in_namespaces(const struct hooks *h, size_t row);

#endif
