/* SPDX-License-Identifier: MIT */
/* magnet-kernel-tracer ctl: sends requests to a running tracer. */
#define _GNU_SOURCE
#include "control/ctl.h"

#include <errno.h>
#include <getopt.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "log.h"
#include "options.h"
#include "printable.h"
#include "control/control.h"
#include "control/control_dir.h"

#define USAGE 2

static const char usage[] =
	"usage: magnet-kernel-tracer ctl [--pid PID | --socket PATH] [--json] COMMAND\n"
	"\n"
	"Speaks to a tracer that runs; to the only one if there is one.\n"
	"\n"
	"  status           what it does, with what, and what came of it\n"
	"  dump             write what the flight recorder has in memory\n"
	"  pause            record nothing, until\n"
	"  resume           it does again\n"
	"  set NAME=VALUE   change a setting: drain, layers, level, or a filter\n"
	"  stop             end the recording in order\n"
	"\n"
	"      --pid PID       the tracer's process\n"
	"      --socket PATH   where it was told to answer\n"
	"      --json          the answer as it comes\n"
	"  -h, --help\n";

/* ---- which tracer ---- */

struct living {
	char path[PATH_MAX], pids[200];
	int count;
};

static void lives(void *arg, const char *path, int pid)
{
	struct living *l = arg;
	size_t used = strlen(l->pids);

	snprintf(l->path, sizeof(l->path), "%s", path);
	snprintf(l->pids + used, sizeof(l->pids) - used, "%s%d", l->count++ ? ", " : "", pid);
}

static bool choose(char *path, size_t size, const char *given)
{
	struct living l = {.count = 0};

	if (given) {
		snprintf(path, size, "%s", given);
		return true;
	}
	if (access(CONTROL_DIR, R_OK | X_OK) != 0 && errno != ENOENT) {
		mg_error(CONTROL_DIR ": %s; only root speaks to tracers", strerror(errno));
		return false;
	}
	control_each(lives, &l);
	if (l.count == 1) {
		snprintf(path, size, "%s", l.path);
		return true;
	}
	if (l.count)
		mg_error("several tracers run: choose one with --pid: %s", l.pids);
	else
		mg_error("no tracer runs (one that was told to answer elsewhere takes --socket)");
	return false;
}

/* ---- asking ---- */

static int speak(const char *path)
{
	struct sockaddr_un a = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (strlen(path) >= sizeof(a.sun_path))
		errno = ENAMETOOLONG;
	else
		strcpy(a.sun_path, path);
	if (fd >= 0 && a.sun_path[0] && connect(fd, (void *)&a, sizeof(a)) == 0)
		return fd;
	mg_error("%s: %s", path,
		errno == ECONNREFUSED || errno == ENOENT ? "no tracer answers there"
							 : strerror(errno));
	if (fd >= 0)
		close(fd);
	return -1;
}

static json_t *ask(const char *path, json_t *request)
{
	struct timeval patience = {30, 0};
	int fd = speak(path);
	json_t *reply;
	FILE *f;

	if (fd < 0)
		return NULL;
	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
	f = fdopen(fd, "r+");
	if (!f) {
		close(fd);
		return NULL;
	}
	json_dumpf(request, f, JSON_COMPACT);
	fputc('\n', f);
	fflush(f);
	reply = json_loadf(f, JSON_DISABLE_EOF_CHECK, NULL);
	fclose(f);
	if (!reply)
		mg_error("%s: the tracer does not answer", path);
	return reply;
}

/* ---- status in words ---- */

static long long at(const json_t *j, const char *name)
{
	return (long long)json_integer_value(json_object_get(j, name));
}

/* Returns a string of the answer made printable, as a directory's name may hold any character. */
static const char *plain(const json_t *j, char out[PATH_MAX])
{
	const char *text = json_string_value(j);

	return mg_escape(out, PATH_MAX, text ? text : "-");
}

static void print_value(const json_t *v)
{
	char text[PATH_MAX];

	if (json_is_string(v))
		printf("%s", plain(v, text));
	else if (json_is_boolean(v))
		printf("%s", json_is_true(v) ? "yes" : "no");
	else if (json_is_integer(v))
		printf("%lld", (long long)json_integer_value(v));
	else
		printf("-");
}

static void print_status(json_t *j)
{
	const json_t *one;
	char text[PATH_MAX];
	const char *name;
	size_t i;

	printf("%s, process %lld, ", plain(json_object_get(j, "state"), text), at(j, "pid"));
	printf("for %.1f s, into %s\n", (double)at(j, "for_ns") / 1e9,
		plain(json_object_get(j, "trace"), text));
	printf("%lld events, %lld bytes, %lld lost, %lld not recorded while paused; %.3f s of CPU "
	       "time\n",
		at(j, "events"), at(j, "bytes"), at(j, "lost"), at(j, "not_recorded"),
		(double)at(j, "cpu_ns") / 1e9);
	printf("\nparameters\n");
	json_object_foreach (json_object_get(j, "parameters"), name, one) {
		printf("  %-16s ", name);
		print_value(one);
		putchar('\n');
	}
	printf("\nCPU          events       chosen         lost\n");
	json_array_foreach (json_object_get(j, "cpus"), i, one)
		printf("%3lld    %12lld %12lld %12lld\n", at(one, "cpu"), at(one, "events"),
			at(one, "chosen"), at(one, "lost"));
	printf("\nevents\n");
	json_object_foreach (json_object_get(j, "counts"), name, one)
		printf("  %-16s %12lld\n", name, (long long)json_integer_value(one));
	if (json_array_size(json_object_get(j, "skipped")))
		printf("\nskipped, since the program had interrupted itself\n");
	json_array_foreach (json_object_get(j, "skipped"), i, one)
		printf("  %-16s %12lld\n", json_string_value(json_object_get(one, "event")),
			at(one, "skipped"));
	printf("\nhooks\n");
	json_array_foreach (json_object_get(j, "hooks"), i, one) {
		int status = (int)at(one, "status");

		printf("  %-8s %-24s %s", json_string_value(json_object_get(one, "layer")),
			json_string_value(json_object_get(one, "hook")),
			status == -ENOLINK ? "off"
			: status           ? strerror(-status)
					   : "attached");
		if (at(one, "netns"))
			printf(", namespace %lld", at(one, "netns"));
		putchar('\n');
	}
}

/* ---- the command ---- */

static json_t *request_of(int argc, char **argv)
{
	json_t *request = json_object();
	char *equals;

	json_object_set_new(request, "command", json_string(argv[0]));
	if (strcmp(argv[0], "set") != 0 && argc == 1)
		return request;
	equals = argc == 2 && strcmp(argv[0], "set") == 0 ? strchr(argv[1], '=') : NULL;
	if (!equals) {
		if (strcmp(argv[0], "set") == 0)
			mg_error("set takes one NAME=VALUE (see magnet-kernel-tracer ctl --help)");
		else
			mg_error("%s takes no arguments", argv[0]);
		json_decref(request);
		return NULL;
	}
	*equals = 0;
	json_object_set_new(request, "name", json_string(argv[1]));
	json_object_set_new(request, "value", json_string(equals + 1));
	return request;
}

static int say(json_t *reply, bool json)
{
	const char *error = json_string_value(json_object_get(reply, "error"));
	bool ok = json_is_true(json_object_get(reply, "ok"));
	char text[PATH_MAX];

	if (json) {
		json_dumpf(reply, stdout, JSON_INDENT(2) | JSON_ENSURE_ASCII);
		putchar('\n');
	} else if (!ok) {
		mg_error("%s", error ? error : "refused");
	} else if (json_object_get(reply, "dump")) {
		puts(plain(json_object_get(reply, "dump"), text));
	} else if (json_object_get(reply, "counts")) {
		print_status(reply);
	}
	return ok && fflush(stdout) == 0 ? 0 : 1;
}

int ctl_main(int argc, char **argv)
{
	enum { PID = 256, SOCKET, JSON };
	static const struct option longs[] = {
		{"pid", required_argument, NULL, PID},
		{"socket", required_argument, NULL, SOCKET},
		{"json", no_argument, NULL, JSON},
		{"help", no_argument, NULL, 'h'},
		{0},
	};
	char path[PATH_MAX], of_pid[64];
	const char *given = NULL;
	json_t *request, *reply;
	bool json = false;
	uint64_t n;
	int c, status;

	while ((c = option_next(argc, argv, "+h", longs, NULL)) != -1) {
		switch (c) {
		case PID:
			if (!option_number(optarg, 1, INT_MAX, &n)) {
				mg_error("--pid: bad value '%s': it takes %s", optarg,
					option_takes());
				return USAGE;
			}
			snprintf(of_pid, sizeof(of_pid), CONTROL_DIR "/kernel-tracer-%d.sock",
				(int)n);
			given = of_pid;
			break;
		case SOCKET:
			given = optarg;
			break;
		case JSON:
			json = true;
			break;
		case 'h':
			fputs(usage, stdout);
			return 0;
		default:
			return USAGE;
		}
	}
	if (optind == argc) {
		mg_error("ctl what? Give a command (see magnet-kernel-tracer ctl --help)");
		return USAGE;
	}
	request = request_of(argc - optind, argv + optind);
	if (!request)
		return USAGE;
	reply = choose(path, sizeof(path), given) ? ask(path, request) : NULL;
	status = reply ? say(reply, json) : 1;
	json_decref(request);
	json_decref(reply);
	return status;
}
