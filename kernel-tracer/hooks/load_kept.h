/* SPDX-License-Identifier: MIT */
/* Programs that an earlier start has kept for this one, and this one for the next. */
#ifndef MAGNET_KERNEL_TRACER_HOOKS_LOAD_KEPT_H
#define MAGNET_KERNEL_TRACER_HOOKS_LOAD_KEPT_H

#include "hooks/hook_choice.h"
#include "hooks/hooks.h"
#include "hooks/start_cache.h"

/* Loads what an earlier start has kept. Returns 0 or a negative errno; nothing is loaded then. */
int load_kept_programs(
	struct hooks *h, const struct hook_options *o, const struct start_cache *cache);
/* Keeps what libbpf has made of the programs for the next start. */
void keep_programs(const struct hooks *h, const struct start_cache *cache);

#endif
