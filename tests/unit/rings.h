/* SPDX-License-Identifier: MIT */
/* Rings that a test fills as the BPF programs do, and a drain that empties them. */
#ifndef MAGNET_TESTS_RINGS_H
#define MAGNET_TESTS_RINGS_H

#include "trace_file.h"
#include "rings/drain.h"

#define CPUS  2
#define SLOTS 8
#define NEAR  4 /* near slots, used while fewer events wait */

extern char *dir; /* directory of the trace */
extern struct hooks hooks;
extern struct ctf_writer *writer;
extern struct drain *drain;
extern uint64_t misses; /* what hooks_new_misses() reports next */
extern bool traced;     /* what hooks_feed() says of received packets */

int rings_setup(void **unused);
int rings_teardown(void **unused);

/* Makes the drain; events already in the rings are not part of the recording. */
void begin(void);
/* Ends the recording and reads back the stream of a CPU, or the tracer's own. */
void finish(struct trace_file *t, const char *stream);

/*
 * Takes a slot, as take() in ring.bpf.h does; returns NULL and counts a loss if the ring is full.
 */
struct mg_slot *take(int cpu, uint64_t *word);
void publish(struct mg_slot *s, uint64_t word);
/* Writes an event with its number; returns false if there was no room. */
bool produce(int cpu, uint64_t number);
/* The same at a given time, not before that of the last event. */
bool produce_later(int cpu, uint64_t number, uint64_t at);
/* Writes an event of a process; its payload is 0. */
void produce_as(int cpu, uint32_t pid, uint16_t event);
void produce_many(int cpu, uint64_t from, uint64_t count);

void assert_number(const struct trace_event *e, uint64_t number);
struct mg_lost lost_event(const struct trace_event *e);

#endif
