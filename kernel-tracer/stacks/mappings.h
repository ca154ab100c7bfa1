/* SPDX-License-Identifier: MIT */
/*
 * The files that processes have mapped as programs and libraries, over time, so that an address can
 * be named after its process has ended. The kernel reports each new mapping, and each fork and
 * exec, through perf events; mappings from before are read from /proc when they are first needed.
 * Those of a process that has ended are forgotten unless a stack leads through it.
 */
#ifndef MAGNET_KERNEL_TRACER_STACKS_MAPPINGS_H
#define MAGNET_KERNEL_TRACER_STACKS_MAPPINGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define BUILD_ID_SIZE 20

/* A file as it was mapped. The same file has one such struct. */
struct mapped_file {
	const char *path;
	uint8_t build_id[BUILD_ID_SIZE];
	uint8_t build_id_size; /* 0: it has none, or the kernel does not report it */
	bool has_inode;        /* the two below are known */
	uint64_t device, inode;
	void *user; /* whoever uses it keeps here what it makes of it */
};

struct mapping {
	struct mapped_file *file; /* NULL: memory without a file */
	uint64_t start, end, offset;
};

struct mappings;
/*
 * Starts to listen; call it before privileges are given up. Returns 0 or a negative errno, with
 * which only the mappings from before are known.
 */
int mappings_open(struct mappings **out);
/* Reads what the kernel has reported. */
void mappings_pass(struct mappings *m);
/* Reads mappings of a process from before, if none of its program are known. Call it while it
 * lives. */
void mappings_need(struct mappings *m, uint32_t pid);
/* Finds the mapping of an address in a process at a time. Returns false if there was none. */
bool mappings_find(const struct mappings *m, uint32_t pid, uint64_t address, uint64_t time,
	struct mapping *out);
/* Returns the number of reports that were lost. */
uint64_t mappings_lost(const struct mappings *m);
/* Calls `see` for each file. */
void mappings_each_file(
	struct mappings *m, void (*see)(void *arg, struct mapped_file *f), void *arg);
void mappings_free(struct mappings *m);

/* One record of the kernel's, for tests; mappings_pass() calls it. */
struct perf_event_header;
void mappings_take(struct mappings *m, const struct perf_event_header *record);
/* Makes one without rings. NULL without memory. */
struct mappings *mappings_new(void);

#endif
