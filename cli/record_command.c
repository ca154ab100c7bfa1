/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "record_command.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "app_ring.h"
#include "commands.h"
#include "log.h"
#include "paths.h"

void record_look_at_command(struct recording *r)
{
	const struct mg_program_kind *k = &r->kind;

	if (!r->o.command || !r->o.app)
		return;
	mg_program_look_search(&r->kind, r->o.command[0], getenv("PATH"));
	if (k->preload != MG_PRELOAD_REFUSED)
		return;
	if (k->loader[0])
		snprintf(r->info.app_missing, sizeof(r->info.app_missing),
			"libmagnet.so cannot be preloaded where %s loads the program", k->loader);
	else
		snprintf(r->info.app_missing, sizeof(r->info.app_missing),
			"libmagnet.so cannot be preloaded into a program of another machine or "
			"word length");
	mg_warn("%s: %s; its calls are recorded by the kernel side only", r->o.command[0],
		r->info.app_missing);
}

/*
 * Puts libmagnet.so and its rings into the environment; without rings, "", it logs to LTTng.
 * Returns false without memory.
 */
static bool preload(const struct mg_program_kind *k, const char *rings)
{
	char library[PATH_MAX], value[2 * PATH_MAX + sizeof(k->runtime)];
	const char *others = getenv("LD_PRELOAD"), *runtime = "";

	if (find_library(library) || k->preload == MG_PRELOAD_REFUSED)
		return true;
	others = others ? others : "";
	if (k->preload == MG_PRELOAD_AFTER_RUNTIME && !strstr(others, k->runtime)) {
		runtime = k->runtime;
		if (setenv(MG_RUNTIME_ENV, runtime, 1) != 0)
			return false;
	}
	snprintf(value, sizeof(value), "%s%s%s%s%s", runtime, runtime[0] ? ":" : "", others,
		others[0] ? ":" : "", library);
	if (setenv("LD_PRELOAD", value, 1) != 0)
		return false;
	return rings[0] ? setenv(MG_POOL_ENV, rings, 1) == 0 : unsetenv(MG_POOL_ENV) == 0;
}

/* Runs in the child: waits for its rings, and becomes COMMAND. Does not return. */
static void become_command(struct recording *r, int gate, int not_run)
{
	int err;
	char rings[sizeof(r->collector.rings)];
	ssize_t n = read(gate, rings, sizeof(rings));

	if (n <= 0)
		_exit(125);
	if ((rings[0] || r->o.in_session) &&
		!preload(&r->kind, rings)) { /* "": there is no application side */
		mg_error("%s is not run: out of memory", r->o.command[0]);
		_exit(EXIT_FAILED);
	}
	signal(SIGPIPE, r->on_sigpipe);
	signal(SIGXFSZ, r->on_sigxfsz);
	mg_limits_restore(&r->limits, MG_LIMIT_SPACE);
	sigprocmask(SIG_SETMASK, &r->mask, NULL);
	execvp(r->o.command[0], r->o.command);
	err = errno;
	mg_error("cannot run %s: %s", r->o.command[0], strerror(err));
	if (write(not_run, &err, sizeof(err)) != sizeof(err))
		mg_debug("the recording of a command that did not run is kept");
	_exit(err == ENOENT ? 127 : 126);
}

int record_start_command(struct recording *r)
{
	int gate[2], not_run[2];

	if (pipe2(gate, O_CLOEXEC) != 0 || pipe2(not_run, O_CLOEXEC) != 0)
		return -errno;
	r->child = fork();
	if (r->child < 0)
		return -errno;
	if (r->child == 0) {
		close(gate[1]);
		become_command(r, gate[0], not_run[1]);
	}
	close(gate[0]);
	close(not_run[1]); /* COMMAND's own end is closed once it runs */
	r->gate = gate[1];
	r->not_run = not_run[0];
	return 0;
}

bool record_command_has_run(const struct recording *r)
{
	int err;

	return r->not_run < 0 || r->child > 0 || read(r->not_run, &err, sizeof(err)) != sizeof(err);
}
