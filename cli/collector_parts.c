/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "collector_parts.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "trace_parts.h"

#define STRETCHES 8 /* the number that the kernel side's flight recorder has */

bool app_parts_is_flight(const struct app_parts *p)
{
	return p->bounds.flight_bytes || p->bounds.flight_ns;
}

static bool in_parts(const struct app_parts *p)
{
	return app_parts_is_flight(p) || p->bounds.rotate_bytes || p->bounds.rotate_ns;
}

/*
 * Opens a directory. Returns its descriptor and in `path` its name in /proc; -1 and "" on failure.
 */
static int open_dir(const char *dir, char *path, size_t size)
{
	int fd = open(dir, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

	path[0] = 0;
	if (fd >= 0)
		snprintf(path, size, "/proc/self/fd/%d", fd);
	return fd;
}

static int add(struct app_parts *p, uint32_t number, uint64_t bytes, uint64_t now_ns, char *path,
	size_t size)
{
	struct app_part *more = realloc(p->part, (p->count + 1) * sizeof(*more));
	int fd;

	if (!more)
		return -ENOMEM;
	p->part = more;
	fd = trace_part_make(p->dir, number, path, size);
	if (fd < 0)
		return fd;
	p->fd = fd;
	more[p->count++] =
		(struct app_part){.number = number, .began_ns = now_ns, .began_bytes = bytes};
	return 0;
}

int app_parts_begin(struct app_parts *p, const struct collector_bounds *bounds, const char *dir,
	const char *kernel_dir, uint64_t now_ns, char *path, size_t size)
{
	*p = (struct app_parts){
		.bounds = *bounds, .dir_fd = -1, .kernel_fd = -1, .fd = -1, .last_fd = -1};
	snprintf(path, size, "%s", dir);
	if (!in_parts(p))
		return 0;
	if (mkdir(dir, 0700) != 0)
		return -errno;
	p->dir_fd = open_dir(dir, p->dir, sizeof(p->dir));
	if (p->dir_fd < 0)
		return -errno;
	if (app_parts_is_flight(p) && kernel_dir)
		p->kernel_fd = open_dir(kernel_dir, p->kernel, sizeof(p->kernel));
	return add(p, 1, 0, now_ns, path, size);
}

bool app_parts_are_due(const struct app_parts *p, uint64_t bytes, uint64_t now_ns)
{
	const struct collector_bounds *b = &p->bounds;
	const struct app_part *last = p->count ? &p->part[p->count - 1] : NULL;
	uint64_t most_bytes = b->flight_bytes ? b->flight_bytes / STRETCHES : b->rotate_bytes;
	uint64_t most_ns = b->flight_ns ? b->flight_ns / STRETCHES : b->rotate_ns;

	if (!last)
		return false;
	return (most_bytes && bytes - last->began_bytes >= most_bytes) ||
	       (most_ns && now_ns > last->began_ns && now_ns - last->began_ns >= most_ns);
}

int app_parts_next(struct app_parts *p, uint64_t bytes, uint64_t now_ns, char *path, size_t size)
{
	p->last_fd = p->fd;
	return add(p, app_parts_number(p) + 1, bytes, now_ns, path, size);
}

/* Returns whether the kernel side has a dump of this number. */
static bool has_dump(const struct app_parts *p, uint32_t number)
{
	char path[64];

	snprintf(path, sizeof(path), "%s/%04u", p->kernel, number);
	return access(path, F_OK) == 0;
}

/* Notes that the present parts belong to a dump that the kernel side has made. */
static void keep_for_dumps(struct app_parts *p)
{
	while (p->kernel[0] && has_dump(p, p->dumps + 1)) {
		p->dumps++;
		for (size_t i = 0; i < p->count; i++)
			p->part[i].dump = p->dumps;
	}
}

/*
 * Returns whether the flight recorder keeps a part: fewer bytes or less time came after it than it
 * must hold.
 */
static bool is_recent(const struct app_parts *p, size_t i, uint64_t bytes, uint64_t now_ns)
{
	const struct collector_bounds *b = &p->bounds;
	const struct app_part *next = &p->part[i + 1];

	return b->flight_bytes ? bytes - next->began_bytes < b->flight_bytes
			       : now_ns - next->began_ns <= b->flight_ns;
}

static bool is_kept(const struct app_parts *p, size_t i, uint64_t bytes, uint64_t now_ns)
{
	if (i + 1 == p->count)
		return true;
	if (app_parts_is_flight(p))
		return is_recent(p, i, bytes, now_ns) ||
		       (p->part[i].dump && has_dump(p, p->part[i].dump));
	return !p->bounds.keep || p->count - i <= p->bounds.keep;
}

void app_parts_forget_old(struct app_parts *p, uint64_t bytes, uint64_t now_ns)
{
	size_t kept = 0, count = p->count;

	if (p->last_fd >= 0)
		close(p->last_fd);
	p->last_fd = -1;
	keep_for_dumps(p);
	for (size_t i = 0; i < count; i++)
		if (!is_kept(p, i, bytes, now_ns)) {
			trace_part_delete(p->dir, p->part[i].number);
			p->part[i].number = 0;
		}
	for (size_t i = 0; i < count; i++)
		if (p->part[i].number)
			p->part[kept++] = p->part[i];
	p->count = kept;
}

uint32_t app_parts_number(const struct app_parts *p)
{
	return p->count ? p->part[p->count - 1].number : 0;
}

void app_parts_end(struct app_parts *p)
{
	const int fds[] = {p->dir_fd, p->kernel_fd, p->fd, p->last_fd};

	for (size_t i = 0; i < sizeof(fds) / sizeof(fds[0]); i++)
		if (fds[i] >= 0)
			close(fds[i]);
	free(p->part);
	p->part = NULL;
	p->count = 0;
}
