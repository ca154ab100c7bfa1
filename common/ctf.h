/* SPDX-License-Identifier: MIT */
/*
 * Writing CTF 1.8 traces of the events in the event table. A kernel trace has one stream a CPU and
 * one of the tracer's own; an application trace has one stream. Functions return 0 or a negative
 * errno.
 */
#ifndef MAGNET_COMMON_CTF_H
#define MAGNET_COMMON_CTF_H

#include <stdbool.h>
#include <stdint.h>

#include "ring.h"

enum ctf_domain { CTF_KERNEL, CTF_APP };

struct ctf_writer;
#define CTF_OWN_STREAM \
	(-1) /* as a CPU number: the tracer's own stream, the application's only one */
#define CTF_CHOSEN(cpu) \
	(-2 - (cpu))      /* as a CPU number: that CPU's stream of events chosen by the user */
#define CTF_CHOSEN_ID 256 /* and their first id; those of the event table are below */

int ctf_open(struct ctf_writer **out, const char *dir, enum ctf_domain domain, int cpus);
/* `payload` is `size` bytes as the event table lays them out. Times must not decrease. */
int ctf_event(struct ctf_writer *w, int cpu, uint16_t id, uint64_t ts, const void *payload,
	uint32_t size);
/* One that a thread has caused. */
int ctf_event_of(struct ctf_writer *w, uint16_t id, uint64_t ts, uint32_t tid, uint32_t pid,
	const void *payload, uint32_t size);
/* One of a stream, that a thread has caused. */
int ctf_event_on(struct ctf_writer *w, int cpu, uint16_t id, uint64_t ts, uint32_t tid,
	uint32_t pid, const void *payload, uint32_t size);
/* A slot as it stands in the ring; the caller has checked that it is complete. */
int ctf_slot(struct ctf_writer *w, int cpu, const struct mg_slot *slot);
/* Events lost on a CPU so far, for babeltrace2's own discarded-events warnings. */
void ctf_set_discarded(struct ctf_writer *w, int cpu, uint64_t count);
/* More classes of events, as the metadata has them; before the first event of one. */
int ctf_describe(struct ctf_writer *w, const char *classes);
/* The metadata tells from now on that the recording has the other side too. Returns 0 or -errno. */
int ctf_tell_other_side(struct ctf_writer *w);
/* Write out what is buffered, as whole packets. */
int ctf_flush(struct ctf_writer *w);
/*
 * A writer that makes no trace: finished packets are given to `sink`, of the stream `cpu` as above.
 * Such packets can be made part of a trace that was opened like it, with its clock and classes.
 */
typedef int (*ctf_sink_fn)(
	void *arg, int cpu, const uint8_t *packets, uint32_t size, uint64_t events);
int ctf_open_sink(
	struct ctf_writer **out, enum ctf_domain domain, int cpus, ctf_sink_fn sink, void *arg);
int ctf_open_like(struct ctf_writer **out, const char *dir, const struct ctf_writer *other);
/* `events` are in the packets. */
int ctf_append(struct ctf_writer *w, int cpu, uint8_t *packets, uint32_t size, uint64_t events);
/* What comes from now on is another trace, in `dir`; counts go on. */
int ctf_next(struct ctf_writer *w, const char *dir);
/*
 * Writes the event that tells how many events the trace in this directory has; to be called last,
 * but for `more` events that follow.
 */
int ctf_tell_contents(struct ctf_writer *w, unsigned int more);
/* Events so far: all, those of one stream, and those of one kind in it. */
uint64_t ctf_events(const struct ctf_writer *w);
uint64_t ctf_events_of(const struct ctf_writer *w, int cpu);
uint64_t ctf_count(const struct ctf_writer *w, int cpu, uint16_t id);
uint64_t ctf_bytes(const struct ctf_writer *w);
/* Flush and close; the first error of the writer's life, if any. */
int ctf_close(struct ctf_writer *w);

/* ctf_metadata.c: the trace's description, from the event table */
int ctf_write_metadata(const char *dir, enum ctf_domain domain, const char *uuid, int64_t offset_ns,
	const char *classes, bool other_side);

/* The 16 bytes of a UUID in text form, from the kernel. */
int random_uuid(char out[37]);

#endif
