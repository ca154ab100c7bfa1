/* SPDX-License-Identifier: MIT */

#include "sums/series.h"

#include <stdlib.h>
#include <string.h>

#include "alloc.h"

#define UNIT_MAX (10 + 5 + 5) /* encoded size, bytes */

struct series *series_new(struct series_pool *pool, int count)
{
	size_t size = (size_t)count * sizeof(struct series);
	struct series *s = pool->limit ? mg_calloc(1, size) : NULL;

	if (!s)
		return NULL;
	pool->used += size;
	for (int i = 0; i < count; i++)
		s[i].pool = pool;
	return s;
}

static uint8_t *put(uint8_t *to, uint64_t v)
{
	for (; v >= 128; v >>= 7)
		*to++ = (uint8_t)(v | 128);
	*to++ = (uint8_t)v;
	return to;
}

static const uint8_t *get(const uint8_t *from, uint64_t *v)
{
	int shift = 0;

	for (*v = 0; *from & 128; shift += 7)
		*v |= (uint64_t)(*from++ & 127) << shift;
	*v |= (uint64_t)*from++ << shift;
	return from;
}

static bool has_room(struct series *s)
{
	size_t more = s->cap / 2 + 64;
	uint8_t *data;

	if (s->used + UNIT_MAX <= s->cap)
		return true;
	if (s->pool->used + more > s->pool->limit)
		return false;
	data = mg_realloc(s->data, s->cap + more);
	if (!data)
		return false;
	s->data = data;
	s->cap += more;
	s->pool->used += more;
	return true;
}

static void encode_last(struct series *s)
{
	const struct series_unit *u = &s->last;
	uint8_t *to = s->data + s->used;
	/* a packet may precede the last one by a little: the lowest bit is the sign */
	uint64_t forth = u->t - s->t, back = s->t - u->t;

	to = put(to, u->t >= s->t ? forth << 1 : (back << 1) - 1);
	to = put(to, u->size);
	to = put(to, (uint64_t)u->frame << 1 | u->again);
	s->used = (size_t)(to - s->data);
	s->t = u->t;
	s->n++;
}

static uint32_t limited(uint64_t bytes)
{
	return bytes > UINT32_MAX ? UINT32_MAX : (uint32_t)bytes;
}

void series_add(struct series *s, uint64_t t, uint64_t size, bool again)
{
	if (s->cut)
		return;
	if (s->has_last) {
		s->cut = !has_room(s);
		if (s->cut)
			return;
		encode_last(s);
	}
	s->last = (struct series_unit){.t = t, .size = limited(size), .again = again};
	s->has_last = true;
}

void series_add_bytes(struct series *s, uint64_t bytes)
{
	if (!s->cut)
		s->last.size = limited(s->last.size + bytes);
}

void series_set_frame(struct series *s, uint64_t bytes)
{
	if (!s->cut)
		s->last.frame = limited(bytes);
}

uint64_t series_count(const struct series *s)
{
	return s->n + s->has_last;
}

void series_read(const struct series *s, struct series_unit *out)
{
	const uint8_t *from = s->data;
	uint64_t t = 0;

	for (uint64_t i = 0; i < s->n; i++) {
		uint64_t step, size, frame;

		from = get(from, &step);
		from = get(from, &size);
		from = get(from, &frame);
		t += step & 1 ? -((step + 1) >> 1) : step >> 1;
		out[i] = (struct series_unit){
			t, (uint32_t)size, (uint32_t)(frame >> 1), (bool)(frame & 1)};
	}
	if (s->has_last)
		out[s->n] = s->last;
}

void series_free(struct series *s, int count)
{
	if (!s)
		return;
	for (int i = 0; i < count; i++) {
		s->pool->used -= s[i].cap;
		free(s[i].data);
	}
	s->pool->used -= (size_t)count * sizeof(*s);
	free(s);
}
