/* SPDX-License-Identifier: MIT */
/* Settings from the environment: MAGNET_CALLS, MAGNET_WAITS, MAGNET_ENTRIES (libmagnet(7)). */
#ifndef MAGNET_PRELOAD_CONFIG_H
#define MAGNET_PRELOAD_CONFIG_H

#include <stdbool.h>

/* Reads the settings once at start; an invalid value is named on stderr and ignored. */
void mg_config_read(void);
/* Returns whether the settings allow calls of function MG_FN_* `fn` to be logged. */
bool mg_config_allows(unsigned int fn);

#endif
