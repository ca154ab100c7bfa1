/* SPDX-License-Identifier: MIT */
/* magnet: finds the subcommand. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "commands.h"
#include "log.h"
#include "version.h"

/* sorted by name */
static const struct {
	const char *name;
	int (*run)(int argc, char **argv);
	const char *what;
} commands[] = {
	{"annotate", cmd_annotate, "add to a capture's packets what a recording knows of them"},
	{"ctl", cmd_ctl, "query or control a running recording"},
	{"doctor", cmd_doctor, "say whether a recording would be complete here, and how to fix it"},
	{"export", cmd_export, "write a recording in a format that other programs read"},
	{"plot", cmd_plot, "draw a figure of a recording, with its data beside it"},
	{"record", cmd_record, "run a program and record its traffic through every layer"},
	{"report", cmd_report, "print where bytes waited, and how the stack changed the traffic"},
	{"show", cmd_show, "print every event in order of time"},
	{"top", cmd_top, "show connections, their rates and where their bytes wait, live"},
};
#define COMMANDS (sizeof(commands) / sizeof(commands[0]))

static void help(FILE *to)
{
	fprintf(to, "usage: magnet COMMAND [ARG...]\n\n");
	for (size_t i = 0; i < COMMANDS; i++)
		fprintf(to, "  %-9s %s\n", commands[i].name, commands[i].what);
	fprintf(to, "\n  -h, --help     print this help; magnet help COMMAND describes a command\n"
		    "      --version  print the version\n");
}

static int compare(const void *key, const void *row)
{
	return strcmp(key, *(const char *const *)row);
}

/* Names the commands that there are. Returns EXIT_USAGE. */
static int no_command(const char *name)
{
	char names[160] = "";
	size_t used = 0;

	for (size_t i = 0; i < COMMANDS && used < sizeof(names); i++)
		used += (size_t)snprintf(names + used, sizeof(names) - used, "%s%s", i ? ", " : "",
			commands[i].name);
	mg_error("there is no command '%s': it is one of %s", name, names);
	return EXIT_USAGE;
}

int main(int argc, char **argv)
{
	static char name[48], *described[4] = {name};
	const void *row;

	mg_standard_fds();
	if (argc < 2) {
		help(stderr);
		return EXIT_USAGE;
	}
	if (strcmp(argv[1], "help") == 0 && argc > 2) { /* magnet help COMMAND */
		described[1] = argv[2];
		described[2] = "--help";
		argv = described;
		argc = 3;
	}
	if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0 ||
		strcmp(argv[1], "help") == 0) {
		help(stdout);
		return EXIT_DONE;
	}
	if (strcmp(argv[1], "--version") == 0) {
		puts("magnet " MAGNET_VERSION);
		return EXIT_DONE;
	}
	row = bsearch(argv[1], commands, COMMANDS, sizeof(commands[0]), compare);
	if (!row) {
		return no_command(argv[1]);
	}
	/* the name by which getopt() would call the program */
	snprintf(name, sizeof(name), "magnet %.32s", argv[1]);
	argv[1] = name;
	return ((const __typeof__(commands[0]) *)row)->run(argc - 1, argv + 1);
}
