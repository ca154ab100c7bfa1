/* SPDX-License-Identifier: MIT */
/*
 * The BPF objects of a recording. There is one source of programs, compiled for three generations
 * of kernels. Functions return 0 or a negative errno.
 */
#ifndef MAGNET_KERNEL_TRACER_HOOKS_HOOK_OBJECTS_H
#define MAGNET_KERNEL_TRACER_HOOKS_HOOK_OBJECTS_H

#include <stdbool.h>

#include "hooks/hooks.h"

#define VMLINUX_BTF "/sys/kernel/btf/vmlinux"

/* Opens the object for this kernel with all programs; nothing is in the kernel yet. */
int hook_objects_open(const struct hooks *h, struct bpf_object **object);
/*
 * Lets the programs of these rows be loaded, and at the `first` time those of no row, the
 * iterators. One of them is needed only with the rows that it precedes.
 */
void hook_objects_select(struct bpf_object *object, const bool *rows, bool first);
/* Returns whether a program is among those that hook_objects_select() would choose. */
bool hook_objects_wants(const bool *rows, const char *program, bool first);
/* Begins to load an object with the maps in a thread; NULL: out of memory. */
struct maps_thread *hook_maps_begin(struct hooks *h);
/* Waits for it: it becomes h->object. Returns 0 or a negative errno, with `*failed`. */
int hook_maps_end(struct hooks *h, struct maps_thread *maps, struct load_part *failed);
/*
 * Opens copies of the first part, up to `parts`, while another thread loads an object with the
 * maps, which becomes h->object. `*failed` says why that failed.
 */
int hook_objects_open_parts(struct hooks *h, int parts, struct load_part *failed);
/* Closes the programs and maps, whose links are gone. */
void hook_objects_close(struct hooks *h);

#endif
