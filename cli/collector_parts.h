/* SPDX-License-Identifier: MIT */
/*
 * The parts of the application side, where the recording is bounded: which directory is written to,
 * when the next one is due, and which are kept. With a flight recorder the parts are stretches of
 * what it keeps, an eighth of it each, and those that a dump of the kernel side needs are kept with
 * it.
 */
#ifndef MAGNET_CLI_COLLECTOR_PARTS_H
#define MAGNET_CLI_COLLECTOR_PARTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Bounds in bytes or ns; 0 = not given */
struct collector_bounds {
	uint64_t max_bytes;
	uint64_t rotate_bytes, rotate_ns;
	uint64_t flight_bytes, flight_ns;
	uint32_t keep;
};

struct app_part {
	uint32_t number,
		dump; /* dump: number of the kernel side's dump that it belongs to; 0 = none */
	uint64_t began_ns, began_bytes;
};

struct app_parts {
	struct collector_bounds bounds;
	char dir[32], kernel[32]; /* both sides by their descriptors, in /proc; "": there is none */
	int dir_fd, kernel_fd, fd; /* `fd`: the part that is written */
	int last_fd;               /* the part before, while more may be written to it */
	struct app_part *part;     /* the present parts; the last one is written */
	size_t count;
	uint32_t dumps; /* dumps of the kernel side that were seen */
};

/*
 * Makes `dir`, and the first part if there are to be parts; `path` gets where to write. Returns 0
 * or a negative errno.
 */
int app_parts_begin(struct app_parts *p, const struct collector_bounds *bounds, const char *dir,
	const char *kernel_dir, uint64_t now_ns, char *path, size_t size);
/* Returns whether another part is due, with `bytes` written in all. */
bool app_parts_are_due(const struct app_parts *p, uint64_t bytes, uint64_t now_ns);
/* Makes the next part, which begins with what comes after `now_ns`. Returns 0 or a negative errno.
 */
int app_parts_next(struct app_parts *p, uint64_t bytes, uint64_t now_ns, char *path, size_t size);
/* Call when nothing is written to the part before any more: deletes what is not to be kept. */
void app_parts_forget_old(struct app_parts *p, uint64_t bytes, uint64_t now_ns);
/* The number of the part that is written, 0 if there are no parts. */
uint32_t app_parts_number(const struct app_parts *p);
/* Returns whether parts between those that are kept may be missing. */
bool app_parts_is_flight(const struct app_parts *p);
void app_parts_end(struct app_parts *p);

#endif
