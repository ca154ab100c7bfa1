/* SPDX-License-Identifier: MIT */
/*
 * Prints the manual page of a recorder: gen-options record|tracer PAGE DETAILS. In PAGE the line
 *   .\" @OPTIONS@
 * stands for the list of its options, from the table of options, and
 *   .\" @SYNOPSIS@ NAME...
 * for the synopsis of all options but those named. DETAILS has what is to be said of options beside
 * their sentence in the table, below lines with the option's name, and `record` or `tracer` behind
 * it if it is for one page only:
 *   .\" = NAME
 */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "recorder_options.h"

static unsigned int command;
static const char *command_name;

/* Prints text as mdoc takes it: a backslash and a minus stay what they are. */
static void text(const char *s)
{
	for (; *s; s++) {
		if (*s == '\\')
			fputs("\\e", stdout);
		else if (*s == '-')
			fputs("\\-", stdout);
		else
			putchar(*s);
	}
}

/* Prints the row's sentence, with what there is in --help's lines only. */
static void sentence(const struct option_row *row)
{
	printf("%c", toupper((unsigned char)row->doc[0]));
	text(row->doc + 1);
	puts(".");
}

static void range(const struct option_row *row)
{
	union {
		uint64_t n;
		struct option_amount amount;
	} scratch;

	if (row->max == INT32_MAX ||
		(row->type != &option_type_number && row->type != &option_type_size &&
			row->type != &option_type_time && row->type != &option_type_amount))
		return;
	row->type->parse(row, "", &scratch);
	printf(".Ar %s\nis %s.\n", row->argument, option_takes());
}

/* Writes the option's argument: " Ar DIR", or " Ns Op = Ns Ar TIME" of one that may be left out. */
static void write_argument(const struct option_row *row, char *out, size_t size)
{
	out[0] = 0;
	if (row->argument && row->argument[0] == '[') /* "[=TIME]" */
		snprintf(out, size, " Ns Op = Ns Ar %.*s", (int)strcspn(row->argument + 2, "]"),
			row->argument + 2);
	else if (row->argument)
		snprintf(out, size, " Ar %s", row->argument);
}

/* Prints the option's flags: "Fl o Ar DIR , Fl -output Ar DIR". */
static void flags(const struct option_row *row)
{
	char argument[40];

	write_argument(row, argument, sizeof(argument));
	if (row->letter)
		printf("Fl %c%s , ", row->letter, argument);
	printf("Fl -%s%s\n", option_row_name(row), argument);
}

/* Returns whether a line of DETAILS begins the part for this row and page. */
static bool is_heading(const char *line, const struct option_row *row)
{
	char name[40] = "", only[40] = "";

	return sscanf(line, ".\\\" = %39s %39s", name, only) >= 1 &&
	       strcmp(name, option_row_name(row)) == 0 &&
	       (!only[0] || strcmp(only, command_name) == 0);
}

static void details(const struct option_row *row, FILE *from)
{
	char line[1000];
	bool on = false;

	rewind(from);
	while (fgets(line, sizeof(line), from))
		if (strncmp(line, ".\\\" = ", 6) == 0)
			on = is_heading(line, row);
		else if (on)
			fputs(line, stdout);
}

static void options(FILE *from)
{
	for (size_t i = 0; i < recorder_option_count; i++) {
		const struct option_row *row = &recorder_option_rows[i];

		if (!(row->commands & command))
			continue;
		printf(".It ");
		flags(row);
		sentence(row);
		range(row);
		details(row, from);
	}
}

/* Returns whether a line names the option. */
static bool is_named(const char *line, const char *name)
{
	size_t len = strlen(name);

	for (const char *at = line; (at = strstr(at, name)); at += len)
		if (at[-1] == ' ' && (at[len] == ' ' || at[len] == '\n'))
			return true;
	return false;
}

static void synopsis(const char *line)
{
	for (size_t i = 0; i < recorder_option_count; i++) {
		const struct option_row *row = &recorder_option_rows[i];
		char argument[40];

		if (!(row->commands & command) || is_named(line, option_row_name(row)))
			continue;
		if (row->letter)
			printf(".Op Fl %c", row->letter);
		else
			printf(".Op Fl -%s", option_row_name(row));
		write_argument(row, argument, sizeof(argument));
		printf("%s\n", argument);
	}
}

int main(int argc, char **argv)
{
	FILE *page, *from;
	char line[1000];

	if (argc != 4)
		return 2;
	command_name = argv[1];
	command = strcmp(command_name, "record") == 0 ? MG_RECORD : MG_TRACER;
	page = fopen(argv[2], "re");
	from = fopen(argv[3], "re");
	if (!page || !from) {
		perror(page ? argv[3] : argv[2]);
		return 1;
	}
	while (fgets(line, sizeof(line), page))
		if (strcmp(line, ".\\\" @OPTIONS@\n") == 0)
			options(from);
		else if (strncmp(line, ".\\\" @SYNOPSIS@", 14) == 0)
			synopsis(line);
		else
			fputs(line, stdout);
	fclose(page);
	fclose(from);
	return fflush(stdout) != 0 || ferror(stdout);
}
