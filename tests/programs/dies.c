/* SPDX-License-Identifier: MIT */
/* A library to preload: who makes a session of its own, as the collector does, is killed. */
#include <signal.h>
#include <unistd.h>

pid_t setsid(void)
{
	raise(SIGKILL);
	return -1;
}
