/* SPDX-License-Identifier: MIT */
#include "figures/drops.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "alloc.h"

/* Limit of drop kinds that are counted per socket; later kinds are counted without their socket. */
#define DROPS_MAX 100000

/* Returns the counter of a kind of drop; NULL if memory is short. */
static struct drop *drop_of(struct drop **drops, struct drop_key *key)
{
	struct drop *d = NULL;

	HASH_FIND(hh, *drops, key, sizeof(*key), d);
	if (!d && key->sock && HASH_COUNT(*drops) >= DROPS_MAX) {
		key->sock = 0;
		return drop_of(drops, key);
	}
	if (d)
		return d;
	d = mg_calloc(1, sizeof(*d));
	if (!d)
		return NULL;
	d->key = *key;
	HASH_ADD(hh, *drops, key, sizeof(d->key), d);
	return hash_kept(d);
}

static void on_drop(void *arg, const void *fact)
{
	const struct fact_drop *f = fact;
	struct drop_key key;
	struct drop *d;

	memset(&key, 0, sizeof(key)); /* padding is hashed, too */
	key.sock = f->flow.sock;
	key.rx = f->received;
	snprintf(key.reason, sizeof(key.reason), "%s", f->reason);
	snprintf(key.location, sizeof(key.location), "%s", f->location);
	d = drop_of(arg, &key);
	if (!d)
		return;
	d->layer = f->layer;
	d->n++;
	d->segs += f->segments;
	d->bytes += f->payload;
	d->discarded += f->discarded;
}

void drops_listen(struct drop **drops, struct core *c)
{
	facts_listen(core_facts(c), FACT_drop, on_drop, drops);
}

void drops_free(struct drop **drops)
{
	struct drop *d, *tmp;

	HASH_ITER (hh, *drops, d, tmp) {
		HASH_DEL(*drops, d);
		free(d);
	}
}
