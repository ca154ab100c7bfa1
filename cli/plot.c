/* SPDX-License-Identifier: MIT */
/* magnet plot: the Python package draws */
#include <errno.h>
#include <getopt.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "commands.h"
#include "loader.h"
#include "log.h"
#include "newest.h"
#include "option_table.h"
#include "options.h"
#include "python.h"

#define MOST_DIRECTORIES 48
#define FILTER_MOST      1000 /* bytes of a filter */

static const char usage[] =
	"usage: magnet plot [DIR...] --figure NAME -o FILE.svg|pdf|png [--flow ID] [FILTER...]\n"
	"       magnet plot --figure list\n"
	"\n"
	"Draws a figure of a recording, or one that compares several, and writes its data beside "
	"it\n"
	"as FILE.tsv. Without DIR the newest recording in the current directory is drawn. Needs\n"
	"Python 3 with NumPy and matplotlib; MAGNET_PYTHON names the interpreter.\n"
	"\n";

/* Filters, as magnet report has them: name, argument, meaning. The program that reads parses them.
 */
#define PLOT_FILTERS(F)                                                                     \
	F(process, "PID",                                                                   \
		"draw only these processes, by number or program, and the "                 \
		"connections that they used")                                               \
	F(thread, "TID", "draw only these threads, and what they used")                     \
	F(port, "N", "draw only connections with this port at either end")                  \
	F(peer, "ADDRESS", "draw only connections with this peer")                          \
	F(protocol, "NAME",                                                                 \
		"draw only this protocol: tcp, udp, unix, raw, icmp, "                      \
		"netlink or vsock")                                                         \
	F(direction, "NAME", "draw only this direction of connections: sent or received")   \
	F(from, "T", "begin at this time after the first event, such as 10s, 0.5 or 250ms") \
	F(to, "T", "end before this time after the first event")
#define NUMBER(name, argument, doc) FILTER_##name,
enum plot_filter { PLOT_FILTERS(NUMBER) FILTERS };

struct plot_options {
	const char *figure, *output, *flow;
	const char *filter[FILTERS];
	bool help;
};

#define ROW(option, letter, argument, type, member, doc) \
	OPTION_ROW(struct plot_options, option, letter, argument, type, member, doc)
static const struct option_row rows[] = {
	ROW("figure", 0, "NAME", option_type_text, figure, "the figure; list prints all of them"),
	ROW("output", 'o', "FILE", option_type_path, output,
		"write the picture to this file, whose name ends in .svg, .pdf or .png"),
	ROW("flow", 0, "ID", option_type_text, flow,
		"draw this flow, named as in the report; default: the one with the most bytes"),
#define FILTER(name, argument, doc) \
	ROW(#name, 0, argument, option_type_text, filter[FILTER_##name], doc),
	PLOT_FILTERS(FILTER)
#undef FILTER
		ROW("help", 'h', NULL, option_type_help, help, "print this help"),
};
#undef ROW

static bool is_list(const struct plot_options *o)
{
	return o->figure && strcmp(o->figure, "list") == 0;
}

static int parse(struct plot_options *o, int argc, char **argv)
{
	const struct option_command c = {.usage = usage,
		.rows = rows,
		.count = sizeof(rows) / sizeof(rows[0]),
		.command = OPTION_ONLY_COMMAND};
	int err = options_parse(&c, argc, argv, o, NULL);

	if (err)
		return err;
	if (!o->figure || !*o->figure)
		mg_error("--figure NAME is required; --figure list prints all figures");
	else if (!is_list(o) && (!o->output || !*o->output))
		mg_error("-o FILE is required: where to write the picture");
	else
		return 0;
	return -EINVAL;
}

/* Adds the filters that were given to the arguments, as options. Returns their new number. */
static int add_filters(
	const struct plot_options *o, char text[FILTERS][FILTER_MOST], const char **args, int n)
{
#define NAME(name, argument, doc) #name,
	static const char *const names[] = {PLOT_FILTERS(NAME)};
#undef NAME

	for (int i = 0; i < FILTERS; i++)
		if (o->filter[i]) {
			int used =
				snprintf(text[i], FILTER_MOST, "--%s=%s", names[i], o->filter[i]);

			if (used >= FILTER_MOST) {
				mg_error("--%s: the value is too long", names[i]);
				return -1;
			}
			args[n++] = text[i];
		}
	return n;
}

/* Has the package run this magnet, not another one on PATH. */
static void name_this_program(void)
{
	char path[PATH_MAX];
	ssize_t n = readlink("/proc/self/exe", path, sizeof(path) - 1);

	if (n <= 0)
		return;
	path[n] = 0;
	setenv("MAGNET", path, 1);
}

int cmd_plot(int argc, char **argv)
{
	struct plot_options o = {0};
	struct directories d = {0};
	const char *args[MOST_DIRECTORIES + FILTERS + 5];
	char filters[FILTERS][FILTER_MOST];
	int n = 0, err = parse(&o, argc, argv);

	if (!err && !is_list(&o))
		err = directories_choose(&d, argc, argv, optind);
	if (err)
		return err > 0 ? EXIT_DONE : EXIT_USAGE;
	if (d.count > MOST_DIRECTORIES) {
		mg_error("%d directories are more than the %d that one figure compares", d.count,
			MOST_DIRECTORIES);
		return EXIT_USAGE;
	}
	args[n++] = o.figure;
	args[n++] = o.output ? o.output : "-";
	args[n++] = o.flow && *o.flow ? o.flow : "-";
	n = add_filters(&o, filters, args, n);
	if (n < 0)
		return EXIT_USAGE;
	args[n++] = "--";
	for (int i = 0; i < d.count; i++)
		args[n++] = d.at[i];
	args[n] = NULL;
	name_this_program();
	return python_run("plot_command", args);
}
