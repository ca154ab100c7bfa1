/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "hooks/load_kept.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "log.h"
#include "hooks/capture.h"
#include "hooks/hook_choice.h"
#include "hooks/hook_load.h"
#include "hooks/hook_objects.h"
#include "hooks/hook_table.h"
#include "hooks/hook_targets.h"
#include "hooks/load_parts.h"

/* Returns whether all programs that the options take are among the images; leaves out others. */
static bool images_suffice(struct hooks *h, struct program_images *images)
{
	bool rows[HOOKS_MAX];
	uint32_t kept = 0;

	for (size_t i = 0; i < hook_count; i++) {
		rows[i] = hook_is_needed(h->state[i]);
		if (rows[i] && !program_images_find(images, hook_table[i].program))
			return false;
	}
	for (uint32_t i = 0; i < images->count; i++)
		if (hook_objects_wants(rows, images->one[i].facts.name, true))
			images->one[kept++] = images->one[i];
	images->count = kept;
	return true;
}

int load_kept_programs(
	struct hooks *h, const struct hook_options *o, const struct start_cache *cache)
{
	struct program_images *images = calloc(1, sizeof(*images));
	struct types_hash kept, now;
	struct load_part failed = {0};
	struct maps_thread *maps;
	int err = images ? start_cache_read(cache, images, &kept) : -ENOMEM;

	if (err) {
		free(images);
		return err;
	}
	*h->targets = images->targets;
	memcpy(h->refused, images->refused, sizeof(h->refused));
	h->old = h->targets->old;
	h->cast = h->targets->cast;
	err = hooks_configure(h, o);
	maps = err ? NULL : hook_maps_begin(h);
	if (!err && !maps)
		err = -ENOMEM;
	if (!err) { /* while another thread makes the maps */
		hooks_choose(h, o, h->targets);
		err = types_hash(&now);
	}
	if (!err && (memcmp(&kept, &now, sizeof(now)) != 0 || !images_suffice(h, images)))
		err = -ESTALE;
	if (maps && hook_maps_end(h, maps, &failed) && !err)
		err = failed.err;
	if (!err)
		err = program_images_load(images, h->object, load_parts_count());
	if (!err) {
		mg_debug("the programs are those that an earlier start kept");
		h->images = images;
		return 0;
	}
	mg_debug("the programs kept by an earlier start are not used: %s", strerror(-err));
	program_images_free(images);
	free(images);
	hook_objects_close(h);
	memset(h->refused, 0, sizeof(h->refused));
	return err;
}

void keep_programs(const struct hooks *h, const struct start_cache *cache)
{
	struct types_hash types;
	size_t size;
	uint8_t *images = cache->dir < 0 ? NULL : capture_images(h, &size);

	if (images && types_hash(&types) == 0)
		start_cache_write(cache, images, size, &types);
	free(images);
}
