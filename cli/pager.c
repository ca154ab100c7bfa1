/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "pager.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* Quits if all fits on one screen, shows colours, and leaves the text on the screen. */
#define LESS_OPTIONS "FRX"

static pid_t pager;

bool pager_runs(void)
{
	return pager > 0;
}

/* Returns the command of the pager, to be run by a shell; NULL if there shall be none. */
static const char *command(void)
{
	static char text[4096];
	const char *own = getenv("MAGNET_PAGER"), *chosen = own ? own : getenv("PAGER");

	if (!chosen)
		return "command -v less >/dev/null && exec less; exec cat";
	if (!*chosen || strcmp(chosen, "cat") == 0)
		return NULL;
	/* 127: there is no such program, which has read nothing */
	if (snprintf(text, sizeof(text), "%s\n[ $? -ne 127 ] || exec cat", chosen) >=
		(int)sizeof(text))
		return NULL;
	return text;
}

/* Waits for the pager at exit: the shell would take the terminal from it. */
static void wait_for_pager(void)
{
	fflush(stdout);
	fclose(stdout);
	close(STDERR_FILENO); /* may be the pipe, too */
	while (waitpid(pager, NULL, 0) < 0 && errno == EINTR)
		;
}

static void run(const char *words, const int ends[2])
{
	dup2(ends[0], STDIN_FILENO);
	close(ends[0]);
	close(ends[1]);
	setenv("LESS", LESS_OPTIONS, 0);
	setenv("LV", "-c", 0);
	execl("/bin/sh", "sh", "-c", words, (char *)NULL);
	_exit(127);
}

static void divert(const int ends[2])
{
	fflush(stdout);
	dup2(ends[1], STDOUT_FILENO);
	if (isatty(STDERR_FILENO))
		dup2(ends[1], STDERR_FILENO);
	close(ends[0]);
	close(ends[1]);
	/* Ctrl-C is the pager's: when that ends, the next write ends this process */
	signal(SIGINT, SIG_IGN);
	signal(SIGQUIT, SIG_IGN);
	atexit(wait_for_pager);
}

bool pager_start(void)
{
	const char *term = getenv("TERM"), *words;
	int ends[2];

	if (pager_runs())
		return true;
	if (!isatty(STDOUT_FILENO) || !term || strcmp(term, "dumb") == 0)
		return false;
	words = command();
	if (!words || pipe2(ends, O_CLOEXEC) != 0)
		return false;
	fflush(stderr);
	pager = fork();
	if (pager == 0)
		run(words, ends);
	if (pager > 0) {
		divert(ends);
	} else {
		close(ends[0]);
		close(ends[1]);
	}
	return pager_runs();
}
