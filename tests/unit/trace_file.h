/* SPDX-License-Identifier: MIT */
/*
 * A stream of a kernel trace read back by hand, byte by byte, as CTF 1.8 and the metadata define
 * it.
 */
#ifndef MAGNET_TESTS_TRACE_FILE_H
#define MAGNET_TESTS_TRACE_FILE_H

#include "event_table.h"
#include "events.h"
#include "unit.h"

struct trace_event {
	uint16_t id;
	uint64_t ts;
	uint32_t tid, pid;
	uint8_t payload[128];
	size_t packet; /* packet that contains it */
};

struct trace_packet {
	uint8_t uuid[16];
	uint64_t begin, end, seq, discarded, size; /* size: bytes */
	int32_t cpu;
};

struct trace_file {
	struct trace_event *event;
	struct trace_packet *packet;
	size_t events, packets;
	size_t bytes;
};

/* Reads a stream; fails the test if the file is no sequence of whole, orderly packets. */
void trace_read(struct trace_file *t, const char *dir, const char *stream);
bool trace_exists(const char *dir, const char *stream);
void trace_free(struct trace_file *t);

/* Makes a directory for one test, which trace_dir_remove() removes. */
char *trace_dir_make(void);
void trace_dir_remove(char *dir);

#endif
