/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "record.h"

#include <stdlib.h>
#include <string.h>

#include "event_table.h"

_Static_assert(sizeof(struct record) == 16 + RECORD_PAYLOAD, "no padding: it is the file's layout");

static const char *const others[] = {"net:net_dev_queue", "skb:kfree_skb", "", "tcp:\xff\xfe"};

bool record_to_event(const struct record *r, uint64_t *time_ns, struct mg_event *e)
{
	const struct mg_event_desc *d = mg_event_by_id(r->id);

	memset(e, 0, sizeof(*e));
	*time_ns += (uint64_t)(int64_t)r->delta << (r->scale & 63);
	e->time_ns = *time_ns;
	e->id = r->id;
	e->cpu = r->cpu;
	e->tid = r->tid;
	e->pid = r->pid;
	if (r->id == MG_EVENT_other) {
		e->other.name = others[r->payload[0] % 4];
		e->other.text = r->payload[1] ? strndup((const char *)r->payload + 1, 40) : NULL;
		return true;
	}
	if (!d || d->size > RECORD_PAYLOAD)
		return false;
	memcpy(&e->sys_enter, r->payload, d->size);
	return true;
}

void record_from_event(struct record *r, const struct mg_event *e, uint64_t before_ns)
{
	const struct mg_event_desc *d = mg_event_by_id(e->id);
	int64_t delta = (int64_t)(e->time_ns - before_ns);

	memset(r, 0, sizeof(*r));
	r->id = (uint8_t)e->id;
	while (delta > INT32_MAX || delta < INT32_MIN) { /* the first event's delta is since 0 */
		delta >>= 1;
		r->scale++;
	}
	r->delta = (int32_t)delta;
	r->cpu = e->cpu;
	r->tid = e->tid;
	r->pid = e->pid;
	if (d && d->size <= RECORD_PAYLOAD)
		memcpy(r->payload, &e->sys_enter, d->size);
}
