/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "log.h"

#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "printable.h"

void mg_standard_fds(void)
{
	for (int fd = 0; fd <= 2; fd++)
		if (fcntl(fd, F_GETFD) < 0) /* open() takes the lowest number */
			open("/dev/null", (fd ? O_RDONLY : O_WRONLY) | O_CLOEXEC);
}

static const char *name = "magnet";

void mg_log_name(const char *program)
{
	name = program;
}

/*
 * Writes a message in one write, so that lines of several processes do not mix. Values of options
 * and names of a trace may be in it: they must not be orders to the terminal.
 */
static void line(const char *level, const char *fmt, va_list ap)
{
	char buf[4400], plain[8800];
	int n = snprintf(buf, sizeof(buf), "%s: %s", name, level);

	vsnprintf(buf + n, sizeof(buf) - n, fmt, ap);
	fprintf(stderr, "%s\n", mg_escape(plain, sizeof(plain), buf));
}

#define LOGGER(fn, level, condition)  \
	void fn(const char *fmt, ...) \
	{                             \
		va_list ap;           \
		if (!(condition))     \
			return;       \
		va_start(ap, fmt);    \
		line(level, fmt, ap); \
		va_end(ap);           \
	}
LOGGER(mg_error, "", 1)
LOGGER(mg_warn, "warning: ", 1)
LOGGER(mg_debug, "debug: ", getenv("MAGNET_DEBUG"))
