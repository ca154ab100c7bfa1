/* SPDX-License-Identifier: MIT */
/* Signals that mean something to COMMAND alone. */
#ifndef MAGNET_CLI_RECORD_SIGNALS_H
#define MAGNET_CLI_RECORD_SIGNALS_H

#include <signal.h>
#include <stdbool.h>

/*
 * Returns whether a signal to the recorder is passed on to COMMAND and ends no recording, as with
 * SIGUSR1 a server is told to open its log again. Most of them would end the recorder.
 */
static inline bool record_passes_on(int signal)
{
	return signal == SIGUSR1 || signal == SIGUSR2 || signal == SIGALRM ||
	       (signal >= SIGRTMIN && signal <= SIGRTMAX);
}

/* Adds them all. */
static inline void record_add_passed(sigset_t *set)
{
	for (int i = 1; i <= SIGRTMAX; i++)
		if (record_passes_on(i))
			sigaddset(set, i);
}

#endif
