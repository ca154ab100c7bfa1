/* SPDX-License-Identifier: MIT */
#ifndef MAGNET_COMMON_SIGNAL_IGNORED_H
#define MAGNET_COMMON_SIGNAL_IGNORED_H

#include <signal.h>
#include <stdbool.h>

/*
 * Returns whether the process ignores the signal, as nohup has it start for SIGHUP. A signal that
 * is ignored comes by a signalfd all the same.
 */
static inline bool mg_is_ignored(int signal)
{
	struct sigaction now;

	return sigaction(signal, NULL, &now) == 0 && now.sa_handler == SIG_IGN;
}

#endif
