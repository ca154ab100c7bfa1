/* SPDX-License-Identifier: MIT */
/*
 * uthash that does not end the process without memory: an element that cannot be added is not in
 * the table, and its handle's `tbl` is NULL.
 */
#ifndef MAGNET_COMMON_HASH_H
#define MAGNET_COMMON_HASH_H

#include "alloc.h"

#define HASH_NONFATAL_OOM    1
#define uthash_malloc(bytes) mg_malloc(bytes)
#include <stdlib.h>
#include <uthash.h>

/* The element that was added, or NULL if it could not be: then it is freed. */
#define hash_kept(element) ((element)->hh.tbl ? (element) : (free(element), NULL))

#endif
