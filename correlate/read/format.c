/* SPDX-License-Identifier: MIT */
#include "format.h"

#include <inttypes.h>
#include <stdio.h>

#include "events.h"

bool trace_format_is_read(
	uint64_t format, const char *where, const char *version, char *why, size_t why_size)
{
	bool is_older = format < MG_TRACE_FORMAT;

	if (format == MG_TRACE_FORMAT)
		return true;
	snprintf(why, why_size,
		"%.700s: trace format %" PRIu64 ", and this magnet reads %d: %s%s%.32s", where,
		format, MG_TRACE_FORMAT,
		is_older ? "record again, or read it with the magnet that wrote it"
			 : "read it with a magnet as new as the one that wrote it",
		version[0] ? ", version " : "", version);
	return false;
}

bool ctf2_is_read(
	unsigned int major, unsigned int minor, const char *where, char *why, size_t why_size)
{
	if (major > 2 || (major == 2 && minor >= 1))
		return true;
	snprintf(why, why_size,
		"%.700s: a trace of CTF 2, which babeltrace2 reads from version 2.1 on, and this "
		"is %u.%u: "
		"install a newer babeltrace2, or have LTTng write CTF 1.8 (lttng create "
		"--trace-format=ctf-1.8)",
		where, major, minor);
	return false;
}
