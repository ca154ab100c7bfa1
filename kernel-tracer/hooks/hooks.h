/* SPDX-License-Identifier: MIT */
/* The BPF programs of a recording and their links. Functions return 0 or a negative errno. */
#ifndef MAGNET_KERNEL_TRACER_HOOKS_HOOKS_H
#define MAGNET_KERNEL_TRACER_HOOKS_HOOKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "event_table.h"
#include "hooks/load_parts.h"
#include "ring.h"

struct bpf_object;
struct hook_targets;
struct program_images;

#define HOOKS_MAX          128
#define CALIBRATION_COPIES 5
#define CALIBRATION_LINKS  2 /* links of one copy: sys_enter and sys_exit */
#define COPIES_MAX         (CALIBRATION_LINKS * (CALIBRATION_COPIES - 1))

#define HOOKS_PARTS (LOAD_PARTS + MG_LAYER_END) /* the others for layers chosen later */

#define NAME_DROP "name_drop" /* the program that tells names of drops */

struct hooks {
	struct mg_bpf_config *config;
	struct bpf_object *object; /* the maps, and the programs that are in none of the parts */
	struct load_part part[HOOKS_PARTS]; /* copies of it that use its maps */
	int parts;
	struct program_images *images;   /* the programs, if not in an object; else NULL */
	struct hook_targets *targets;    /* what the kernel's types say of the hooks */
	int links[HOOKS_MAX];            /* descriptor of each row's link, 0 = not attached */
	char why[300];                   /* step at which hooks_load() failed */
	char said[201];                  /* libbpf's message about that */
	struct mg_bpf_settings settings; /* those that hooks_set() has set */
	/* error with which each row's program failed to load, or 0 */
	int refused[HOOKS_MAX];
	/* further copies of the system calls' hooks, during calibration */
	int copy[COPIES_MAX];
	int copies;
	/* state of each row: 0, HOOK_NOT_*, or a negative errno */
	int state[HOOKS_MAX];
	bool loaded[HOOKS_MAX];     /* each row's program */
	int load_error;             /* of the last hooks_load_more() */
	uint64_t misses[HOOKS_MAX]; /* recursion misses already reported, per row */
	/* failures to follow a connection already reported, per reason */
	uint64_t not_seen[MG_NOT_SEEN_COUNTS];
	uint8_t *ring_memory; /* all rings, mapped */
	uint64_t ring_stride; /* bytes from one CPU's ring to the next */
	uint64_t ring_slots, near_slots;
	int cpus;
	bool sees_modules;  /* libbpf may search modules for types */
	bool old;           /* Linux before 5.12: see bpf/old.bpf.h */
	bool cast;          /* Linux since 6.2: see bpf/cast.bpf.h */
	bool names_refused; /* the kernel refuses NAME_DROP: lists have the names, too */
	uint32_t epoch;     /* last value of mg_ring.epoch_now but 0 */
};

/* Result of attaching a hook; `status` is 0 if attached, else a negative errno. */
struct hook_status {
	enum mg_layer layer;
	char what[32]; /* event that the hook feeds */
	int status;
	uint32_t netns; /* network namespace, 0 = all */
	char by[48];    /* kind and name of what the hook is attached to */
	char why[300];  /* if not attached: each alternative's reason */
};
typedef void (*hook_report_fn)(void *arg, const struct hook_status *status);

/* Attaches the system calls' hooks only, for calibration, which traces the tracer itself. */
int hooks_attach_calls(struct hooks *h);
/* Attach one more copy of those hooks, and detach the last copy. */
int hooks_copy_calls(struct hooks *h);
void hooks_drop_copy(struct hooks *h);
/* Attaches all hooks of the chosen layers and stops tracing the tracer; reports each result. */
int hooks_attach(struct hooks *h, uint32_t layers, hook_report_fn report, void *arg);
/*
 * Attaches and detaches hooks so that `layers` are recorded of what the filters pass; hooks of
 * network namespaces excepted. Call it after a change of either. A program that is not loaded
 * cannot be attached: call hooks_load_more() before.
 */
int hooks_set_layers(struct hooks *h, uint32_t layers, hook_report_fn report, void *arg);
void hooks_detach(struct hooks *h);
void hooks_unload(struct hooks *h);
/* Marks the existing threads that are to be traced. It may be called again. */
int hooks_follow_tasks(struct hooks *h);
/* Marks them, and meets the sockets that they have. */
int hooks_follow(struct hooks *h);
/* Runs an iterator program once over all its objects. Returns 0 or a negative errno. */
int hooks_iterate(struct hooks *h, const char *program);
/* Removes all elements of a hash table whose keys have eight bytes. */
void hooks_empty(struct hooks *h, const char *map);
/*
 * Sets the level and the filters from now on; a socket already met is judged again at its next use.
 */
int hooks_set(struct hooks *h, const struct mg_bpf_settings *s);
/* Traces a process's first thread from now on, or stops; `again` is MG_TASK_AGAIN or 0. */
int hooks_mark_task(struct hooks *h, pid_t pid, bool on, int again);
int hooks_program_fd(const struct hooks *h, const char *program);
int hooks_map_fd(const struct hooks *h, const char *map);
/*
 * Reports events missed since the last call for another reason than a full ring: programs that were
 * skipped because they had interrupted themselves, one report per program, and connections that
 * could not be followed.
 */
typedef void (*hook_miss_fn)(void *arg, const char *producer, uint64_t count, uint32_t reason);
void hooks_new_misses(struct hooks *h, hook_miss_fn tell, void *arg);
static inline struct mg_ring *hooks_ring(const struct hooks *h, int cpu)
{
	return (struct mg_ring *)(h->ring_memory + h->ring_stride * (uint64_t)cpu);
}
/* Returns whether a hook that feeds this event is attached. */
bool hooks_feed(const struct hooks *h, const char *event);
/* Returns whether a row is to be attached in each network namespace, as netfilter's are. */
bool hook_in_namespaces(const struct hooks *h, size_t row);
/* Returns whether a row could be attached in network namespaces but its layer is not chosen. */
bool hook_is_off_in_namespaces(const struct hooks *h, size_t row);

#endif
