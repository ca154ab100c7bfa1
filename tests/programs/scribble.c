/* SPDX-License-Identifier: MIT */
/*
 * A recorded program gone mad: writes over the rings it shares with the recorder and with the other
 * programs, at random, and what a liar would write. It makes calls of its own all the while.
 *
 *   scribble SECONDS
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "app_ring.h"

/* rings whose records are overwritten: all of them would take all memory */
#define HARMED      8
#define LEAST(a, b) ((a) < (b) ? (a) : (b))

static uint64_t state = 88172645463325252ull;

static uint64_t any(void)
{
	state ^= state << 13;
	state ^= state >> 7;
	return state ^= state << 17;
}

static struct mg_pool *find(void)
{
	FILE *f = fopen("/proc/self/maps", "r");
	unsigned long from = 0;
	char line[512];

	while (f && fgets(line, sizeof(line), f))
		if (strstr(line, "magnet-rings-") && sscanf(line, "%lx-", &from) == 1)
			break;
	if (f)
		fclose(f);
	return (struct mg_pool *)from; /* NOLINT */
}

/* Writes a complete record with impossible content. */
static void lie(struct mg_app_ring *ring, struct mg_app_record *records, uint32_t shift)
{
	static const uint64_t times[] = {0, 1, INT64_MAX, UINT64_MAX, UINT64_MAX - 1, 1ull << 40};
	uint64_t at = ring->tail, mask = (1ull << shift) - 1;

	for (uint64_t n = any() % 50; n > 0; n--, at++) {
		struct mg_app_record *r = &records[at & mask];
		struct mg_ring_call *c = (void *)r->payload;

		c->enter = times[any() % 6];
		c->exit = any() % 4 ? times[any() % 6] : any();
		c->tid = (uint32_t)any();
		c->logged = (uint32_t)any();
		r->lost = any() % 8 ? r->lost : (uint32_t)any();
		r->id = any() % 4 ? MG_APP_BASE + any() % MG_FN_END : (uint8_t)any();
		r->kind = (uint8_t)any();
		r->lap = (uint16_t)((at >> shift) + 1);
	}
	ring->head = at;
}

int main(int argc, char **argv)
{
	int seconds = argc > 1 ? atoi(argv[1]) : 0, fds[2];
	struct mg_pool *pool;
	struct mg_app_ring *rings;
	struct mg_app_record *records;
	uint64_t *heads, *data;
	uint32_t shift, count, harmed;
	time_t end;

	if (socketpair(AF_UNIX, SOCK_DGRAM, 0, fds) != 0)
		return 1;
	pool = find();
	if (!pool) {
		fprintf(stderr, "scribble: there are no rings\n");
		return 1;
	}
	/* used while they are still right */
	rings = (void *)((char *)pool + pool->rings_at);
	records = (void *)((char *)pool + pool->records_at);
	shift = pool->record_shift;
	count = pool->rings;
	harmed = LEAST(count, HARMED);
	heads = (void *)rings;
	data = (void *)records;
	for (end = time(NULL) + seconds; time(NULL) < end;) {
		for (int i = 0; i < 200; i++) {
			uint32_t which = (uint32_t)(any() % harmed);

			/*
			 * overwrites all of the file's head, and rings in use more often than
			 * others
			 */
			((uint64_t *)pool)[any() % (sizeof(*pool) / 8)] = any();
			heads[any() % (count * sizeof(*rings) / 8)] = any();
			heads[any() % (harmed * sizeof(*rings) / 8)] = any();
			data[any() % (harmed * (sizeof(*records) << shift) / 8)] = any();
			pool->state[any() % count] = (uint32_t)(any() % 4);
			rings[which].alive.__data.__lock = (int)any();
			if (any() % 4 == 0)
				lie(&rings[which], records + ((uint64_t)which << shift), shift);
		}
		if (any() % 64 == 0)
			memset(pool, (int)any(), sizeof(*pool));
		if (send(fds[0], "x", 1, MSG_DONTWAIT) < 0 &&
			recv(fds[1], fds, 0, MSG_DONTWAIT) < 0)
			return 1;
		usleep(any() % 2 * 1000);
	}
	return 0;
}
