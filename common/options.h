/* SPDX-License-Identifier: MIT */
/* Option values that several programs take. Each returns false if the text is no such value. */
#ifndef MAGNET_COMMON_OPTIONS_H
#define MAGNET_COMMON_OPTIONS_H

#include <getopt.h>
#include <stdbool.h>
#include <stdint.h>

#include "event_table.h"

/* the layers the kernel side can record, as bits 1 << enum mg_layer, */
#define MG_ALL_LAYERS \
	(MG_USUAL_LAYERS | 1u << MG_LAYER_NETFILTER | 1u << MG_LAYER_GRO | 1u << MG_LAYER_SWITCH)
#define MG_LAYER_CHOICES "syscall,socket,tcp,ip,netfilter,device,gro,sched,switch"
/* and those it does unless told: the others cost another event a packet or a switch */
#define MG_USUAL_LAYERS                                                                            \
	(1u << MG_LAYER_SYSCALL | 1u << MG_LAYER_SOCKET | 1u << MG_LAYER_TCP | 1u << MG_LAYER_IP | \
		1u << MG_LAYER_DEVICE | 1u << MG_LAYER_SCHED)

/* of --buffer; the kernel refuses BPF programs that reach further into a map than 512 MiB */
#define MG_BUFFER_MIN 4096u
#define MG_BUFFER_MAX (512u << 20)

/* The long name of what getopt_long() returned. */
const char *option_name(const struct option *longs, int c);

/*
 * As getopt_long(), with messages of our own, which print nothing that a terminal would obey. In
 * `shorts` a + may come first.
 */
int option_next(int argc, char **argv, const char *shorts, const struct option *longs, int *which);

/* What the value is to be that one of the functions below refused last; valid until the next. */
const char *option_takes(void);

/* For values that one program alone takes: says so, and returns false. */
bool option_refuse(const char *takes, ...) __attribute__((format(printf, 1, 2)));

/* a whole decimal number within [min, max] */
bool option_number(const char *text, uint64_t min, uint64_t max, uint64_t *out);
/* bytes, with an optional K, M or G (powers of 1024) */
bool option_size(const char *text, uint64_t min, uint64_t max, uint64_t *out);
/* "64M" (not less than `min` bytes) or "30s": one of both is set, the other 0 */
bool option_amount(const char *text, uint64_t min, uint64_t *bytes, uint64_t *ns);
/* layer names separated by commas, after a + beside the default ones; or "none" */
bool option_layers(const char *text, uint32_t *out);

/* "none", "light" or "full", as enum mg_level */
bool option_level(const char *text, uint8_t *out);
/* A list of functions that have events, such as "send,recv". */
bool option_calls(const char *text);

#endif
