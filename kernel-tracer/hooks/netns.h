/* SPDX-License-Identifier: MIT */
/* The IP layer's hooks, which belong to one network namespace each. */
#ifndef MAGNET_KERNEL_TRACER_HOOKS_NETNS_H
#define MAGNET_KERNEL_TRACER_HOOKS_NETNS_H

#include "hooks/hook_choice.h"
#include "hooks/hooks.h"

struct netns_hooks;
struct netns_hooks *netns_new(struct hooks *h, hook_report_fn report, void *arg);
/* Attach in the namespaces known at the start. */
void netns_attach_initial(struct netns_hooks *n, const struct hook_options *o);
/* Attach in the namespace `inum`, found through process `pid` or any other in it. */
void netns_attach(struct netns_hooks *n, uint32_t inum, pid_t pid);
/*
 * A link keeps its namespace and the devices in it, which `ip netns del` or the end of its last
 * process should take away: let go where no name and no process is left.
 */
void netns_release(struct netns_hooks *n);
/* Whether hooks may yet be attached in other namespaces. */
bool netns_wanted(const struct netns_hooks *n);
/* The hooks to be attached have changed. */
void netns_switch(struct netns_hooks *n);
void netns_free(struct netns_hooks *n);

#endif
