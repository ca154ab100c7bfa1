/* SPDX-License-Identifier: MIT */
#ifndef MAGNET_COMMON_SIGNAL_NAME_H
#define MAGNET_COMMON_SIGNAL_NAME_H

#include <string.h>

/* "TERM" of SIGTERM; "?" of one without a name. Wants _GNU_SOURCE. */
static inline const char *signal_name(int signal)
{
	const char *name = sigabbrev_np(signal);

	return name ? name : "?";
}

#endif
