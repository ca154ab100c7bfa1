/* SPDX-License-Identifier: MIT */
/* The BPF programs of a recording and their links. Functions return 0 or a negative errno. */
#ifndef MAGNET_KERNEL_TRACER_HOOKS_HOOKS_H
#define MAGNET_KERNEL_TRACER_HOOKS_HOOKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "event_table.h"
#include "ring.h"

struct bpf_object;
struct bpf_link;

#define HOOKS_MAX          128
#define CALIBRATION_COPIES 5
#define CALIBRATION_LINKS  2 /* of a copy: sys_enter's and sys_exit's */
#define COPIES_MAX         (CALIBRATION_LINKS * (CALIBRATION_COPIES - 1))

struct hooks {
	struct bpf_object *object;
	struct bpf_link *links[HOOKS_MAX]; /* of each row, NULL = not attached */
	char why[300];                     /* what hooks_load() failed at */
	uint32_t layers;                   /* chosen at the start */
	int refused[HOOKS_MAX];            /* of each row: what loading it failed with, or 0 */
	struct bpf_link *copy[COPIES_MAX]; /* of system calls' hooks, while they are measured */
	int copies;
	int state[HOOKS_MAX];               /* of each row: 0, HOOK_NOT_*, or a negative errno */
	uint64_t misses[HOOKS_MAX];         /* recursion misses told so far */
	uint64_t not_seen[MG_NOT_SEEN_END]; /* told so far, too */
	uint8_t *ring_memory;               /* all rings, mapped */
	uint64_t ring_stride;               /* bytes from one CPU's ring to the next */
	uint64_t ring_slots, near_slots;
	int cpus;
	bool old;  /* Linux before 5.12: see bpf/old.bpf.h */
	bool cast; /* since 6.2: see bpf/cast.bpf.h */
};

/* How a hook turned out; `status` 0 attached, else negative errno. */
struct hook_status {
	enum mg_layer layer;
	char what[32]; /* event it feeds, and by what */
	int status;
	uint32_t netns; /* 0 = all */
	char by[48];    /* kind and name of what it is attached to */
	char why[300];  /* if it is not: each alternative's reason */
};
typedef void (*hook_report_fn)(void *arg, const struct hook_status *status);

/* First only the system calls, for calibration, which traces the tracer itself; */
int hooks_attach_calls(struct hooks *h);
/* and each of these once more, */
int hooks_copy_calls(struct hooks *h);
void hooks_drop_copy(struct hooks *h);
/* then everything of the chosen layers, and the tracer no more. Outcomes are told to `report`. */
int hooks_attach(struct hooks *h, hook_report_fn report, void *arg);
/* Attach and detach what other layers take than those chosen so far; but for namespaces' hooks. */
int hooks_set_layers(struct hooks *h, uint32_t layers, hook_report_fn report, void *arg);
void hooks_detach(struct hooks *h);
void hooks_unload(struct hooks *h);
/* Mark the threads that exist already and are to be traced. */
int hooks_follow(struct hooks *h);
/* The level and filters from now on; sockets already met are judged anew at their next use. */
int hooks_set(struct hooks *h, const struct mg_bpf_settings *s);
/* A process's first thread is traced from now on, or no more; `again` as MG_TASK_AGAIN, or 0. */
int hooks_mark_task(struct hooks *h, pid_t pid, bool on, int again);
int hooks_program_fd(const struct hooks *h, const char *program);
int hooks_map_fd(const struct hooks *h, const char *map);
/*
 * What was not recorded since the last call though there was room: times a program was skipped
 * because it had interrupted itself, each told apart, and connections that could not be followed.
 */
typedef void (*hook_miss_fn)(void *arg, const char *producer, uint64_t count, uint32_t reason);
void hooks_new_misses(struct hooks *h, hook_miss_fn tell, void *arg);
static inline struct mg_ring *hooks_ring(const struct hooks *h, int cpu)
{
	return (struct mg_ring *)(h->ring_memory + h->ring_stride * (uint64_t)cpu);
}
/* Whether a row is to be attached in each network namespace: netfilter's. */
bool hook_in_namespaces(const struct hooks *h, size_t row);
/* Or could be, but its layer is not chosen. */
bool hook_is_off_in_namespaces(const struct hooks *h, size_t row);

#endif
