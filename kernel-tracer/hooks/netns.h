/* SPDX-License-Identifier: MIT */
/* Hooks of the IP layer, each of which belongs to one network namespace. */
#ifndef MAGNET_KERNEL_TRACER_HOOKS_NETNS_H
#define MAGNET_KERNEL_TRACER_HOOKS_NETNS_H

#include "hooks/hook_choice.h"
#include "hooks/hooks.h"

struct netns_hooks;
struct netns_hooks *netns_new(struct hooks *h, hook_report_fn report, void *arg);
/* Attaches in the namespaces known at the start. */
void netns_attach_initial(struct netns_hooks *n, const struct hook_options *o);
/* Attaches in the namespace `inum`, entered through process `pid` or any other process in it. */
void netns_attach(struct netns_hooks *n, uint32_t inum, pid_t pid);
/*
 * Calls `fn` in each namespace known so far that can be entered; with `only`, in those of these
 * numbers.
 */
void netns_visit(
	struct netns_hooks *n, const uint32_t *only, size_t count, void (*fn)(struct hooks *h));
/*
 * Detaches from namespaces that have no name and no process left. A link keeps its namespace and
 * the devices in it alive, which `ip netns del` or the end of the last process should remove.
 */
void netns_release(struct netns_hooks *n);
/* Returns whether hooks may yet be attached in other namespaces. */
bool netns_wanted(const struct netns_hooks *n);
/* Attaches anew in all namespaces, after the set of wanted hooks has changed. */
void netns_switch(struct netns_hooks *n);
void netns_free(struct netns_hooks *n);

#endif
