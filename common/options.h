/* SPDX-License-Identifier: MIT */
/* Parsers for values of options. Each returns false if the text is no such value. */
#ifndef MAGNET_COMMON_OPTIONS_H
#define MAGNET_COMMON_OPTIONS_H

#include <getopt.h>
#include <stdbool.h>
#include <stdint.h>

#include "event_table.h"

/* layers that the kernel side can record, as bits 1 << enum mg_layer */
#define MG_ALL_LAYERS                                                             \
	(MG_USUAL_LAYERS | 1u << MG_LAYER_TIMESTAMPS | 1u << MG_LAYER_NETFILTER | \
		1u << MG_LAYER_GRO | 1u << MG_LAYER_SWITCH)
/* their names, separated by `by` */
#define MG_LAYER_LIST(by)                                                                    \
	"syscall" by "socket" by "tcp" by "timestamps" by "ip" by "netfilter" by "device" by \
	"gro" by "sched" by "switch"
#define MG_LAYER_CHOICES MG_LAYER_LIST(",")
/* layers that it records by default; the others cost another event for each packet or switch */
#define MG_USUAL_LAYERS                                                                            \
	(1u << MG_LAYER_SYSCALL | 1u << MG_LAYER_SOCKET | 1u << MG_LAYER_TCP | 1u << MG_LAYER_IP | \
		1u << MG_LAYER_DEVICE | 1u << MG_LAYER_SCHED)
/* those that `light` is short for: the way of bytes, without calls, IP and the scheduler */
#define MG_LIGHT_LAYERS (1u << MG_LAYER_SOCKET | 1u << MG_LAYER_TCP | 1u << MG_LAYER_DEVICE)
/*
 * Stands beside the layers where `light` was given alone: then only TCP is recorded, unless
 * protocols are chosen. Other sockets cost a hook at each system call.
 */
#define MG_LIGHT_ALONE (1u << 31)
_Static_assert(MG_LAYER_END < 31, "MG_LIGHT_ALONE");

/* range of --buffer; the kernel refuses BPF programs that reach further into a map than 512 MiB */
#define MG_BUFFER_MIN 4096u
#define MG_BUFFER_MAX (512u << 20)

/*
 * Works as getopt_long(), with messages that print nothing a terminal would obey. `shorts` may
 * begin with a +.
 */
int option_next(int argc, char **argv, const char *shorts, const struct option *longs, int *which);

/*
 * Returns what values are allowed for the one that was refused last; valid until the next is
 * refused.
 */
const char *option_takes(void);

/*
 * Sets what option_takes() returns, for types of values that are parsed elsewhere. Returns false.
 */
bool option_refuse(const char *takes, ...) __attribute__((format(printf, 1, 2)));

/* Parses a whole decimal number within [min, max]. */
bool option_number(const char *text, uint64_t min, uint64_t max, uint64_t *out);
/* Parses bytes, with an optional K, M or G (powers of 1024). */
bool option_size(const char *text, uint64_t min, uint64_t max, uint64_t *out);
/*
 * Parses a time such as "10s", "0.5", "500ms" or "2m"; a number alone is in seconds. Bounds and
 * value are in nanoseconds.
 */
bool option_time(const char *text, uint64_t min_ns, uint64_t max_ns, uint64_t *out_ns);
/* Writes a time in the largest unit of which it is a whole number. Returns `out`. */
const char *option_time_text(char out[24], uint64_t ns);
/* Parses "64M" (not less than `min` bytes) or "30s": sets one of both, the other to 0. */
bool option_amount(const char *text, uint64_t min, uint64_t *bytes, uint64_t *ns);
/*
 * Parses names of layers separated by commas, after a + to add them to the default; or "none".
 * Beside the layers of "light" alone is MG_LIGHT_ALONE.
 * "light" is short for several.
 */
bool option_layers(const char *text, uint32_t *out);

/* Parses "none", "light" or "full", as enum mg_level. */
bool option_level(const char *text, uint8_t *out);
/* Checks a list of functions that have events, such as "send,recv". */
bool option_calls(const char *text);

#endif
