/* SPDX-License-Identifier: MIT */
/* System calls, from entry to exit. */
#ifndef MAGNET_CORRELATE_CORE_TASK_CALL_H
#define MAGNET_CORRELATE_CORE_TASK_CALL_H

#include "core.h"

void call_on_enter(struct core *c, struct thread *t, const struct mg_event *e);
void call_on_exit(struct core *c, struct thread *t, const struct mg_event *e);
/* Returns whether the kernel left the call for a signal handler, to enter it again. */
bool call_was_restarted(const struct kernel_call *k);
/* Gives up the present call of a thread, whose end will not be known. */
void call_abandon(struct core *c, struct thread *t);
void call_no_longer_open(struct core *c, const struct kernel_call *k);
/* Frees what a piece holds. */
void piece_release(struct piece *p);
/* Removes pieces from index `from` on, which the call did not move. */
void call_drop_pieces(struct kernel_call *k, uint32_t from);
struct piece *call_add_piece(
	struct kernel_call *k, struct flow *f, uint64_t off, uint64_t len, uint64_t t);
void kernel_call_free(struct kernel_call *k);

#endif
