/* SPDX-License-Identifier: MIT */
/* magnet show */
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>

#include "by_host.h"
#include "commands.h"
#include "loader.h"
#include "log.h"
#include "newest.h"
#include "option_table.h"
#include "options.h"
#include "output.h"
#include "render/byte_life.h"
#include "render/show.h"
#include "render/show_facts.h"
#include "show_bytes.h"

#define FACT_NAME(name, doc) " " #name
#define FACT_NAMES           MG_FACTS(FACT_NAME)

static const char usage[] =
	"usage: magnet show [DIR...] [--tsv] [--flow ID] [--from T] [--to T]\n"
	"       magnet show [DIR...] [--tsv] --flow ID --bytes RANGE | --byte N\n"
	"       magnet show [DIR...] --facts NAME [--flow ID]\n"
	"       magnet show [DIR...] --slowest N\n"
	"\n"
	"Prints every event in order of time, with its flow and the bytes of it that it concerns;\n"
	"all that happened to some bytes; or a table of facts established from the events.\n"
	"Without DIR the newest recording in the current directory is shown.\n"
	"\n";

struct bytes {
	uint64_t from, to; /* [from, to); to = 0: all of the recording is shown */
};

struct show_options {
	struct output_options output;
	bool tsv, help;
	const char *flow;
	double from, to; /* seconds; to < 0: until the end */
	struct bytes bytes;
	uint64_t slowest;
	const struct fact_desc *facts; /* NULL: events are shown */
};

static bool parse_seconds(const struct option_row *row, const char *text, void *value)
{
	double s;
	char *end;

	(void)row;
	s = strtod(text, &end);
	if (end == text || *end || !(s >= 0))
		return option_refuse("a time in seconds, such as 1.5");
	*(double *)value = s;
	return true;
}

static bool parse_range(const struct option_row *row, const char *text, void *value)
{
	struct bytes *b = value;

	(void)row;
	return range_parse(text, &b->from, &b->to) ||
	       option_refuse("a range of bytes: FIRST-LAST or FIRST+COUNT, such as 0-99 or 0+100");
}

static bool parse_byte(const struct option_row *row, const char *text, void *value)
{
	struct bytes *b = value;
	char range[32];

	(void)row;
	snprintf(range, sizeof(range), "%.20s+1", text);
	return range_parse(range, &b->from, &b->to) ||
	       option_refuse("a byte's number, the first being 0");
}

static bool parse_facts(const struct option_row *row, const char *text, void *value)
{
	const struct fact_desc *fact = fact_by_name(text);

	(void)row;
	if (fact)
		*(const struct fact_desc **)value = fact;
	return fact || option_refuse("a kind of facts:" FACT_NAMES);
}

static const struct option_type seconds = {parse_seconds, NULL};
static const struct option_type range = {parse_range, NULL};
static const struct option_type byte = {parse_byte, NULL};
static const struct option_type facts = {parse_facts, NULL};

#define ROW(option, letter, argument, type, member, doc) \
	OPTION_ROW(struct show_options, option, letter, argument, type, member, doc)
static const struct option_row rows[] = {
	ROW("tsv", 0, NULL, option_type_flag, tsv,
		"print tab-separated values under a row of names, with times in ns and cycles"),
	ROW("flow", 0, "ID", option_type_text, flow,
		"print the events of one flow only, such as 4097/tx"),
	ROW("from", 0, "T", seconds, from, "begin T seconds after the first event"),
	ROW("to", 0, "T", seconds, to, "end T seconds after the first event"),
	ROW("bytes", 0, "RANGE", range, bytes,
		"print all that happened to these bytes of the flow: 0-99, both included, or "
		"0+100"),
	ROW("byte", 0, "N", byte, bytes, "print all that happened to one byte; the first is 0"),
	ROW("facts", 0, "NAME", facts, facts,
		"print facts of one kind as tab-separated values:" FACT_NAMES),
	{"--slowest", "N",
		"list the N slowest exchanges of a request and its reply, and what happened to the "
		"request's last byte and the reply's first",
		&option_type_number, 1, EXCHANGES_SLOWEST_MAX,
		offsetof(struct show_options, slowest), OPTION_ONLY_COMMAND, 0, 0},
	OUTPUT_OPTION_ROWS(struct show_options, output),
	ROW("help", 'h', NULL, option_type_help, help, "print this help"),
};
#undef ROW

/* Returns the exit status: whether all was read, found and written. */
static int status_of(int read, const char *flow, bool flow_seen, const char *what)
{
	int status = read ? EXIT_FAILED : EXIT_DONE;

	if (status == EXIT_DONE && flow && !flow_seen)
		status = loaded_no_flow(flow);
	return output_finish(what) == EXIT_DONE ? status : EXIT_FAILED;
}

static int show_facts(const struct show_options *o, char **dirs, int count)
{
	struct loaded in;
	struct show_facts show = {.to = stdout, .fact = o->facts, .flow = o->flow};
	struct fact_flow flow;
	uint64_t cookie;
	int read, status;
	bool seen, rx;

	if (o->flow && !fact_has_flow(o->facts)) {
		mg_error("--facts %s is not about flows: leave out --flow", o->facts->name);
		return EXIT_USAGE;
	}
	loaded_init(&in);
	show.core = in.core;
	show_facts_listen(&show);
	read = loaded_read(&in, dirs, count);
	if (!read)
		show_facts_header(&show);
	/* a flow may have no fact of this kind */
	seen = o->flow && flow_parse(o->flow, &cookie, &rx) &&
	       core_flow(in.core, cookie, rx, &flow);
	status = status_of(read, o->flow, seen, "the facts");
	loaded_free(&in);
	return status;
}

static int show_events(const struct show_options *o, char **dirs, int count)
{
	struct show show = {
		.to = stdout, .tsv = o->tsv, .flow = o->flow, .from_s = o->from, .to_s = o->to};
	struct loaded in;
	int read, status;

	loaded_init(&in);
	core_listen(in.core, show_event, &show);
	read = loaded_read(&in, dirs, count);
	if (!read)
		show_header(&show);
	status = status_of(read, o->flow, show.flow_seen, "the events");
	if (show.failed && status == EXIT_DONE) {
		mg_error("cannot write the events");
		status = EXIT_FAILED;
	}
	loaded_free(&in);
	return status;
}

static int parse(struct show_options *o, int argc, char **argv)
{
	const struct option_command c = {.usage = usage,
		.rows = rows,
		.count = sizeof(rows) / sizeof(rows[0]),
		.command = OPTION_ONLY_COMMAND};
	int err = options_parse(&c, argc, argv, o, NULL);

	if (err)
		return err;
	if (o->to >= 0 && o->from > o->to) {
		mg_error("--from is after --to");
		return -EINVAL;
	}
	if (o->bytes.to && (!o->flow || o->from > 0 || o->to >= 0)) {
		mg_error("give --flow with --bytes and --byte, and neither --from nor --to");
		return -EINVAL;
	}
	if (o->slowest && (o->flow || o->facts || o->tsv || o->from > 0 || o->to >= 0)) {
		mg_error("--slowest excludes all other options");
		return -EINVAL;
	}
	if (o->facts && (o->bytes.to || o->from > 0 || o->to >= 0)) {
		mg_error("--facts excludes --from, --to, --bytes and --byte");
		return -EINVAL;
	}
	return 0;
}

int cmd_show(int argc, char **argv)
{
	struct show_options o = {.to = -1};
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
	output_choose(&o.output);
	if (!o.tsv && !o.facts)
		output_page();
	if (o.slowest)
		return show_slowest(d.at, d.count, (uint32_t)o.slowest);
	if (o.facts)
		return show_facts(&o, d.at, d.count);
	return o.bytes.to ? show_life(d.at, d.count, o.flow, o.bytes.from, o.bytes.to, o.tsv)
			  : show_events(&o, d.at, d.count);
}
