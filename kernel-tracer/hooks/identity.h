/* SPDX-License-Identifier: MIT */
/* Identities of all live connections and tasks, read from the kernel. */
#ifndef MAGNET_KERNEL_TRACER_IDENTITY_H
#define MAGNET_KERNEL_TRACER_IDENTITY_H

#include "ctf.h"
#include "hooks/hooks.h"

struct identities {
	struct mg_identity *one;
	size_t count, room;
};

/* Reads the current identities into `out`, replacing its content. Returns 0 or a negative errno. */
int identities_read(struct identities *out, const struct hooks *h);
/* Likewise, but reads those that are recorded only at the end. */
int identities_read_last(struct identities *out, const struct hooks *h);
/* Writes them as events of the tracer's own stream, all with time `ts`. */
int identities_write(const struct identities *all, struct ctf_writer *w, uint64_t ts);
void identities_free(struct identities *all);

#endif
