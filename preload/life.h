/* SPDX-License-Identifier: MIT */
/* Life cycle of a recorded process: the choice of its back end, and what happens around fork(). */
#ifndef MAGNET_PRELOAD_LIFE_H
#define MAGNET_PRELOAD_LIFE_H

#include <stdbool.h>

#include "backend.h"

/* for each MG_FN_*: points to a nonzero value while calls of that function are logged */
extern const int *mg_wanted[MG_FN_END];
extern void (*mg_log[MG_FN_END])(unsigned int fn, const struct mg_call *c);

/* the same for marks that the program sets */
extern const int *mg_wanted_mark;
extern void (*mg_log_mark)(const struct mg_mark *m);

/* Calls make_room of the back end; see struct mg_backend. */
void mg_life_make_room(uint64_t bytes);
/*
 * Stops reading the cycle counter, because the program has made reading it fatal. From now on calls
 * are only counted. The ban holds for all threads, as new threads inherit it; if a vfork child sets
 * it (`in_vfork`), only until its parent is known to run again.
 */
void mg_life_forbid_counter(bool in_vfork);
/* Reads the counter again. Has no effect if a vfork child regains access that its parent lacks. */
void mg_life_allow_counter(bool in_vfork);
extern volatile bool mg_counter_forbidden;
/* Counts a call that would have been logged if the counter could be read. Keeps errno. */
void mg_life_count_untimed(unsigned int fn, int64_t ret);
void mg_life_count_untimed_mark(void);
/* Counts programs, less than 0 where one that was counted is not executed after all. */
void mg_life_count_unreached(int programs);
/*
 * Starts the library. Call it as soon as the real functions are bound, which may be before any
 * constructor has run; later calls do nothing.
 */
void mg_life_begin(void);

#endif
