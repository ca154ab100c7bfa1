/* SPDX-License-Identifier: MIT */
/* The life of a recorded process: which back end it logs to, and what follows a fork. */
#ifndef MAGNET_PRELOAD_LIFE_H
#define MAGNET_PRELOAD_LIFE_H

#include <stdbool.h>

#include "backend.h"

/* of each MG_FN_*: nonzero while calls of it are logged */
extern const int *mg_wanted[MG_FN_END];
extern void (*mg_log[MG_FN_END])(unsigned int fn, const struct mg_call *c);

/* the same for points the program marks */
extern const int *mg_wanted_mark;
extern void (*mg_log_mark)(const struct mg_mark *m);

/* See struct mg_backend. */
void mg_life_make_room(uint64_t bytes);
/*
 * The program forbids itself the cycle counter: whoever reads it is killed. From then on its calls
 * are only counted. All threads are meant, since those to come inherit it; if a child in its
 * parent's memory does, only until its parent is known to go on.
 */
void mg_life_forbid_counter(bool in_vfork);
/* It may be read again. What a child in its parent's memory is allowed, its parent may not be. */
void mg_life_allow_counter(bool in_vfork);
extern volatile bool mg_counter_forbidden;
/* Count a call that was not logged, if only for that. Keeps errno. */
void mg_life_count_untimed(unsigned int fn, int64_t ret);
void mg_life_count_untimed_mark(void);
/* As soon as there are real functions to call, which may be before any constructor has run. */
void mg_life_begin(void);

#endif
