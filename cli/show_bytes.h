/* SPDX-License-Identifier: MIT */
/* magnet show --bytes and --slowest: the life of some bytes. */
#ifndef MAGNET_CLI_SHOW_BYTES_H
#define MAGNET_CLI_SHOW_BYTES_H

#include <stdbool.h>
#include <stdint.h>

#include "filter/filter.h"

/* Prints the life of a flow's bytes [from, to). Returns an exit status. */
int show_life(char **dirs, int count, const char *flow, uint64_t from, uint64_t to, bool tsv);
/*
 * Prints the life of the bytes on which the reply waited: the request's last, the reply's first.
 * Returns an exit status.
 */
struct fact_exchange;
int show_lives(char **dirs, int count, const struct fact_exchange *f);
/*
 * Prints the slowest exchanges, and then the life of each one's bytes on which the reply waited.
 * Returns an exit status.
 */
int show_slowest(char **dirs, int count, uint32_t n, struct filter *f);

#endif
