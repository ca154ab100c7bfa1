/* SPDX-License-Identifier: MIT */
/* System calls, from their entry to their exit. */
#ifndef MAGNET_CORRELATE_CORE_TASK_CALL_H
#define MAGNET_CORRELATE_CORE_TASK_CALL_H

#include "core.h"

void call_on_enter(struct core *c, struct thread *t, const struct mg_event *e);
void call_on_exit(struct core *c, struct thread *t, const struct mg_event *e);
/* The kernel left it for a signal's handler, to enter it again. */
bool call_was_restarted(const struct kernel_call *k);
/* How it ends will not be known. */
void call_abandon(struct core *c, struct thread *t);
void call_no_longer_open(struct core *c, const struct kernel_call *k);
/* Lets go of what it holds. */
void piece_release(struct piece *p);
/* It did not move what these say. */
void call_drop_pieces(struct kernel_call *k, uint32_t from);
struct piece *call_add_piece(
	struct kernel_call *k, struct flow *f, uint64_t off, uint64_t len, uint64_t t);
void kernel_call_free(struct kernel_call *k);

#endif
