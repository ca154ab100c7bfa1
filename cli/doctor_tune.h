/* SPDX-License-Identifier: MIT */
/* The curve of loss against buffer and drain interval on this machine, and the choice by it. */
#ifndef MAGNET_CLI_DOCTOR_TUNE_H
#define MAGNET_CLI_DOCTOR_TUNE_H

#include <jansson.h>
#include <stdbool.h>

/*
 * Measures the share of kernel events that are lost, under a load of its own, with each of a few
 * buffers and intervals, in recordings below the directory `top`. With `print` each row is printed
 * when it is there. Returns the object that magnet-doctor(1) describes as `tune`; NULL after a
 * message if nothing can be recorded.
 */
json_t *doctor_tune(const char *top, double loss_percent, bool print);
/* Prints which buffers and intervals keep losses below the limit. */
void doctor_print_tuned(const json_t *tune);

#endif
