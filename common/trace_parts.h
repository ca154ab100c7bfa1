/* SPDX-License-Identifier: MIT */
/* The parts of a recording: directories below a trace's own, 0001, 0002 and so on. */
#ifndef MAGNET_COMMON_TRACE_PARTS_H
#define MAGNET_COMMON_TRACE_PARTS_H

#include <stddef.h>
#include <stdint.h>

/*
 * Makes the directory of a part below `dir`. Returns a descriptor of it, by which `path` names it
 * as long as it is open, or a negative errno.
 */
int trace_part_make(const char *dir, uint32_t number, char *path, size_t size);
/* Deletes a part with its files, unless it belongs to another user or is a link. */
void trace_part_delete(const char *dir, uint32_t number);

#endif
