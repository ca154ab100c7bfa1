/* SPDX-License-Identifier: MIT */
/* Removal of pieces from calls, which may hold messages. */
#ifndef MAGNET_CORRELATE_CORE_MESSAGE_PIECES_H
#define MAGNET_CORRELATE_CORE_MESSAGE_PIECES_H

#include "core.h"

/* Frees what a piece holds. */
void piece_release(struct piece *p);
/* Removes pieces from index `from` on, which the call did not move. */
void call_drop_pieces(struct kernel_call *k, uint32_t from);
/* Frees what a call holds. */
void kernel_call_free(struct kernel_call *k);

#endif
