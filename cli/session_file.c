/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "session_file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "alloc.h"
#include "clock.h"
#include "cpu_time.h"
#include "version.h"

void session_info_start(struct session_info *info)
{
	info->start_ns = mg_monotonic_ns();
	info->stolen_ns[0] = stolen_cpu_ns();
}

void session_info_stop(struct session_info *info)
{
	info->stop_ns = mg_monotonic_ns();
	info->stolen_ns[1] = stolen_cpu_ns();
	mg_clock_sync_read(&info->clock[1], 100);
}

void session_info_begin(struct session_info *info, const char *command, char **argv)
{
	info->command = command;
	info->argv = argv;
	clock_gettime(CLOCK_REALTIME, &info->began);
	session_info_start(info);
	mg_clock_sync_read(&info->clock[0], 100);
}

static json_t *iso_time(const struct timespec *t)
{
	char text[40];
	size_t n;

	n = strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%S", gmtime(&t->tv_sec));
	snprintf(text + n, sizeof(text) - n, ".%06ldZ", t->tv_nsec / 1000);
	return json_string(text);
}

/* Writes host and boot, to which the clocks belong. */
static json_t *boot_id(void)
{
	FILE *f = fopen("/proc/sys/kernel/random/boot_id", "re");
	char line[64] = "";

	if (f && !fgets(line, sizeof(line), f))
		line[0] = 0;
	if (f)
		fclose(f);
	line[strcspn(line, "\n")] = 0;
	return line[0] ? json_string(line) : json_null();
}

static json_t *cpu_model(void)
{
	FILE *f = fopen("/proc/cpuinfo", "re");
	json_t *model = NULL;
	char line[256];

	while (f && !model && fgets(line, sizeof(line), f)) {
		char *colon = strchr(line, ':');

		if (strncmp(line, "model name", 10) != 0 || !colon)
			continue;
		line[strcspn(line, "\n")] = 0;
		model = json_string(colon + 2);
	}
	if (f)
		fclose(f);
	return model ? model : json_null();
}

/* Returns an argument as JSON takes it: it may hold any bytes, JSON takes only UTF-8. */
static json_t *text(const char *s)
{
	json_t *j = json_string(s);

	return j ? j : json_string("(not UTF-8)");
}

/* Adds why a side ended before the recording did. */
static void note_end(json_t *side, const char *by)
{
	if (by && by[0])
		json_object_set_new(side, "ended", text(by));
}

static json_t *app_side(const struct session_info *info, const struct collector_result *app)
{
	json_t *j;

	if (!info->has_app)
		return json_null();
	if (info->app_session) /* LTTng counts what it loses, and not what it records */
		return json_pack("{s:o, s:n, s:I}", "lttng_session", text(info->app_session),
			"events", "discarded", (json_int_t)app->discarded);
	j = json_pack("{s:I, s:I, s:I, s:I, s:I, s:I, s:b}", "events", (json_int_t)app->events,
		"discarded", (json_int_t)app->discarded, "daemon_cpu_ns", (json_int_t)app->cpu_ns,
		"setup_cpu_ns", (json_int_t)app->setup_cpu_ns, "running_ns",
		(json_int_t)app->running_ns, "running_cpu_ns", (json_int_t)app->running_cpu_ns,
		"written_out", app->complete);
	json_object_set_new(j, "not_outer", json_integer((json_int_t)app->not_outer));
	if (info->app_missing[0])
		json_object_set_new(j, "missing", text(info->app_missing));
	note_end(j, info->app_ended);
	return j;
}

static json_t *kernel_side(const struct session_info *info, const json_t *tracer)
{
	json_t *j;

	if (!info->has_kernel)
		return info->kernel_missing[0]
			       ? json_pack("{s:o}", "missing", text(info->kernel_missing))
			       : json_null();
	if (!tracer && !(info->kernel_ended && info->kernel_ended[0]))
		return json_null();
	j = tracer ? json_deep_copy(tracer) : json_object();
	json_object_del(j, "done");
	json_object_del(j, "callers");
	note_end(j, info->kernel_ended);
	return j;
}

/* Adds clock readings, which a trace without a kernel side has not. */
static json_t *clock_readings(const struct session_info *info)
{
	json_t *all = json_array();

	for (int i = 0; i < 2 && info->clock[i].mono_ns; i++)
		json_array_append_new(all,
			json_pack("{s:I, s:I, s:I}", "mono_ns", (json_int_t)info->clock[i].mono_ns,
				"cycles", (json_int_t)info->clock[i].cycles, "half_width",
				(json_int_t)info->clock[i].half_width));
	return all;
}

/* Creates a file for its owner alone, and replaces one that a killed process has left. */
static int make_file(const char *path)
{
	if (unlink(path) != 0 && errno != ENOENT)
		return -1;
	errno = ENOMEM;
	return open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
}

static bool write_all(int fd, const char *text)
{
	size_t left = strlen(text);

	while (left) {
		ssize_t n = write(fd, text, left);

		if (n < 0 && errno != EINTR)
			return false;
		text += n < 0 ? 0 : n;
		left -= n < 0 ? 0 : (size_t)n;
	}
	return true;
}

int session_file_write(const char *dir, const struct session_info *info,
	const struct collector_result *app, const json_t *tracer)
{
	char path[PATH_MAX], temporary[PATH_MAX], *words;
	unsigned long refused = mg_memory_failures();
	json_t *root = json_object(), *argv = json_array();
	const char *why = NULL;
	bool invariant = mg_counter_invariant(&why);
	struct utsname u;
	int err, fd;

	uname(&u);
	for (char **a = info->argv; a && *a && a - info->argv < info->argc; a++)
		json_array_append_new(argv, text(*a));
	json_object_set_new(root, "command", text(info->command));
	json_object_set_new(root, "argv", argv);
	if (info->selection[0])
		json_object_set_new(root, "selection", text(info->selection));
	json_object_set_new(root, "started", iso_time(&info->began));
	json_object_set_new(root, "start_ns", json_integer((json_int_t)info->start_ns));
	json_object_set_new(root, "stop_ns",
		info->stop_ns ? json_integer((json_int_t)info->stop_ns) : json_null());
	json_object_set_new(root, "duration_ns",
		info->stop_ns ? json_integer((json_int_t)(info->stop_ns - info->start_ns))
			      : json_null());
	json_object_set_new(root, "complete", json_boolean(info->complete));
	json_object_set_new(
		root, "exit_status", info->ended ? json_integer(info->status) : json_null());
	json_object_set_new(
		root, "signal", info->signal ? json_integer(info->signal) : json_null());
	json_object_set_new(root, "host", text(u.nodename));
	json_object_set_new(root, "boot_id", boot_id());
	json_object_set_new(root, "kernel", text(u.release));
	json_object_set_new(root, "machine", text(u.machine));
	json_object_set_new(root, "cpu", cpu_model());
	json_object_set_new(root, "cpus", json_integer(sysconf(_SC_NPROCESSORS_ONLN)));
	json_object_set_new(root, "steal_ns",
		info->stop_ns && info->stolen_ns[0] >= 0 && info->stolen_ns[1] >= info->stolen_ns[0]
			? json_integer(info->stolen_ns[1] - info->stolen_ns[0])
			: json_null());
	json_object_set_new(root, "counter_invariant", json_boolean(invariant));
	json_object_set_new(root, "counter_problem", why ? json_string(why) : json_null());
	json_object_set_new(root, "clock", clock_readings(info));
	json_object_set_new(root, "magnet_version", json_string(MAGNET_VERSION));
	json_object_set_new(root, "app", app_side(info, app));
	if (!info->has_app && info->app_missing[0])
		json_object_set_new(root, "app_missing", text(info->app_missing));
	json_object_set_new(root, "kernel_side", kernel_side(info, tracer));

	snprintf(path, sizeof(path), "%.4000s/session.json", dir);
	snprintf(temporary, sizeof(temporary), "%.4000s/.session.json.new", dir);
	/* in one piece: json_dumpfd() makes a system call for each word */
	words = json_dumps(root, JSON_INDENT(2) | JSON_ENSURE_ASCII);
	errno = ENOMEM; /* an object is incomplete only for lack of memory */
	fd = words && mg_memory_failures() == refused ? make_file(temporary) : -1;
	err = fd < 0 || !write_all(fd, words) || rename(temporary, path);
	err = err ? errno : 0;
	free(words);
	json_decref(root);
	if (fd >= 0)
		close(fd);
	if (err)
		unlink(temporary);
	errno = err;
	return err ? -1 : 0;
}
