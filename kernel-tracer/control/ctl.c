/* SPDX-License-Identifier: MIT */
/* magnet ctl, or magnet-kernel-tracer ctl: sends requests to a running tracer. */
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
#include "printable.h"
#include "recorder_options.h"
#include "control/control.h"
#include "control/control_dir.h"

#define USAGE 2

static const char usage[] =
	"usage: magnet ctl [--pid PID | --socket PATH] [--json] COMMAND\n"
	"\n"
	"Queries or controls a running tracer. Without --pid and --socket only one tracer may be\n"
	"running. COMMAND is one of:\n"
	"\n"
	"  status           print the state, the options, and the counts of events and losses\n"
	"  dump             write the events in the flight recorder's memory\n"
	"  pause            record nothing until resume\n"
	"  resume           record again\n"
	"  set NAME=VALUE   change one of these options:\n"
	"                   %s\n"
	"  stop             end the recording normally\n"
	"\n";

struct ctl_options {
	uint64_t pid;
	const char *socket;
	bool json, help;
};

#define AT(member) offsetof(struct ctl_options, member)
static const struct option_row rows[] = {
	{"--pid", "PID", "process of the tracer", &option_type_number, 1, INT_MAX, AT(pid), 1, 0,
		0},
	{"--socket", "PATH", "control socket of the tracer, if it is not the usual one",
		&option_type_text, 0, 0, AT(socket), 1, 0, 0},
	{"--json", NULL, "print the answer as JSON", &option_type_flag, 0, 0, AT(json), 1, 0, 0},
	{"--help", NULL, "print this help", &option_type_help, 0, 0, AT(help), 1, OPTION_LAST, 'h'},
};
#undef AT

/* Names the options that can be set. */
static void name_settable(char *out, size_t size)
{
	size_t used = 0;

	out[0] = 0;
	for (size_t i = 0; i < recorder_option_count && used < size; i++)
		if (recorder_option_rows[i].use & MG_SETTABLE)
			used += (size_t)snprintf(out + used, size - used, "%s%s", used ? ", " : "",
				option_row_name(&recorder_option_rows[i]));
}

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

/* Finds the socket of the tracer that was asked for. Returns false after a message. */
static bool choose(char *path, size_t size, const struct ctl_options *o)
{
	struct living l = {.count = 0};

	if (o->socket) {
		snprintf(path, size, "%s", o->socket);
		return true;
	}
	if (o->pid) {
		snprintf(path, size, CONTROL_DIR "/kernel-tracer-%d.sock", (int)o->pid);
		return true;
	}
	if (access(CONTROL_DIR, R_OK | X_OK) != 0 && errno != ENOENT) {
		mg_error(CONTROL_DIR ": %s; only root can control a tracer", strerror(errno));
		return false;
	}
	control_each(lives, &l);
	if (l.count == 1) {
		snprintf(path, size, "%s", l.path);
		return true;
	}
	if (l.count)
		mg_error("several tracers are running: choose one with --pid: %s", l.pids);
	else
		mg_error("no tracer is running (for one started with --control give --socket)");
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

static void print_one(const json_t *v)
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

/* Prints a value, or those of a list. */
static void print_value(const json_t *v)
{
	const json_t *one;
	size_t i;

	if (!json_array_size(v))
		print_one(v);
	json_array_foreach (v, i, one) {
		printf("%s", i ? ", " : "");
		print_one(one);
	}
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
		printf("\nskipped, because the program had interrupted itself\n");
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

static bool is_command(const char *name)
{
	static const char *const commands[] = {"dump", "pause", "resume", "set", "status", "stop"};

	for (size_t i = 0; i < sizeof(commands) / sizeof(commands[0]); i++)
		if (strcmp(commands[i], name) == 0)
			return true;
	return false;
}

/* Returns the request for the tracer; NULL after a message if the command is wrong. */
static json_t *request_of(int argc, char **argv)
{
	json_t *request;
	char *equals;

	if (!is_command(argv[0])) {
		mg_error("there is no command '%s' (see magnet ctl --help)", argv[0]);
		return NULL;
	}
	request = json_object();
	json_object_set_new(request, "command", json_string(argv[0]));
	if (strcmp(argv[0], "set") != 0 && argc == 1)
		return request;
	equals = argc == 2 && strcmp(argv[0], "set") == 0 ? strchr(argv[1], '=') : NULL;
	if (!equals) {
		if (strcmp(argv[0], "set") == 0)
			mg_error("set takes one NAME=VALUE (see magnet ctl --help)");
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
	char settable[200], help[sizeof(usage) + sizeof(settable)], path[PATH_MAX];
	const struct option_command c = {.usage = help,
		.rows = rows,
		.count = sizeof(rows) / sizeof(rows[0]),
		.command = 1,
		.command_follows = true};
	struct ctl_options o = {0};
	json_t *request, *reply = NULL;
	int status, err;

	mg_log_name("magnet");
	name_settable(settable, sizeof(settable));
	snprintf(help, sizeof(help), usage, settable);
	err = options_parse(&c, argc, argv, &o, NULL);
	if (err)
		return err > 0 ? 0 : USAGE;
	if (optind == argc) {
		mg_error("no command given (see magnet ctl --help)");
		return USAGE;
	}
	request = request_of(argc - optind, argv + optind);
	if (!request)
		return USAGE;
	if (choose(path, sizeof(path), &o))
		reply = ask(path, request);
	status = reply ? say(reply, o.json) : 1;
	json_decref(request);
	json_decref(reply);
	return status;
}
