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
	{"doctor", cmd_doctor, "print what this machine can and cannot trace, layer by layer"},
	{"record", cmd_record, "run a program and record its traffic through every layer"},
	{"report", cmd_report, "print where bytes waited, and how the stack changed the traffic"},
	{"show", cmd_show, "print every event in order of time"},
};
#define COMMANDS (sizeof(commands) / sizeof(commands[0]))

static void help(FILE *to)
{
	fprintf(to, "usage: magnet COMMAND [ARG...]\n\n");
	for (size_t i = 0; i < COMMANDS; i++)
		fprintf(to, "  %-8s %s\n", commands[i].name, commands[i].what);
	fprintf(to,
		"\n  -h, --help     print this help; magnet COMMAND --help describes a command\n"
		"      --version  print the version\n");
}

static int compare(const void *key, const void *row)
{
	return strcmp(key, *(const char *const *)row);
}

int main(int argc, char **argv)
{
	static char name[48];
	const void *row;

	mg_standard_fds();
	if (argc < 2) {
		help(stderr);
		return EXIT_USAGE;
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
		mg_error("there is no command '%s' (see magnet --help)", argv[1]);
		return EXIT_USAGE;
	}
	/* the name by which getopt() would call the program */
	snprintf(name, sizeof(name), "magnet %.32s", argv[1]);
	argv[1] = name;
	return ((const __typeof__(commands[0]) *)row)->run(argc - 1, argv + 1);
}
