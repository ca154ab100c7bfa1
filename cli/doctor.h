/* SPDX-License-Identifier: MIT */
/* The parts of `magnet doctor`. */
#ifndef MAGNET_CLI_DOCTOR_H
#define MAGNET_CLI_DOCTOR_H

#include <jansson.h>

/* Returns the machine's properties, as magnet-doctor(1) lists them under JSON. */
json_t *doctor_machine(void);
/* Prints them as text. */
void doctor_print_machine(const json_t *machine);
/* Prints the hooks of the tracer: a line for each event, by layer. */
void doctor_print_hooks(const json_t *hooks);
/*
 * Returns why the event of an entry has no hook; NULL if it has one, or if an earlier entry is of
 * the same event.
 */
const json_t *doctor_hook_missing(const json_t *hooks, size_t index);
/* Returns what cannot be observed here, as `what` and `why`. */
json_t *doctor_not_observable(const json_t *hooks);
/* Returns the entry of that list for frames that a driver's XDP program drops (doctor_xdp.c). */
json_t *doctor_native_xdp(void);
void doctor_print_not_observable(const json_t *list);
/* Returns a text in an object, or `otherwise`. */
const char *doctor_text(const json_t *j, const char *key, const char *otherwise);

#endif
