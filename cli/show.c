/* SPDX-License-Identifier: MIT */
/* magnet show */
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>

#include "by_host.h"
#include "commands.h"
#include "filter_options.h"
#include "loader.h"
#include "log.h"
#include "newest.h"
#include "option_table.h"
#include "options.h"
#include "output.h"
#include "render/byte_life.h"
#include "render/show.h"
#include "render/show_facts.h"
#include "report_wire.h"
#include "show_bytes.h"
#include "show_exchange.h"
#include "show_follow.h"

#define FACT_NAME(name, doc) " " #name
#define FACT_NAMES           MG_FACTS(FACT_NAME)

static const char usage[] =
	"usage: magnet show [DIR...] [--tsv] [--setup] [--flow ID] [FILTER...]\n"
	"       magnet show [DIR...] [--tsv] --flow ID --bytes RANGE | --byte N\n"
	"       magnet show [DIR...] --facts NAME [--flow ID] [FILTER...]\n"
	"       magnet show [DIR...] --slowest N [FILTER...]\n"
	"       magnet show [DIR...] --exchange ID\n"
	"       magnet show [DIR] -f [--tsv] [--setup] [--facts NAME] [--flow ID] [FILTER...]\n"
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
	bool tsv, setup, follow, help;
	const char *flow;
	struct filter filter;
	struct bytes bytes;
	uint64_t slowest;
	struct exchange_name exchange;
	const struct fact_desc *facts; /* NULL: events are shown */
	const char *pcap;              /* NULL: no capture is read */
};

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

static bool parse_exchange(const struct option_row *row, const char *text, void *value)
{
	(void)row;
	return exchange_name_parse(text, value) ||
	       option_refuse("a flow and a byte of it, such as 4097/tx@1200");
}

static bool parse_facts(const struct option_row *row, const char *text, void *value)
{
	const struct fact_desc *fact = fact_by_name(text);

	(void)row;
	if (fact)
		*(const struct fact_desc **)value = fact;
	return fact || option_refuse("a kind of facts:" FACT_NAMES);
}

static const struct option_type range = {parse_range, NULL};
static const struct option_type byte = {parse_byte, NULL};
static const struct option_type exchange = {parse_exchange, NULL};
static const struct option_type facts = {parse_facts, NULL};

#define ROW(option, letter, argument, type, member, doc) \
	OPTION_ROW(struct show_options, option, letter, argument, type, member, doc)
static const struct option_row rows[] = {
	ROW("tsv", 0, NULL, option_type_flag, tsv,
		"print tab-separated values under a row of names, with times in ns and cycles"),
	ROW("flow", 0, "ID", option_type_text, flow,
		"print the events of one flow only, such as 4097/tx"),
	FILTER_ROWS(struct show_options),
	FILTER_EVENT_ROWS(struct show_options),
	ROW("setup", 0, NULL, option_type_flag, setup,
		"also print what was recorded before the first event of a flow, and events about "
		"the recording itself"),
	ROW("bytes", 0, "RANGE", range, bytes,
		"print all that happened to these bytes of the flow: 0-99, both included, or "
		"0+100"),
	ROW("byte", 0, "N", byte, bytes, "print all that happened to one byte; the first is 0"),
	ROW("facts", 0, "NAME", facts, facts,
		"print facts of one kind as tab-separated values:" FACT_NAMES),
	ROW("pcap", 0, "FILE", option_type_text, pcap,
		"with --facts wire: a capture taken during the recording (pcapng or pcap)"),
	ROW("follow", 'f', NULL, option_type_flag, follow,
		"print what a recording that still runs has, and more as it comes, until it ends "
		"or Ctrl-C"),
	{"--slowest", "N",
		"list the N slowest exchanges of a request and its reply, and what happened to the "
		"request's last byte and the reply's first; for streams without exchanges, the "
		"slowest byte ranges",
		&option_type_number, 1, EXCHANGES_SLOWEST_MAX,
		offsetof(struct show_options, slowest), OPTION_ONLY_COMMAND, 0, 0},
	ROW("exchange", 0, "ID", exchange, exchange,
		"print the exchange whose request or reply has this byte, such as 4097/tx@1200, "
		"and what happened to the request's last byte and the reply's first"),
	OUTPUT_OPTION_ROWS(struct show_options, output),
	ROW("help", 'h', NULL, option_type_help, help, "print this help"),
};
#undef ROW

/* Returns whether rows are chosen. */
static bool chooses(const struct filter *f)
{
	return filter_is_set(f) || f->event.n || f->layers;
}

/* Returns the exit status: whether all was read, found and written. */
static int status_of(int read, const char *flow, bool flow_seen, const char *what)
{
	int status = read ? EXIT_FAILED : EXIT_DONE;

	if (status == EXIT_DONE && flow && !flow_seen)
		status = loaded_no_flow(flow);
	return output_finish(what) == EXIT_DONE ? status : EXIT_FAILED;
}

/* Returns 0; or the exit status, after a message, where the facts do not have what is chosen. */
static int check_facts(struct show_options *o)
{
	const char *lacks;

	if (o->flow && !fact_has_flow(o->facts)) {
		mg_error("--facts %s is not about flows: leave out --flow", o->facts->name);
		return EXIT_USAGE;
	}
	lacks = filter_begin(&o->filter)
			? filter_lacks(&o->filter, (enum fact)(o->facts - fact_table))
			: NULL;
	if (!lacks)
		return 0;
	mg_error("--facts %s has no %s to filter by: leave out these filters", o->facts->name,
		lacks);
	filter_free(&o->filter);
	return EXIT_USAGE;
}

static int show_facts(struct show_options *o, char **dirs, int count)
{
	struct loaded in;
	struct show_facts show = {.to = stdout, .fact = o->facts, .flow = o->flow};
	struct fact_flow flow;
	uint64_t cookie;
	static struct report_wire wire;
	int read, status = check_facts(o);
	bool seen, rx, compared;

	if (status)
		return status;
	loaded_init_facts(&in);
	if (!filter_is_set(&o->filter)) {
		filter_free(&o->filter);
	} else {
		if (loaded_filter(&in, &o->filter, dirs, count))
			return EXIT_FAILED;
		show.filter = &o->filter;
	}
	show.core = in.core;
	show_facts_listen(&show);
	wire.traffic.filter = show.filter;
	if (!report_wire_begin(&wire, o->pcap, in.core)) {
		loaded_free(&in);
		return EXIT_FAILED;
	}
	read = loaded_read(&in, dirs, count);
	compared = read >= 0 && report_wire_read(&wire);
	report_wire_free(&wire);
	if (!read && compared)
		show_facts_header(&show);
	/* a flow may have no fact of this kind */
	seen = o->flow && flow_parse(o->flow, &cookie, &rx) &&
	       core_flow(in.core, cookie, rx, &flow);
	status = status_of(read, o->flow, seen, "the facts");
	if (!compared)
		status = EXIT_FAILED;
	loaded_free(&in);
	return status;
}

static int show_events(struct show_options *o, char **dirs, int count)
{
	struct show show = {.to = stdout, .tsv = o->tsv, .flow = o->flow, .setup = o->setup};
	struct loaded in;
	int read, status;

	loaded_init_facts(&in);
	if (chooses(&o->filter)) {
		if (loaded_filter(&in, &o->filter, dirs, count))
			return EXIT_FAILED;
		show.filter = &o->filter;
	}
	show.core = in.core;
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

static int follow(struct show_options *o, char *dir)
{
	struct show_follow f = {
		.events = {.to = stdout, .tsv = o->tsv, .flow = o->flow, .setup = o->setup},
		.facts = {.to = stdout, .fact = o->facts, .flow = o->flow},
		.filter = chooses(&o->filter) ? &o->filter : NULL,
	};
	int status = o->facts ? check_facts(o) : 0;

	return status ? status : show_follow(&f, dir);
}

static int refuse(const char *why)
{
	mg_error("%s", why);
	return -EINVAL;
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
	if (!filter_is_valid(&o->filter))
		return -EINVAL;
	if (o->bytes.to && (!o->flow || chooses(&o->filter)))
		return refuse("give --flow with --bytes and --byte, and no filter");
	if (o->slowest && (o->flow || o->facts || o->tsv || o->bytes.to))
		return refuse("--slowest excludes --flow, --facts, --tsv, --bytes and --byte");
	if (o->exchange.flow[0] &&
		(o->flow || o->facts || o->tsv || o->bytes.to || o->slowest || chooses(&o->filter)))
		return refuse("--exchange excludes --flow, --facts, --tsv, --bytes, --byte, "
			      "--slowest and filters");
	if (o->facts && o->bytes.to)
		return refuse("--facts excludes --bytes and --byte");
	if (o->pcap && (o->facts != &fact_table[FACT_wire] || o->follow))
		return refuse("--pcap is for --facts wire, without --follow");
	if (o->facts == &fact_table[FACT_wire] && !o->pcap)
		mg_warn("--facts wire has no rows without a capture: give --pcap FILE");
	if (o->follow && (o->bytes.to || o->slowest || o->exchange.flow[0]))
		return refuse("--follow excludes --bytes, --byte, --slowest and --exchange");
	if ((o->facts || o->slowest) && (o->filter.event.n || o->filter.layers))
		return refuse("--event and --layer choose events: they exclude --facts and "
			      "--slowest");
	return 0;
}

int cmd_show(int argc, char **argv)
{
	struct show_options o = {0};
	struct directories d;
	int err;

	loader_begin();
	err = parse(&o, argc, argv);
	if (!err)
		err = directories_choose(&d, argc, argv, optind);
	if (err)
		return err > 0 ? EXIT_DONE : EXIT_USAGE;
	if (o.follow && d.count > 1) {
		mg_error("give one directory with --follow");
		return EXIT_USAGE;
	}
	if (o.follow)
		return follow(&o, d.at[0]);
	if (!is_one_host(d.at, d.count))
		return EXIT_USAGE;
	output_choose(&o.output);
	if (!o.tsv && !o.facts)
		output_page();
	if (o.slowest)
		return show_slowest(d.at, d.count, (uint32_t)o.slowest, &o.filter);
	if (o.exchange.flow[0])
		return show_exchange(d.at, d.count, &o.exchange);
	if (o.facts)
		return show_facts(&o, d.at, d.count);
	return o.bytes.to ? show_life(d.at, d.count, o.flow, o.bytes.from, o.bytes.to, o.tsv)
			  : show_events(&o, d.at, d.count);
}
