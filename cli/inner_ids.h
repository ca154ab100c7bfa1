/* SPDX-License-Identifier: MIT */
/*
 * Programs in a namespace of processes see other numbers of themselves than the kernel side does:
 * these are found by /proc, while the process is there.
 */
#ifndef MAGNET_CLI_INNER_IDS_H
#define MAGNET_CLI_INNER_IDS_H

#include <stdbool.h>
#include <stdint.h>

struct inner_ids;

/* `outer` is the number outside of the process that is `inner` inside. NULL without memory. */
struct inner_ids *inner_ids_new(uint32_t outer, uint32_t inner);
void inner_ids_free(struct inner_ids *ids);
/* The thread of a ring has ended: another may get its number. */
void inner_ids_forget(struct inner_ids *ids, uint32_t ring, uint32_t tid);
/*
 * Put the numbers outside in place of those inside, which have MG_NESTED where the process is in a
 * namespace below the first one's. `ring` is whose thread it is; 0 is the ring of several threads.
 * Returns false if they are not known.
 */
bool inner_ids_translate(struct inner_ids *ids, uint32_t ring, uint32_t *tid, uint32_t *pid);

#endif
