/* SPDX-License-Identifier: MIT */
/* The kernel tracer's parts and what they share. Functions return 0 or a negative errno. */
#ifndef MAGNET_KERNEL_TRACER_H
#define MAGNET_KERNEL_TRACER_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "callers.h"
#include "ctf.h"
#include "event_table.h"
#include "events.h"
#include "ring.h"

struct tracer_options {
	const char *dir;       /* trace directory, made if missing */
	uint32_t layers;       /* bits 1 << enum mg_layer */
	uint64_t buffer_bytes; /* ring size a CPU, 0 = default */
	unsigned int drain_ms; /* how often rings are emptied */
	pid_t pid;             /* process to follow with its children, 0 = none */
	bool with_app;         /* the recording has an application side too */
	bool fresh;            /* it has not begun: all its connections will be seen opening */
	bool all;              /* everything on the machine */
	const char *cgroup;    /* tasks of it, and what they start, NULL = none */
	bool anonymize;
	uint32_t without; /* bits 1 << enum hook_kind: kinds of hooks not to be used */
	struct mg_bpf_settings settings; /* filters and level */
	const char *control_path;        /* of the socket to be asked at, NULL = the usual */
	int control;                     /* a parent to speak with, -1 = none */
	uint64_t max_bytes; /* the recording ends when the trace has so many, 0 = never */
	uint64_t rotate_bytes, rotate_ns; /* a new part begins then, 0 = never */
	uint32_t keep;                    /* so many parts, 0 = all */
	uint64_t flight_bytes,
		flight_ns;           /* only so much is kept, in memory, 0 = no flight recorder */
	uint64_t trigger_latency_ns; /* dump when bytes wait longer, 0 = no trigger */
	bool trigger_retransmission, trigger_lost;
	unsigned int duration_s; /* 0 = until told to stop */
	char **event;            /* tracepoints chosen with --event, as written */
	int event_count;
	char **command; /* to run and to follow, NULL = none */
};

/* 0, 1 if all is done (help), or a negative errno after a line that says what is wrong. */
int tracer_options_parse(struct tracer_options *o, int argc, char **argv);

struct bpf_object;
struct bpf_link;

/* ---- hooks.c: the BPF programs, which of them this kernel takes, and their links ---- */

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

/* Slots of a ring, a power of two, by --buffer or else by the number of CPUs. */
uint64_t hooks_ring_slots(const struct tracer_options *o);
int hooks_load(struct hooks *h, const struct tracer_options *o);
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
/* (listening.c) Call then: connections to ports that traced processes listen on are followed. */
void listening_follow(const struct hooks *h);
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

/* ---- netns.c: the IP layer's hooks, which belong to one network namespace each ---- */

struct netns_hooks;
struct netns_hooks *netns_new(struct hooks *h, hook_report_fn report, void *arg);
/* Attach in the namespaces known at the start. */
void netns_attach_initial(struct netns_hooks *n, const struct tracer_options *o);
/* Attach in the namespace `inum`, found through process `pid` or any other in it. */
void netns_attach(struct netns_hooks *n, uint32_t inum, pid_t pid);
/*
 * A link keeps its namespace and the devices in it, which `ip netns del` or the end of its last
 * process should take away: let go where no name and no process is left.
 */
void netns_release(struct netns_hooks *n);
/* Whether hooks may yet be attached in other namespaces. */
bool netns_wanted(const struct netns_hooks *n);
/* The hooks to be attached have changed. */
void netns_switch(struct netns_hooks *n);
void netns_free(struct netns_hooks *n);

/* ---- drain.c: from the rings to the trace ---- */

struct drain;
/* What is in the rings already (calibration) is not part of the recording. */
int drain_new(struct drain **out, struct hooks *h, struct ctf_writer *w);
/*
 * One pass over all rings. Returns the fullest ring's fill in percent, or a negative errno. A loss
 * is told with the next event of its CPU, or some passes later if there is none.
 */
int drain_pass(struct drain *d);
/* The same, and nothing waits in a ring any more for the names of drops to be read. */
int drain_pass_all(struct drain *d);
/* A pass that tells all losses there are, before the trace is cut. Returns 0 or a negative errno.
 */
int drain_cut(struct drain *d);
/* The last pass. */
int drain_finish(struct drain *d);
/* Record nothing until it is resumed; what happens meanwhile is told as a gap. */
int drain_pause(struct drain *d);
int drain_resume(struct drain *d);
/* Show the events whose bits are in `mask` (ids below 64) as they are read. */
void drain_watch(
	struct drain *d, uint64_t mask, void (*see)(void *arg, const struct mg_slot *s), void *arg);
/* Write an event of the tracer's own, now. */
int drain_note(struct drain *d, uint16_t id, const void *payload, uint32_t size);
/*
 * Programs skipped since the last call become `lost` events. Returns when to look again, in ns:
 * soon while it happens, so that each loss has its place; or a negative errno.
 */
int64_t drain_check_misses(struct drain *d);
uint64_t drain_lost(const struct drain *d);
uint64_t drain_lost_on(const struct drain *d, int cpu); /* for want of room */
uint64_t drain_not_recorded(const struct drain *d);     /* while it paused; not lost */
uint64_t drain_skipped(const struct drain *d);          /* of these, not for want of room */
/* Who made system calls that were recorded. */
const struct callers *drain_callers(struct drain *d);
void drain_free(struct drain *d);

/* ---- calibrate.c: what one recorded event costs here ---- */

struct calibration { /* of one short system call: without hooks, with one copy of them, with two,
			... */
	double cycles[CALIBRATION_COPIES + 1], scatter[CALIBRATION_COPIES + 1]; /* 0 = not timed */
};
/* Time it, with that many, and keep the less disturbed time; `h` has the rings its events go to,
 * NULL without hooks. */
int calibrate_call(struct calibration *c, int copies, const struct hooks *h);
/* Time it with one copy, and as many more as this kernel takes. */
int calibrate_copies(struct calibration *c, struct hooks *h);
/* Mark the tracer's own thread as traced, or not. */
int calibrate_follow_self(struct hooks *h, bool on);
void calibrate_result(struct mg_calibration *out, const struct calibration *c);

#endif
