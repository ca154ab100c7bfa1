/* SPDX-License-Identifier: MIT */
/* Bytes that a system call moves, piece by piece. */
#ifndef MAGNET_CORRELATE_CORE_TASK_PIECE_H
#define MAGNET_CORRELATE_CORE_TASK_PIECE_H

#include "core.h"

/* Adds bytes that the call moved at `t`. Returns NULL if memory is short. */
struct piece *call_add_piece(
	struct kernel_call *k, struct flow *f, uint64_t off, uint64_t len, uint64_t t);

#endif
