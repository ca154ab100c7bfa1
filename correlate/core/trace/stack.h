/* SPDX-License-Identifier: MIT */
/* Stacks (--stacks): where they were taken, and their frames with names. */
#ifndef MAGNET_CORRELATE_CORE_TRACE_STACK_H
#define MAGNET_CORRELATE_CORE_TRACE_STACK_H

#include "core.h"

/* Emits the fact that a stack was taken. */
void stack_on_taken(struct core *c, const struct mg_event *e);
/* Keeps a piece of a place's name, which frames refer to. */
void stack_on_symbol(struct core *c, const struct mg_symbol *p);
/* Emits the fact of a frame. */
void stack_on_frame(struct core *c, const struct mg_stack_frame *p);
void stack_on_end(struct core *c, const struct mg_stacks *p);
void stacks_free(struct core *c);

#endif
