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
#include "log.h"
#include "process_limits.h"
#include "process_start.h"

#define DEFAULT_BYTES (4u << 20)
#define MOST_BYTES    (16u << 20)
#define FIRST_FD      16
#define ANSWERS       16 /* programs answered at the door between two readings of the rings */
#define DOOR_NS       250000000ull /* interval between checks that the door exists */

/* ---- pools that are ready ---- */

int app_rings_keep_number(int lowest)
{
	return fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, lowest);
}

/* Reserves MG_POOLS_READY descriptors in a row. Returns the first, -1 if there are not so many. */
static int find_numbers(void)
{
	int first = app_rings_keep_number(FIRST_FD), last = first;

	while (last >= 0 && last < first + MG_POOLS_READY - 1) {
		int fd = app_rings_keep_number(last + 1);

		if (fd == last + 1) {
			last = fd;
			continue;
		}
		while (last >= first) /* the next number is in use: begin behind it */
			close(last--);
		first = last = fd;
	}
	return last >= 0 ? first : -1;
}

/*
 * Makes the pool for a place. If that fails, programs that ask there are sent on; the place keeps
 * its descriptor number.
 */
static bool fill_place(struct app_rings *r, int place, char *why, size_t why_size)
{
	struct pool *p = app_pool_make(r, why, why_size);

	if (p && r->first >= 0 && !pool_file_place(&p->file, r->first + place)) {
		snprintf(why, why_size, "%s", strerror(errno));
		app_pool_free(r, p);
		p = NULL;
	}
	if (!p && r->first >= 0)
		dup3(STDIN_FILENO, r->first + place, O_CLOEXEC);
	r->ready[place] = p;
	return p != NULL;
}

/* Returns whether the pool is among those that are read. */
static bool add_taken(struct app_rings *r, struct pool *p)
{
	if (p->taken)
		return true;
	if (r->taken_n == r->taken_room) {
		uint32_t room = r->taken_room ? 2 * r->taken_room : 64;
		struct pool **more = realloc(r->taken, room * sizeof(struct pool *));

		if (!more)
			return false;
		r->taken = more;
		r->taken_room = room;
	}
	r->taken[r->taken_n++] = p;
	p->taken = true;
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
		/* the place is in use until there is a descriptor for the pool */
		if (p && (!add_taken(r, p) || !pool_file_put_aside(&p->file)))
			continue;
		fill_place(r, i, why, sizeof(why));
	}
}

void app_rings_remove(struct app_rings *r, uint32_t which)
{
	struct pool *p = r->taken[which];
	char why[128];
	int place = 0;

	while (place < MG_POOLS_READY && r->ready[place] != p)
		place++;
	if (place < MG_POOLS_READY && r->first >= 0)
		p->file.fd = -1; /* the place keeps the number */
	app_pool_free(r, p);
	r->taken[which] = r->taken[--r->taken_n];
	if (place < MG_POOLS_READY)
		fill_place(r, place, why, sizeof(why));
}

void app_rings_end(struct app_rings *r)
{
	for (int i = 0; i < MG_POOLS_READY; i++) {
		struct pool *p = r->ready[i];

		if (p && __atomic_load_n(&p->head->taken, __ATOMIC_ACQUIRE) && !add_taken(r, p))
			r->unserved++;
	}
}

/* ---- the door ---- */

static void tell_why(struct app_rings *r, int err)
{
	char hint[64];

	snprintf(r->why, sizeof(r->why), "%s%s",
		err == EPIPE ? "they did not wait for one" : strerror(err),
		mg_limit_hint(-err, hint, sizeof(hint)));
}

/* Returns a pool for a program that has asked for one; NULL if there is none. */
static struct pool *hand_out(struct app_rings *r, int connection, pid_t pid)
{
	struct pool *p = app_pool_make(r, r->why, sizeof(r->why));
	int fd = p ? pool_file_open_again(&p->file) : -1;
	bool given;

	if (p)
		p->head->taken = (uint32_t)pid
					 ? (uint32_t)pid
					 : 1; /* 0: a process of a namespace that we cannot see */
	given = fd >= 0 && pool_door_give(connection, fd) && add_taken(r, p);
	if (p && !given)
		tell_why(r, errno);
	if (given)
		p->outer = (uint32_t)pid;
	if (fd >= 0)
		close(fd);
	if (p && !given)
		app_pool_free(r, p);
	return given ? p : NULL;
}

/*
 * Turns a program away for which there is no descriptor. Returns whether one was there.
 */
static bool refuse(struct app_rings *r)
{
	int connection, err = errno;
	pid_t unused;

	if ((err != EMFILE && err != ENFILE) || r->spare < 0)
		return false;
	close(r->spare);
	connection = pool_door_answer(&r->door, &unused);
	if (connection >= 0) {
		r->unserved++;
		tell_why(r, err);
		close(connection);
	}
	r->spare = app_rings_keep_number(0);
	return connection >= 0;
}

/*
 * Answers so few at once that a program that asks over and over does not keep the collector from
 * reading.
 */
void app_rings_answer(struct app_rings *r)
{
	pid_t pid = 0;

	for (int i = 0; i < ANSWERS; i++) {
		int connection = pool_door_answer(&r->door, &pid);

		if (connection < 0 && !refuse(r))
			return;
		if (connection < 0)
			continue;
		if (!hand_out(r, connection, pid))
			r->unserved++;
		close(connection);
	}
}

int app_rings_door(const struct app_rings *r)
{
	return r->door.listener;
}

/*
 * Makes the door again if it was removed, as the end of a login session does with files of its user
 * in /dev/shm.
 */
void app_rings_see_to_door(struct app_rings *r, uint64_t now_ns)
{
	int err;

	if (!r->door.path[0] || now_ns < r->door_at)
		return;
	r->door_at = now_ns + DOOR_NS;
	if (pool_door_is_there(&r->door))
		return;
	err = pool_door_mend(&r->door);
	if (err == 0)
		return;
	r->door.path[0] = 0; /* given up, and reported once */
	r->unserved++;
	snprintf(r->why, sizeof(r->why), "their socket was removed: %s", strerror(-err));
}

/* ---- all ---- */

/*
 * Returns whether the kernel may refuse memory for a page at its first use, as it does with
 * vm.overcommit_memory = 2.
 */
static bool memory_is_scarce(void)
{
	int fd = open("/proc/sys/vm/overcommit_memory", O_RDONLY | O_CLOEXEC);
	char mode = 0;
	bool strict = fd >= 0 && read(fd, &mode, 1) == 1 && mode == '2';

	if (fd >= 0)
		close(fd);
	return strict;
}

int app_rings_create(struct app_rings **out, uint64_t ring_bytes, char *why, size_t why_size)
{
	struct app_rings *r = calloc(1, sizeof(*r));
	int filters = mg_filters(), err;
	char hint[64];

	if (!r)
		return -ENOMEM;
	ring_bytes = !ring_bytes               ? DEFAULT_BYTES
		     : ring_bytes > MOST_BYTES ? MOST_BYTES
					       : ring_bytes;
	while ((sizeof(struct mg_app_record) << (r->shift + 1)) <= ring_bytes)
		r->shift++;
	if (getrandom(&r->id, sizeof(r->id), 0) != sizeof(r->id))
		r->id = mg_monotonic_ns();
	r->memory_is_scarce = memory_is_scarce();
	r->spare = app_rings_keep_number(0);
	err = pool_door_make(&r->door);
	if (err)
		r->door.path[0] = 0;
	r->first = find_numbers();
	for (int i = 0; i < MG_POOLS_READY; i++)
		if (!fill_place(r, i, why, why_size)) {
			app_rings_free(r);
			return -ENOMEM;
		}
	if (err)
		mg_warn("programs of other users, and in namespaces of their own, are not recorded "
			"by the application side: no socket for them in /dev/shm or /tmp: %s",
			strerror(-err));
	if (r->first < 0)
		mg_warn("calls of programs under a seccomp filter are not recorded: not enough "
			"file "
			"descriptors%s",
			mg_limit_hint(-EMFILE, hint, sizeof(hint)));
	snprintf(r->env, sizeof(r->env), "%016llx:%d:%d:%d:%llu:%s", (unsigned long long)r->id,
		(int)getpid(), r->first < 0 ? 0 : r->first, filters < 0 ? 0 : filters,
		(unsigned long long)mg_process_start("/proc/self/stat"), r->door.path);
	r->began = mg_cycles();
	*out = r;
	return 0;
}

const char *app_rings_why_unserved(const struct app_rings *r)
{
	return r->why;
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
		if (r->ready[i] && !r->ready[i]->taken)
			app_pool_free(r, r->ready[i]);
	while (r->taken_n)
		app_pool_free(r, r->taken[--r->taken_n]);
	for (int i = 0; i < MG_POOLS_READY && r->first >= 0; i++)
		close(r->first + i);
	if (r->spare >= 0)
		close(r->spare);
	if (r->door.path[0])
		pool_door_remove(&r->door);
	free(r->taken);
	free(r->order);
	free(r);
}
