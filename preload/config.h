/* SPDX-License-Identifier: MIT */
/* What the environment asks for: MAGNET_CALLS, MAGNET_WAITS, MAGNET_ENTRIES (libmagnet(7)). */
#ifndef MAGNET_PRELOAD_CONFIG_H
#define MAGNET_PRELOAD_CONFIG_H

#include <stdbool.h>

/* Read it; what is wrong in it is named on stderr and ignored. */
void mg_config_read(void);
/* Whether calls of MG_FN_* may be logged at all. */
bool mg_config_allows(unsigned int fn);

#endif
