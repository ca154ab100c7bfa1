/* SPDX-License-Identifier: MIT */
/* magnet export */
#define _GNU_SOURCE
#include <errno.h>
#include <getopt.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "by_host.h"
#include "commands.h"
#include "export/chrome.h"
#include "export/export.h"
#include "export/ns3.h"
#include "export/pcapng.h"
#include "export/records.h"
#include "export/tables.h"
#include "export/ulm.h"
#include "filter_options.h"
#include "loader.h"
#include "log.h"
#include "newest.h"
#include "option_table.h"
#include "options.h"
#include "python.h"
#include "scratch_dir.h"

/* clang-format off */
/*
 * F(name, doc) is a format that a file of correlate/export/ writes, by name_begin() and name_end();
 * P(name, doc) one that the Python module magnet.export_NAME makes of records.
 */
#define EXPORT_FORMATS(F, P) \
	F(chrome, "JSON trace events, for Chrome's about:tracing, Perfetto's page and others") \
	F(csv, "a directory with a file of comma-separated values for each kind of facts") \
	F(ns3, "a directory with times and sizes of each flow's writes, for applications of ns-3") \
	F(pcapng, "a capture of the packets, with headers rebuilt from events, for Wireshark and others") \
	P(parquet, "a data set for DuckDB, Spark and others; needs the Python package pyarrow") \
	P(perfetto, "a trace for Perfetto's UI and trace processor; needs the Python package perfetto") \
	F(records, "a directory of fixed-width records, for NumPy and other programs that map files") \
	F(tsv, "a directory with a file of tab-separated values for each kind of facts") \
	F(ulm, "lines as NetLogger has them, of calls and packets in order of time")
/* clang-format on */

#define FORMAT_NAME(name, doc) " " #name
#define FORMAT_NAMES           EXPORT_FORMATS(FORMAT_NAME, FORMAT_NAME)
#define FORMAT_DOC(name, doc)  "  " #name "\n        " doc "\n"

static const char usage[] = "usage: magnet export [DIR...] --format NAME -o OUT [FILTER...]\n"
			    "\n"
			    "Writes a recording in a format that other programs read:\n"
			    "\n" EXPORT_FORMATS(FORMAT_DOC,
				    FORMAT_DOC) "\n"
						"Several directories of one host are read as one "
						"recording. Without DIR the newest\n"
						"recording in the current directory is exported.\n"
						"\n";

struct format {
	struct export_format by;
	bool is_python; /* made of records by the Python module export_NAME */
};

#define FORMAT_C(name, doc)      {{#name, doc, name##_begin, name##_end}, false},
#define FORMAT_PYTHON(name, doc) {{#name, doc, records_begin, records_end}, true},
static const struct format formats[] = {EXPORT_FORMATS(FORMAT_C, FORMAT_PYTHON)};

struct export_options {
	const struct format *format;
	const char *output;
	struct filter filter;
	bool help;
};

static bool parse_format(const struct option_row *row, const char *text, void *value)
{
	(void)row;
	for (size_t i = 0; i < sizeof(formats) / sizeof(formats[0]); i++)
		if (strcmp(formats[i].by.name, text) == 0) {
			*(const struct format **)value = &formats[i];
			return true;
		}
	return option_refuse("one of the formats:" FORMAT_NAMES);
}

static const struct option_type format = {parse_format, NULL};

#define ROW(option, letter, argument, type, member, doc) \
	OPTION_ROW(struct export_options, option, letter, argument, type, member, doc)
static const struct option_row rows[] = {
	ROW("format", 0, "NAME", format, format, "the format, one of the above"),
	ROW("output", 'o', "OUT", option_type_text, output,
		"write this file, or directory; - is standard output, for formats of one file"),
	FILTER_ROWS(struct export_options),
	ROW("help", 'h', NULL, option_type_help, help, "print this help"),
};
#undef ROW

/* Reads the recording and has it written to `to`. Returns an exit status. */
static int write_format(
	const struct format *f, struct export_options *o, const char *to, char **dirs, int count)
{
	struct loaded in;
	struct export e = {.to = to, .session = &in.session};
	int read;
	bool written;

	loaded_init_facts(&in);
	if (filter_is_set(&o->filter)) {
		if (loaded_filter(&in, &o->filter, dirs, count))
			return EXIT_FAILED;
		e.filter = &o->filter;
	}
	e.core = in.core;
	if (!f->by.begin(&e)) {
		mg_error("%s", e.why);
		loaded_free(&in);
		return EXIT_FAILED;
	}
	read = loaded_read(&in, dirs, count);
	written = f->by.end(&e, read >= 0);
	if (!written && read >= 0)
		mg_error("%s", e.why);
	loaded_free(&in);
	return written && read == 0 ? EXIT_DONE : EXIT_FAILED;
}

/* Writes records to a directory of its own, and has Python make the format of them. */
static int write_by_python(struct export_options *o, char **dirs, int count)
{
	char scratch[PATH_MAX], records[PATH_MAX], module[64];
	int status;

	if (!scratch_dir_make(scratch))
		return EXIT_FAILED;
	snprintf(records, sizeof(records), "%.4000s/records", scratch);
	status = write_format(o->format, o, records, dirs, count);
	if (status == EXIT_DONE) {
		const char *args[] = {records, "-o", o->output, NULL};

		snprintf(module, sizeof(module), "export_%.40s", o->format->by.name);
		status = python_run(module, args);
	}
	scratch_dir_remove(scratch);
	return status;
}

static int parse(struct export_options *o, int argc, char **argv)
{
	const struct option_command c = {.usage = usage,
		.rows = rows,
		.count = sizeof(rows) / sizeof(rows[0]),
		.command = OPTION_ONLY_COMMAND};
	int err = options_parse(&c, argc, argv, o, NULL);

	if (err)
		return err;
	if (!o->format)
		mg_error("--format NAME is required, one of" FORMAT_NAMES);
	else if (!o->output || !*o->output)
		mg_error("-o OUT is required: what to write");
	else if (filter_is_valid(&o->filter))
		return 0;
	return -EINVAL;
}

int cmd_export(int argc, char **argv)
{
	struct export_options o = {0};
	struct directories d;
	int err;

	loader_begin();
	err = parse(&o, argc, argv);
	if (!err)
		err = directories_choose(&d, argc, argv, optind);
	if (err)
		return err > 0 ? EXIT_DONE : EXIT_USAGE;
	if (!is_one_host(d.at, d.count))
		return EXIT_USAGE;
	return o.format->is_python ? write_by_python(&o, d.at, d.count)
				   : write_format(o.format, &o, o.output, d.at, d.count);
}
