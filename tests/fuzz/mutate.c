/* SPDX-License-Identifier: MIT */
/* Mutations by whole events and fields; only with libFuzzer. */
#include <stdlib.h>
#include <string.h>

#include "event_table.h"
#include "record.h"
#include "target.h"

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max, unsigned int seed);

#define AT(i) (data + 1 + (i) * sizeof(struct record))

static const uint64_t absurd[] = {0, 1, 2, 4096, 65535, INT32_MAX, 1ull << 31, UINT32_MAX,
	1ull << 32, INT64_MAX, 1ull << 63, UINT64_MAX};

static size_t below(unsigned int *seed, size_t n)
{
	return n ? (size_t)rand_r(seed) % n : 0;
}

static const struct mg_field_desc *any_field(const struct record *r, unsigned int *seed)
{
	const struct mg_event_desc *d = mg_event_by_id(r->id);

	return d && d->field_count ? &d->fields[below(seed, d->field_count)] : NULL;
}

/* Changes one field: to an absurd value, a near one, or another event's. */
static void change_field(struct record *r, const struct record *from, unsigned int *seed)
{
	const struct mg_field_desc *f = any_field(r, seed), *other = any_field(from, seed);
	uint64_t v = 0;

	if (!f)
		return;
	if (f->size > sizeof(v)) {
		r->payload[f->offset + below(seed, f->size)] = (uint8_t)rand_r(seed);
		return;
	}
	memcpy(&v, r->payload + f->offset, f->size);
	switch (below(seed, 4)) {
	case 0:
		v = absurd[below(seed, sizeof(absurd) / sizeof(absurd[0]))];
		break;
	case 1:
		v += below(seed, 64) - 32;
		break;
	case 2:
		v += below(seed, 65536) - 32768;
		break;
	default:
		if (other && other->size <= f->size)
			memcpy(&v, from->payload + other->offset, other->size);
	}
	memcpy(r->payload + f->offset, &v, f->size);
}

static void change_head(struct record *r, const struct record *from, unsigned int *seed)
{
	const struct mg_event_desc *table;
	size_t count;

	switch (below(seed, 6)) {
	case 0:
		r->cpu = below(seed, 3) ? (int16_t)below(seed, 3) : (int16_t)rand_r(seed);
		break;
	case 1:
		r->delta = below(seed, 3) ? (int32_t)below(seed, 100000) : (int32_t)rand_r(seed);
		break;
	case 2:
		r->scale = (uint8_t)below(seed, below(seed, 4) ? 12 : 64);
		break;
	case 3:
		r->tid = from->tid;
		r->pid = from->pid;
		break;
	case 4:
		r->tid = (uint32_t)absurd[below(seed, sizeof(absurd) / sizeof(absurd[0]))];
		break;
	default:
		table = mg_event_table(&count);
		r->id = below(seed, 16) ? (uint8_t)table[below(seed, count)].id
					: (uint8_t)(126 + below(seed, 2));
	}
}

/* Removes a few events, repeats them elsewhere, or swaps two. */
static size_t move_events(uint8_t *data, size_t n, size_t room, unsigned int *seed)
{
	size_t some = 1 + below(seed, 4), i = below(seed, n), to = below(seed, n + 1);
	struct record copy[4];

	if (i + some > n)
		some = n - i;
	memcpy(copy, AT(i), some * sizeof(*copy));
	if (below(seed, 2) && n > some) {
		memmove(AT(i), AT(i + some), (n - i - some) * sizeof(*copy));
		n -= some;
		if (below(seed, 2)) /* no further mutation */
			return n;
		to = below(seed, n + 1);
	}
	if (n + some > room)
		return n;
	memmove(AT(to + some), AT(to), (n - to) * sizeof(*copy));
	memcpy(AT(to), copy, some * sizeof(*copy));
	return n + some;
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max, unsigned int seed)
{
	size_t n = size ? (size - 1) / sizeof(struct record) : 0, i, from;
	size_t room = max ? (max - 1) / sizeof(struct record) : 0;
	struct record r, other;

	if (!n || below(&seed, 16) == 0)
		return LLVMFuzzerMutate(data, size, max);
	for (size_t times = 1 + below(&seed, 3); times; times--) {
		i = below(&seed, n);
		from = below(&seed, n);
		memcpy(&r, AT(i), sizeof(r));
		memcpy(&other, AT(from), sizeof(other));
		switch (below(&seed, 5)) {
		case 0:
			n = move_events(data, n, room, &seed);
			continue;
		case 1:
			change_head(&r, &other, &seed);
			break;
		case 2:
			LLVMFuzzerMutate(r.payload, sizeof(r.payload), sizeof(r.payload));
			break;
		default:
			change_field(&r, &other, &seed);
		}
		memcpy(AT(i), &r, sizeof(r));
	}
	if (below(&seed, 32) == 0)
		data[0] = (uint8_t)below(&seed, 16);
	return 1 + n * sizeof(struct record);
}
