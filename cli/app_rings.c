/* SPDX-License-Identifier: MIT */
/* The pools of a recording: those that are ready for programs, and those that programs have. */
#define _GNU_SOURCE
#include "app_rings_own.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "clock.h"
#include "cycles.h"
#include "filters.h"

#define DEFAULT_BYTES (4u << 20)
#define MOST_BYTES    (16u << 20)
#define FIRST_FD      16
#define DOOR_NS       250000000ull /* how often it is seen whether the door is there */

/* ---- pools that are ready ---- */

/* Returns the first of MG_POOLS_READY descriptors on end, which are taken by copies; -1 without. */
static int find_numbers(int fd)
{
	int first = fcntl(fd, F_DUPFD_CLOEXEC, FIRST_FD), n = 1;

	while (first >= 0 && n < MG_POOLS_READY &&
		fcntl(fd, F_DUPFD_CLOEXEC, first + n) == first + n)
		n++;
	return first >= 0 && n == MG_POOLS_READY ? first : -1;
}

/* Make the pool that stands at a place. Without one, what asks there is sent on. */
static bool fill_place(struct app_rings *r, int place, char *why, size_t why_size)
{
	struct pool *p = app_pool_make(r, why, why_size);

	if (p && r->first >= 0 && !pool_file_place(&p->file, r->first + place)) {
		snprintf(why, why_size, "%s", strerror(errno));
		app_pool_free(r, p);
		p = NULL;
	}
	if (!p && r->first >= 0)
		close(r->first + place);
	r->ready[place] = p;
	return p != NULL;
}

/* Returns whether the pool is among those that are read. */
static bool add_taken(struct app_rings *r, struct pool *p)
{
	if (r->taken_n == r->taken_room) {
		uint32_t room = r->taken_room ? 2 * r->taken_room : 64;
		struct pool **more = realloc(r->taken, room * sizeof(struct pool *));

		if (!more)
			return false;
		r->taken = more;
		r->taken_room = room;
	}
	r->taken[r->taken_n++] = p;
	p->outer = __atomic_load_n(&p->head->taken, __ATOMIC_RELAXED);
	return true;
}

void app_rings_replace_taken(struct app_rings *r)
{
	char why[128];

	for (int i = 0; i < MG_POOLS_READY; i++) {
		struct pool *p = r->ready[i];

		if (p && !__atomic_load_n(&p->head->taken, __ATOMIC_ACQUIRE))
			continue;
		/* while there is no descriptor for it, its place is not free */
		if (p && (!pool_file_put_aside(&p->file, FIRST_FD + MG_POOLS_READY) ||
				 !add_taken(r, p)))
			continue;
		fill_place(r, i, why, sizeof(why));
	}
}

void app_rings_remove(struct app_rings *r, uint32_t which)
{
	app_pool_free(r, r->taken[which]);
	r->taken[which] = r->taken[--r->taken_n];
}

/* ---- the door ---- */

/* Returns a pool for a program that has asked for one; NULL if there is none. */
static struct pool *hand_out(struct app_rings *r, int connection, pid_t pid)
{
	char why[128];
	struct pool *p = app_pool_make(r, why, sizeof(why));
	int fd = p ? pool_file_open_again(&p->file) : -1;
	bool given;

	if (p)
		p->head->taken =
			(uint32_t)pid ? (uint32_t)pid : 1; /* may be of a namespace unseen */
	given = fd >= 0 && pool_door_give(connection, fd) && add_taken(r, p);
	if (fd >= 0)
		close(fd);
	if (p && !given)
		app_pool_free(r, p);
	return given ? p : NULL;
}

void app_rings_answer(struct app_rings *r)
{
	int connection;
	pid_t pid = 0;

	while ((connection = pool_door_answer(&r->door, &pid)) >= 0) {
		if (!hand_out(r, connection, pid))
			r->unserved++;
		close(connection);
	}
}

int app_rings_door(const struct app_rings *r)
{
	return r->door.listener;
}

/* A session's end removes what its user has in /dev/shm: later programs are to find it all the
 * same. */
void app_rings_see_to_door(struct app_rings *r, uint64_t now_ns)
{
	if (!r->door.path[0] || now_ns < r->door_at)
		return;
	r->door_at = now_ns + DOOR_NS;
	if (pool_door_is_there(&r->door) || pool_door_mend(&r->door) == 0)
		return;
	r->door.path[0] = 0; /* which is told once */
	r->unserved++;
}

/* ---- all ---- */

int app_rings_create(struct app_rings **out, uint64_t ring_bytes, char *why, size_t why_size)
{
	struct app_rings *r = calloc(1, sizeof(*r));
	int filters = mg_filters();

	if (!r)
		return -ENOMEM;
	ring_bytes = !ring_bytes               ? DEFAULT_BYTES
		     : ring_bytes > MOST_BYTES ? MOST_BYTES
					       : ring_bytes;
	while ((sizeof(struct mg_app_record) << (r->shift + 1)) <= ring_bytes)
		r->shift++;
	if (getrandom(&r->id, sizeof(r->id), 0) != sizeof(r->id))
		r->id = mg_monotonic_ns();
	if (pool_door_make(&r->door) != 0)
		r->door.path[0] = 0;
	r->first = find_numbers(STDIN_FILENO);
	for (int i = 0; i < MG_POOLS_READY; i++)
		if (!fill_place(r, i, why, why_size)) {
			app_rings_free(r);
			return -ENOMEM;
		}
	snprintf(r->env, sizeof(r->env), "%016llx:%d:%d:%d:%s", (unsigned long long)r->id,
		(int)getpid(), r->first < 0 ? 0 : r->first, filters < 0 ? 0 : filters,
		r->door.path);
	r->began = mg_cycles();
	*out = r;
	return 0;
}

uint64_t app_rings_not_outer(const struct app_rings *r)
{
	return r->not_outer;
}

const char *app_rings_env(const struct app_rings *r)
{
	return r->env;
}

void app_rings_want(struct app_rings *r, bool wanted)
{
	r->wanted = wanted;
	for (int i = 0; i < MG_POOLS_READY; i++)
		if (r->ready[i])
			app_pool_want(r->ready[i], wanted);
	for (uint32_t i = 0; i < r->taken_n; i++)
		app_pool_want(r->taken[i], wanted);
}

void app_rings_free(struct app_rings *r)
{
	for (int i = 0; i < MG_POOLS_READY; i++)
		if (r->ready[i])
			app_pool_free(r, r->ready[i]);
	while (r->taken_n)
		app_rings_remove(r, r->taken_n - 1);
	if (r->door.path[0])
		pool_door_remove(&r->door);
	free(r->taken);
	free(r->order);
	free(r);
}
