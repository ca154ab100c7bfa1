/* SPDX-License-Identifier: MIT */
/* magnet ctl: becomes magnet-kernel-tracer ctl. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "alloc.h"
#include "commands.h"
#include "log.h"
#include "paths.h"

int cmd_ctl(int argc, char **argv)
{
	char program[PATH_MAX];
	char **args = mg_calloc((size_t)argc + 2, sizeof(*args));

	if (!find_tracer(program)) {
		mg_error("magnet-kernel-tracer is not installed, which has this command");
		free(args);
		return EXIT_FAILED;
	}
	if (args) {
		args[0] = "magnet"; /* by which its messages name the command */
		args[1] = "ctl";
		memcpy(args + 2, argv + 1, (size_t)(argc - 1) * sizeof(*args));
		execv(program, args);
	}
	mg_error("cannot run %s: %s", program, strerror(errno));
	free(args);
	return EXIT_FAILED;
}
