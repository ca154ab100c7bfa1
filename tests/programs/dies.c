/* SPDX-License-Identifier: MIT */
/* A library to preload: kills a process that makes a session of its own, as the collector does. */
#include <signal.h>
#include <unistd.h>

pid_t setsid(void)
{
	raise(SIGKILL);
	return -1;
}
