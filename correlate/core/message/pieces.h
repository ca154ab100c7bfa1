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
/* Empties a call that holds nothing, but for its room for pieces. */
void kernel_call_clear(struct kernel_call *k);
/* Frees what a call holds, and gives its room for pieces to another one that has none. */
void kernel_call_free_for(struct kernel_call *k, struct kernel_call *to);

#endif
