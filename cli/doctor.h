/* SPDX-License-Identifier: MIT */
/* The parts of `magnet doctor`. */
#ifndef MAGNET_CLI_DOCTOR_H
#define MAGNET_CLI_DOCTOR_H

#include <jansson.h>

/* What the machine is and allows, as magnet-doctor(1) lists it under JSON. */
json_t *doctor_machine(void);
/* The same for people. */
void doctor_print_machine(const json_t *machine);
/* What the tracer said of its hooks: a line an event, by layer. */
void doctor_print_hooks(const json_t *hooks);
/* What no kernel tells, as `what` and `why`. */
json_t *doctor_not_observable(const json_t *hooks);
/* (doctor_xdp.c) The entry of that list for frames that a driver's XDP program drops. */
json_t *doctor_native_xdp(void);
void doctor_print_not_observable(const json_t *list);
/* A text in an object, or `otherwise`. */
const char *doctor_text(const json_t *j, const char *key, const char *otherwise);

#endif
