/* SPDX-License-Identifier: MIT */
#include "paths.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

bool find_part(
	char path[PATH_MAX], const char *build_dir, const char *install_dir, const char *name)
{
	char self[PATH_MAX];
	ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);
	char *slash;

	if (n > 0) {
		self[n] = 0;
		slash = strrchr(self, '/');
		if (slash)
			*slash = 0;
		if (snprintf(path, PATH_MAX, "%s/../%s/%s", self, build_dir, name) < PATH_MAX &&
			access(path, R_OK) == 0)
			return true;
	}
	return snprintf(path, PATH_MAX, "%s/%s", install_dir, name) < PATH_MAX &&
	       access(path, R_OK) == 0;
}

bool find_tracer(char path[PATH_MAX])
{
	return find_part(path, "kernel-tracer", MAGNET_BINDIR, "magnet-kernel-tracer");
}

const char *find_library(char path[PATH_MAX])
{
	if (!find_part(path, "preload", MAGNET_LIBDIR, "libmagnet.so"))
		return "libmagnet.so is not where it belongs: install magnet again";
	if (strpbrk(path, " :")) /* LD_PRELOAD is a list */
		return "libmagnet.so is where the dynamic linker loads none from: magnet must be "
		       "below a directory without spaces and colons in its path";
	return NULL;
}
