/* SPDX-License-Identifier: MIT */
/*
 * The flight recorder: what was recorded last is kept in memory, and written as a part of the
 * recording when asked to. Memory holds stretches of the recording, each with what was alive when
 * it began; the oldest is dropped as a whole, so that what is left can always be read.
 */
#ifndef MAGNET_KERNEL_TRACER_FLIGHT_H
#define MAGNET_KERNEL_TRACER_FLIGHT_H

#include "run/run.h"

/* the dump also has what follows a trigger for this time */
#define FLIGHT_AFTER_NS 500000000ull

/* Opens the recorder, instead of ctf_open(). */
int flight_open(struct run *r);
/* The first stretch begins, once connections can be asked for. */
int flight_begin(struct run *r);
/* Ends stretches, and dumps if a trigger has fired. Call it regularly. */
int flight_look(struct run *r, uint64_t now);
/* Writes what is in memory as part r->part.number; `last`: nothing comes after. */
int flight_dump(struct run *r, const struct mg_dump *why, bool last);
/* Dumps with a reason that is only a name. */
int flight_dump_for(struct run *r, const char *why);
/* A trigger fires: a dump after some time, unless one is awaited. */
void flight_fire(struct run *r, const struct mg_dump *why);
void flight_free(struct flight *f);

#endif
