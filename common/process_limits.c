/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "process_limits.h"

#include <errno.h>
#include <stdio.h>

#define FILES_ENOUGH 65536 /* infinity is more than the kernel allows */

static const struct {
	int resource;
	rlim_t enough;
	int err;
	char option;
	unsigned int unit; /* unit of the shell's option, bytes */
} limits[MG_LIMITS] = {
	[MG_LIMIT_FILES] = {RLIMIT_NOFILE, FILES_ENOUGH, EMFILE, 'n', 1},
	[MG_LIMIT_FILE_SIZE] = {RLIMIT_FSIZE, RLIM_INFINITY, EFBIG, 'f', 1024},
	[MG_LIMIT_SPACE] = {RLIMIT_AS, RLIM_INFINITY, ENOMEM, 'v', 1024},
};

void mg_limits_raise(struct mg_limits *l, int count)
{
	for (int i = 0; i < count; i++) {
		struct rlimit now, all;

		getrlimit(limits[i].resource, &l->was[i]);
		now = all = l->was[i];
		if (all.rlim_max < limits[i].enough) /* raising the hard limit takes a privilege */
			all.rlim_max = limits[i].enough;
		all.rlim_cur = all.rlim_max;
		now.rlim_cur = now.rlim_max;
		if (setrlimit(limits[i].resource, &all) != 0)
			setrlimit(limits[i].resource, &now);
	}
}

void mg_limits_restore(const struct mg_limits *l, int count)
{
	for (int i = 0; i < count; i++)
		setrlimit(limits[i].resource, &l->was[i]);
}

const char *mg_limit_hint(int err, char *out, size_t size)
{
	struct rlimit l;

	out[0] = 0;
	for (int i = 0; i < MG_LIMITS; i++)
		if (err == -limits[i].err && getrlimit(limits[i].resource, &l) == 0 &&
			l.rlim_cur != RLIM_INFINITY)
			snprintf(out, size, " (raise ulimit -%c, which is %llu)", limits[i].option,
				(unsigned long long)l.rlim_cur / limits[i].unit);
	return out;
}
