/* SPDX-License-Identifier: MIT */
/* Takes from libbpf what it makes of the programs, when it loads them. */
#ifndef MAGNET_KERNEL_TRACER_HOOKS_CAPTURE_H
#define MAGNET_KERNEL_TRACER_HOOKS_CAPTURE_H

#include "hooks/program_images.h"

struct btf;

/*
 * From now on, before objects are opened, programs are attached by `targets`, and what libbpf tells
 * the kernel of them is noted. `types` are the kernel's, which hold what iterators are attached to.
 * Both must remain. Without this libbpf searches all types for each program. Does nothing with a
 * libbpf before 1.0.
 */
void capture_begin(const struct hook_targets *targets, const struct btf *types);
/* Forgets what was noted so far: loading starts over. */
void capture_again(void);
/*
 * Writes the programs that `h` has loaded as images. Returns their bytes, to be freed, or NULL if
 * any of them cannot be loaded without libbpf: it refers to something other than the kernel itself.
 */
uint8_t *capture_images(const struct hooks *h, size_t *size);
/* `types` are no longer there. */
void capture_end(void);

#endif
