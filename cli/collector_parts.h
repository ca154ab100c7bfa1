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

/* Amounts are bytes or ns; 0 = not asked for. */
struct collector_bounds {
	uint64_t max_bytes;
	uint64_t rotate_bytes, rotate_ns;
	uint64_t flight_bytes, flight_ns;
	uint32_t keep;
};

struct app_part {
	uint32_t number, dump; /* dump: the kernel side's, that it is kept for; 0 = none */
	uint64_t began_ns, began_bytes;
};

struct app_parts {
	struct collector_bounds bounds;
	char dir[32], kernel[32];  /* of the two sides, by descriptors; "" = there is none */
	int dir_fd, kernel_fd, fd; /* and of the part that is written, */
	int last_fd;               /* and of the one before, while there may be more for it */
	struct app_part *part;     /* those that are there; the last one is written */
	size_t count;
	uint32_t dumps; /* of the kernel side, as far as they were met */
};

/*
 * Makes `dir`, and the first part if there are to be parts; `path` gets where to write. Returns 0
 * or a negative errno.
 */
int app_parts_begin(struct app_parts *p, const struct collector_bounds *bounds, const char *dir,
	const char *kernel_dir, uint64_t now_ns, char *path, size_t size);
/* Whether another part is due, when `bytes` are written in all. */
bool app_parts_are_due(const struct app_parts *p, uint64_t bytes, uint64_t now_ns);
/* Makes the next part, which begins with what comes after `now_ns`. Returns 0 or a negative errno.
 */
int app_parts_next(struct app_parts *p, uint64_t bytes, uint64_t now_ns, char *path, size_t size);
/* Call when nothing is written to the part before any more: deletes what is not to be kept. */
void app_parts_forget_old(struct app_parts *p, uint64_t bytes, uint64_t now_ns);
/* The number of the part that is written, 0 if there are no parts. */
uint32_t app_parts_number(const struct app_parts *p);
/* Whether parts that are kept may have others between them that are not. */
bool app_parts_is_flight(const struct app_parts *p);
void app_parts_end(struct app_parts *p);

#endif
