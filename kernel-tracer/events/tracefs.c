/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE

#include "events/tracefs.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "alloc.h"

/* values from <linux/mount.h>, which on some systems collides with <sys/mount.h> */
#define FSOPEN_CLOEXEC_FLAG  1u
#define FSMOUNT_CLOEXEC_FLAG 1u
#define FSCONFIG_CREATE      6

/* Mounts tracefs detached: no other process sees the mount, and it ends with its descriptor. */
static int mount_detached(void)
{
	int fs = (int)syscall(SYS_fsopen, "tracefs", FSOPEN_CLOEXEC_FLAG), fd = -1, err = 0;

	if (fs < 0)
		return -errno;
	if (syscall(SYS_fsconfig, fs, FSCONFIG_CREATE, NULL, NULL, 0) != 0)
		err = -errno;
	else if ((fd = (int)syscall(SYS_fsmount, fs, FSMOUNT_CLOEXEC_FLAG, 0)) < 0)
		err = -errno;
	close(fs);
	return err ? err : fd;
}

/* Returns 0 if the list of events can be read below `fd`. */
static int has_events(int fd)
{
	int events = openat(fd, "events", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (events < 0)
		return -errno;
	close(events);
	return 0;
}

int tracefs_open(char *why, size_t why_size)
{
	static const char *const mounted[] = {"/sys/kernel/tracing", "/sys/kernel/debug/tracing"};
	bool forbidden = false;
	int fd, err;

	for (size_t i = 0; i < sizeof(mounted) / sizeof(mounted[0]); i++) {
		fd = open(mounted[i], O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		err = fd < 0 ? -errno : has_events(fd);
		if (!err)
			return fd;
		forbidden = forbidden || err == -EACCES;
		if (fd >= 0)
			close(fd);
	}
	fd = mount_detached();
	err = fd < 0 ? fd : has_events(fd);
	if (!err)
		return fd;
	if (fd >= 0)
		close(fd);
	if (err == -ENODEV || err == -ENOENT)
		snprintf(why, why_size,
			"this kernel does not describe its tracepoints (it has no tracefs: "
			"CONFIG_EVENT_TRACING)");
	else if (forbidden || fd >= 0)
		snprintf(why, why_size,
			"the kernel's list of events (tracefs) cannot be read: it takes root, or "
			"CAP_DAC_READ_SEARCH");
	else
		snprintf(why, why_size,
			"the kernel's list of events cannot be read: tracefs is not mounted, and "
			"mounting it fails (%s); it takes CAP_SYS_ADMIN",
			strerror(-err));
	return err;
}

char *tracefs_read(int tracefs, const char *path)
{
	size_t used = 0, size = 0;
	char *text = NULL;
	int fd = openat(tracefs, path, O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		return NULL;
	for (;;) {
		ssize_t n;

		if (size - used < 4096) {
			char *more = mg_realloc(text, size += 16384);

			if (!more)
				break;
			text = more;
		}
		n = read(fd, text + used, size - used - 1);
		if (n <= 0) {
			close(fd);
			text[used] = 0;
			return text;
		}
		used += (size_t)n;
	}
	close(fd);
	free(text);
	return NULL;
}

static int by_name(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

char **tracefs_list(int tracefs, const char *path)
{
	int fd = openat(tracefs, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *d = fd >= 0 ? mg_checked(fdopendir(fd)) : NULL;
	char **names = NULL;
	struct dirent *e;
	size_t n = 0;

	while (d && (e = readdir(d))) {
		char **more;

		if (e->d_type != DT_DIR || e->d_name[0] == '.')
			continue;
		more = mg_realloc(names, (n + 2) * sizeof(*more));
		if (!more)
			break;
		names = more;
		names[n] = mg_strdup(e->d_name);
		names[n + 1] = NULL;
		n += names[n] != NULL;
	}
	if (d)
		closedir(d);
	else if (fd >= 0)
		close(fd);
	if (n)
		qsort(names, n, sizeof(*names), by_name);
	return names;
}

void tracefs_list_free(char **names)
{
	for (char **p = names; p && *p; p++)
		free(*p);
	free(names);
}

/* Extracts the reason, which follows "parse_error: " in the event's filter file. */
static void reason_in(const char *text, char *out, size_t size)
{
	const char *reason = strstr(text, "parse_error: ");

	if (reason)
		snprintf(out, size, "%.*s", (int)strcspn(reason + 13, "\n"), reason + 13);
}

/*
 * perf reports no reason, so the filter is written in a tracing instance made for this purpose and
 * removed at once.
 */
void tracefs_filter_reason(int tracefs, const char *category, const char *name, const char *filter,
	char *out, size_t size)
{
	char instance[64], path[512];
	char *text = NULL;
	int fd;

	out[0] = 0;
	snprintf(instance, sizeof(instance), "instances/magnet-%d", (int)getpid());
	if (mkdirat(tracefs, instance, 0700) != 0)
		return;
	snprintf(path, sizeof(path), "%s/events/%s/%s/filter", instance, category, name);
	fd = openat(tracefs, path, O_WRONLY | O_CLOEXEC);
	if (fd >= 0) {
		if (write(fd, filter, strlen(filter)) < 0)
			text = tracefs_read(tracefs, path);
		close(fd);
	}
	if (text)
		reason_in(text, out, size);
	free(text);
	unlinkat(tracefs, instance, AT_REMOVEDIR);
}
