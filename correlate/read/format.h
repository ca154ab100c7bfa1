/* SPDX-License-Identifier: MIT */
/* Which trace formats are read: this magnet's own only, since fields of others mean other things.
 */
#ifndef MAGNET_CORRELATE_READ_FORMAT_H
#define MAGNET_CORRELATE_READ_FORMAT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The format of traces whose metadata has no `trace_format`. */
#define TRACE_FORMAT_FIRST 1

/*
 * Returns whether a trace of magnet's with this number in its metadata can be read. If not, `why`
 * says so in one line, with both numbers and what to do; `where` names the trace, `version` is that
 * of the magnet which wrote it, "" if it is not known.
 */
bool trace_format_is_read(
	uint64_t format, const char *where, const char *version, char *why, size_t why_size);

/*
 * Returns whether this version of babeltrace2 reads traces of CTF 2. If not, `why` says so in one
 * line, with what to do; `where` names the trace.
 */
bool ctf2_is_read(
	unsigned int major, unsigned int minor, const char *where, char *why, size_t why_size);

#endif
