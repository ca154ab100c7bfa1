/* SPDX-License-Identifier: MIT */
/* The announcements of every connection and task that is alive, asked of the kernel. */
#ifndef MAGNET_KERNEL_TRACER_IDENTITY_H
#define MAGNET_KERNEL_TRACER_IDENTITY_H

#include "ctf.h"
#include "hooks/hooks.h"

struct identities {
	struct mg_identity *one;
	size_t count, room;
};

/* As of now; 0 or a negative errno. What was in `out` before is replaced. */
int identities_read(struct identities *out, const struct hooks *h);
/* Likewise, what is told at the end of the recording only. */
int identities_read_last(struct identities *out, const struct hooks *h);
/* Written as events of the tracer's own stream, all at this time. */
int identities_write(const struct identities *all, struct ctf_writer *w, uint64_t ts);
void identities_free(struct identities *all);

#endif
