/* SPDX-License-Identifier: MIT */
/* magnet annotate */
#include "capture/annotate_print.h"

#include <errno.h>
#include <getopt.h>
#include <string.h>

#include "by_host.h"
#include "commands.h"
#include "loader.h"
#include "log.h"
#include "newest.h"
#include "option_table.h"
#include "output.h"
#include "output_file.h"
#include "version.h"

static const char usage[] =
	"usage: magnet annotate CAPTURE [DIR...] -o FILE [--json]\n"
	"\n"
	"Copies a capture (pcapng or pcap) that was taken beside a recording, and gives its "
	"packets\n"
	"comments: flow, bytes, process, thread and call. Everything else stays as it is. Prints "
	"how\n"
	"many packets were found, and how the capture's clock relates to the recording's.\n"
	"\n";

struct annotate_options {
	const char *to;
	bool json, help;
};

#define ROW(option, letter, argument, type, member, doc) \
	OPTION_ROW(struct annotate_options, option, letter, argument, type, member, doc)
static const struct option_row rows[] = {
	ROW("output", 'o', "FILE", option_type_path, to,
		"write the capture with comments into this file, in pcapng"),
	ROW("json", 0, NULL, option_type_flag, json, "print the result as JSON"),
	ROW("help", 'h', NULL, option_type_help, help, "print this help"),
};
#undef ROW

static int parse(struct annotate_options *o, int argc, char **argv)
{
	const struct option_command c = {.usage = usage,
		.rows = rows,
		.count = sizeof(rows) / sizeof(rows[0]),
		.command = OPTION_ONLY_COMMAND};
	int err = options_parse(&c, argc, argv, o, NULL);

	if (err)
		return err;
	if (optind >= argc)
		mg_error("no capture given: magnet annotate CAPTURE DIR -o FILE");
	else if (!o->to)
		mg_error("-o FILE is required: it gets the capture with comments");
	return optind < argc && o->to ? 0 : -EINVAL;
}

static int print(const struct annotate *a, const struct annotate_options *o)
{
	FILE *to = strcmp(o->to, "-") == 0 ? stderr : stdout; /* there goes the capture */

	if (o->json) {
		json_t *j = annotate_json(a);

		json_dumpf(j, to, JSON_INDENT(2) | JSON_REAL_PRECISION(15));
		fputc('\n', to);
		json_decref(j);
	} else {
		annotate_text(a, to);
	}
	return output_finish("the result");
}

/* Reads the capture twice: to relate the clocks, and to write it. */
static int annotate(struct capture_reader *capture, const char *path, const struct traffic *t,
	const struct annotate_options *o)
{
	struct output_file file;
	struct annotate a;
	int status = EXIT_FAILED, err = annotate_begin(&a, t, capture);

	if (err) {
		mg_error("%s: %s", path, capture->why);
	} else if (!output_file_open(&file, o->to)) {
		mg_error("%s: %s", o->to, strerror(errno));
	} else {
		err = annotate_write(&a, "magnet " MAGNET_VERSION, file.to);
		if (err < 0)
			mg_error("%s: %s", path, capture->why);
		if (!output_file_close(&file, !err) || err > 0)
			mg_error("%s: %s", o->to, strerror(errno));
		else if (!err)
			status = print(&a, o);
	}
	annotate_free(&a);
	return status;
}

static int annotate_by(struct capture_reader *capture, const char *path,
	const struct directories *d, const struct annotate_options *o)
{
	struct traffic t = {0};
	struct loaded in;
	int read, status = EXIT_FAILED;

	loaded_init(&in);
	traffic_listen(&t, in.core);
	read = loaded_read(&in, d->at, d->count);
	if (read >= 0) {
		traffic_finish(&t);
		status = annotate(capture, path, &t, o);
	}
	traffic_free(&t);
	loaded_free(&in);
	return read ? EXIT_FAILED : status;
}

int cmd_annotate(int argc, char **argv)
{
	struct annotate_options o = {0};
	struct capture_reader capture;
	struct directories d;
	int err, status;

	loader_begin();
	err = parse(&o, argc, argv);
	if (!err)
		err = directories_choose(&d, argc, argv, optind + 1);
	if (err)
		return err > 0 ? EXIT_DONE : EXIT_USAGE;
	if (!is_one_host(d.at, d.count))
		return EXIT_USAGE;
	if (capture_open(&capture, argv[optind]) != 0) {
		mg_error("%s: %s", argv[optind], capture.why);
		status = EXIT_FAILED;
	} else {
		status = annotate_by(&capture, argv[optind], &d, &o);
	}
	capture_close(&capture);
	return status;
}
