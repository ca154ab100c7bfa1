/* SPDX-License-Identifier: MIT */
/* magnet record --repeat: several recordings of one COMMAND. */
#ifndef MAGNET_CLI_RECORD_REPEAT_H
#define MAGNET_CLI_RECORD_REPEAT_H

#include "record_options.h"

/*
 * Calls `once` as often as o->given.repeat says, each time in a process of its own, with the
 * directory DIR/1, DIR/2 ... A signal, or a COMMAND that cannot be run, ends the repetition.
 * Returns the first exit status that is not 0.
 */
int record_repeat(const struct record_options *o, int (*once)(struct record_options *o));

#endif
