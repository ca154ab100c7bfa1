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
#define CTF_OWN_STREAM (-1) /* CPU number of the stream of the tracer, or of the application */
#define CTF_CHOSEN(cpu) \
	(-2 - (cpu))      /* CPU number for the stream of events chosen by the user on a CPU */
#define CTF_CHOSEN_ID 256 /* first id of chosen events, behind those of the event table */

int ctf_open(struct ctf_writer **out, const char *dir, enum ctf_domain domain, int cpus);
/* `payload` is `size` bytes as the event table lays them out. Times must not decrease. */
int ctf_event(struct ctf_writer *w, int cpu, uint16_t id, uint64_t ts, const void *payload,
	uint32_t size);
/* Writes an event of a thread. */
int ctf_event_of(struct ctf_writer *w, uint16_t id, uint64_t ts, uint32_t tid, uint32_t pid,
	const void *payload, uint32_t size);
/* Writes an event of a thread into a stream. */
int ctf_event_on(struct ctf_writer *w, int cpu, uint16_t id, uint64_t ts, uint32_t tid,
	uint32_t pid, const void *payload, uint32_t size);
/* Writes a slot of the ring; the caller has checked that it is complete. */
int ctf_slot(struct ctf_writer *w, int cpu, const struct mg_slot *slot);
/*
 * Sets the count of events lost on a CPU so far, for babeltrace2's warnings about discarded events.
 */
void ctf_set_discarded(struct ctf_writer *w, int cpu, uint64_t count);
/* Adds classes of events to the metadata; call it before the first event of a class. */
int ctf_describe(struct ctf_writer *w, const char *classes);
/* Notes in the metadata that the recording has the other side too. Returns 0 or -errno. */
int ctf_tell_other_side(struct ctf_writer *w);
/* Writes all buffered events, as whole packets. */
int ctf_flush(struct ctf_writer *w);
/*
 * Makes a writer without a trace: it gives finished packets, of the stream `cpu` as above, to
 * `sink`. Such packets can be made part of a trace that was opened like it, with its clock and
 * classes.
 */
typedef int (*ctf_sink_fn)(
	void *arg, int cpu, const uint8_t *packets, uint32_t size, uint64_t events);
int ctf_open_sink(
	struct ctf_writer **out, enum ctf_domain domain, int cpus, ctf_sink_fn sink, void *arg);
int ctf_open_like(struct ctf_writer **out, const char *dir, const struct ctf_writer *other);
/* Writes packets, which hold `events` events. */
int ctf_append(struct ctf_writer *w, int cpu, uint8_t *packets, uint32_t size, uint64_t events);
/* Continues in another trace, in `dir`; counts go on. */
int ctf_next(struct ctf_writer *w, const char *dir);
/*
 * Writes the event that says how many events the trace in this directory has. Call it last, but for
 * `more` events that follow.
 */
int ctf_tell_contents(struct ctf_writer *w, unsigned int more);
/* Return the number of events so far: all, those of a stream, and those of one kind in it. */
uint64_t ctf_events(const struct ctf_writer *w);
uint64_t ctf_events_of(const struct ctf_writer *w, int cpu);
uint64_t ctf_count(const struct ctf_writer *w, int cpu, uint16_t id);
uint64_t ctf_bytes(const struct ctf_writer *w);
/* Flushes and closes. Returns the first error of the writer's life, or 0. */
int ctf_close(struct ctf_writer *w);

/* (ctf_metadata.c) Writes the trace's description, from the event table. */
int ctf_write_metadata(const char *dir, enum ctf_domain domain, const char *uuid, int64_t offset_ns,
	const char *classes, bool other_side);

/* (ctf_metadata.c) Reads the 16 bytes of a UUID in the kernel's text form. */
int random_uuid(char out[37]);

#endif
