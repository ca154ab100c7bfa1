/* SPDX-License-Identifier: MIT */
#include "render/alike.h"

#include <stdio.h>
#include <string.h>

#include "hash.h"
#include "report.h"

struct alike {
	struct alike_key key;
	uint32_t number;
	UT_hash_handle hh;
};

static uint16_t server_port(const struct fact_flow *f)
{
	return f->side == SIDE_CLIENT   ? flow_remote_port(f)
	       : f->side == SIDE_SERVER ? f->local.port
					: 0;
}

struct alike_key alike_key_of(const struct fact_flow *f)
{
	struct alike_key k;

	memset(&k, 0, sizeof(k));
	snprintf(k.comm, sizeof(k.comm), "%s", flow_comm(f));
	k.port = server_port(f);
	k.rx = f->flow.rx;
	k.kind = f->kind;
	k.side = f->side;
	return k;
}

uint32_t alike_number(struct alikes *a, const struct fact_flow *f)
{
	struct alike_key key = alike_key_of(f);
	struct alike *k = NULL;

	HASH_FIND(hh, a->all, &key, sizeof(key), k);
	if (k)
		return k->number;
	k = mg_calloc(1, sizeof(*k));
	if (!k)
		return a->n;
	k->key = key;
	k->number = a->n;
	HASH_ADD(hh, a->all, key, sizeof(k->key), k);
	return hash_kept(k) ? a->n++ : a->n;
}

void alikes_free(struct alikes *a)
{
	struct alike *k, *tmp;

	HASH_ITER (hh, a->all, k, tmp) {
		HASH_DELETE(hh, a->all, k);
		free(k);
	}
}
