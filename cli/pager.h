/* SPDX-License-Identifier: MIT */
/* The program that shows long output a screen at a time. */
#ifndef MAGNET_CLI_PAGER_H
#define MAGNET_CLI_PAGER_H

#include <stdbool.h>

/*
 * Starts the pager if stdout is a terminal that can be paged: $MAGNET_PAGER, else $PAGER, else less
 * where there is one; none if the variable is empty or "cat". Stdout goes to it from then on, and
 * the process waits for it when it exits. Returns whether stdout goes to a pager.
 */
bool pager_start(void);
/* Returns whether stdout goes to a pager that pager_start() has started. */
bool pager_runs(void);

#endif
