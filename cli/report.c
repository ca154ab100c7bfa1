/* SPDX-License-Identifier: MIT */
/* magnet report */
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "against.h"
#include "by_host.h"
#include "capture/wire_json.h"
#include "capture/wire_text.h"
#include "commands.h"
#include "filter_options.h"
#include "loader.h"
#include "log.h"
#include "newest.h"
#include "option_table.h"
#include "options.h"
#include "output.h"
#include "page/collect.h"
#include "render/flow_calls.h"
#include "render/folded.h"
#include "render/report.h"
#include "report_page.h"
#include "report_wire.h"
#include "two_hosts.h"

static const char usage[] =
	"usage: magnet report [DIR...] [--json [--full] | --html FILE] [--flow ID]\n"
	"                     [--waterfall QUANTILE] [--against DIR,...] [--pcap FILE]\n"
	"                     [--on-demand LIST] [--all] [--color WHEN] [FILTER...]\n"
	"\n"
	"Prints where the recorded program's bytes waited, what its system calls cost, and how\n"
	"the stack changed its traffic. Several directories, such as those of an LTTng session\n"
	"and of a kernel tracer, are read as one recording. Recordings of two hosts are reported\n"
	"side by side, with the traffic between them. Without DIR the newest recording in the\n"
	"current directory is reported.\n"
	"\n";

struct statistics {
	struct demand demand;
	bool list; /* only their names are asked for */
};

struct report_options {
	struct report_detail detail;
	struct output_options output;
	bool json, full, histogram, help;
	uint8_t stacks, folded; /* bits 1 << enum fact_stack_why */
	const char *flow, *against, *pcap, *html;
	double quantile; /* 0: not given */
	uint64_t slowest;
	struct statistics statistics;
	struct filter filter;
};

/* "p99.9" is 0.999 */
static bool parse_quantile(const struct option_row *row, const char *text, void *value)
{
	double percent = 0;
	char *end;

	(void)row;
	if (text[0] == 'p')
		percent = strtod(text + 1, &end);
	if (!(percent > 0 && percent < 100) || *end)
		return option_refuse("a quantile, such as p99 or p99.9");
	*(double *)value = percent / 100;
	return true;
}

static bool parse_statistics(const struct option_row *row, const char *text, void *value)
{
	struct statistics *s = value;
	char why[360];

	(void)row;
	if (strcmp(text, "list") == 0)
		return s->list = true;
	return demand_parse(&s->demand, text, why, sizeof(why)) == 0 ||
	       option_refuse("names that --on-demand list prints: %s", why);
}

/* Stores the bit of a reason; without one those of all, or of blocks for --folded. */
static bool parse_stacks(const struct option_row *row, const char *text, void *value)
{
#define NAME(ID, name) name,
	static const char *const names[] = {MG_STACK_WHYS(NAME)};
#undef NAME

	for (int i = 0; text && i < STACK_WHYS; i++)
		if (strcmp(text, names[i]) == 0) {
			*(uint8_t *)value = (uint8_t)(1u << i);
			return true;
		}
	if (text)
		return option_refuse("block, call, drop or retransmit");
	*(uint8_t *)value = row->min ? (uint8_t)row->min : (1u << STACK_WHYS) - 1;
	return true;
}

static const struct option_type stacks = {parse_stacks, NULL};
static const struct option_type quantile = {parse_quantile, NULL};
static const struct option_type statistics = {parse_statistics, NULL};

#define ROW(option, letter, argument, type, member, doc) \
	OPTION_ROW(struct report_options, option, letter, argument, type, member, doc)
static const struct option_row rows[] = {
	ROW("json", 0, NULL, option_type_flag, json,
		"print one JSON object; if there are more than 1,000 flows, most of them in brief"),
	ROW("full", 0, NULL, option_type_flag, full, "with --json: print every flow in full"),
	ROW("html", 0, "FILE", option_type_text, html,
		"write the report to a file as one page for a web browser, with charts"),
	ROW("flow", 0, "ID", option_type_text, flow,
		"print one flow, as the report names it, such as 4097/tx"),
	ROW("waterfall", 0, "QUANTILE", quantile, quantile,
		"also print where the bytes about this quantile waited, such as p99"),
	{"--slowest", "N",
		"also list the N slowest exchanges of a request and its reply; for streams without "
		"exchanges, the slowest byte ranges",
		&option_type_number, 1, EXCHANGES_SLOWEST_MAX,
		offsetof(struct report_options, slowest), OPTION_ONLY_COMMAND, 0, 0},
	ROW("stacks", 0, "[=WHERE]", stacks, stacks,
		"also list the stacks with the most time or the most occurrences; WHERE is block, "
		"call, drop or retransmit (default: all four)"),
	{"--folded", "[=WHERE]",
		"print only stacks, one per line, in the format that flame graph tools read "
		"(default: block)",
		&stacks, 1u << STACK_BLOCK, 0, offsetof(struct report_options, folded),
		OPTION_ONLY_COMMAND, 0, 0},
	ROW("histogram", 0, NULL, option_type_flag, histogram,
		"also print how many exchanges, and how many calls, took how long"),
	ROW("pcap", 0, "FILE", option_type_path, pcap,
		"add the layer wire, from a capture taken during the recording (pcapng or pcap)"),
	ROW("against", 0, "DIR", option_type_text, against,
		"compare with an earlier recording, or with several, separated by commas; with "
		"several recordings on each side, a change can be told from chance"),
	ROW("on-demand", 0, "LIST", statistics, statistics,
		"print more figures: names separated by commas, with parameters, such as "
		"bursts:gap=5; "
		"all for every one; list for their names"),
	FILTER_ROWS(struct report_options),
	ROW("calls", 0, NULL, option_type_flag, detail.calls,
		"also print every system call, and what its time was spent on"),
	ROW("modulation", 0, NULL, option_type_flag, detail.modulation,
		"also print sizes and spacings at every layer of each flow, and how they changed"),
	ROW("explain", 0, NULL, option_type_flag, detail.explain,
		"also print uncertainties, reasons, and what the words of the report mean"),
	ROW("all", 0, NULL, option_type_flag, detail.all,
		"print all this, every stage, and single flows beside their groups"),
	OUTPUT_OPTION_ROWS(struct report_options, output),
	ROW("help", 'h', NULL, option_type_help, help, "print this help"),
};
#undef ROW

static void print_one(const struct report *r, const char *flow, struct flow_calls *calls)
{
	json_t *j = report_json(r, flow);

	json_object_set_new(
		json_array_get(json_object_get(j, "flows"), 0), "calls", flow_calls_json(r, calls));
	json_dumpf(
		j, stdout, JSON_INDENT(2) | JSON_ENSURE_ASCII | JSON_REAL_PRECISION(REPORT_DIGITS));
	putchar('\n');
	json_decref(j);
}

/* Prints the report as JSON, with the layer wire if there is a capture. */
static void print_json(const struct report *r, const struct report_wire *wire)
{
	json_t *j = wire->path ? wire_json(&wire->wire) : NULL;
	struct json_beside beside = {"wire", j, NULL};

	report_json_print(r, j ? &beside : NULL, REPORT_DIGITS, stdout);
	json_decref(j);
}

static int print(const struct report *r, const struct report_options *o, struct flow_calls *calls,
	const struct report_wire *wire)
{
	struct output out;

	if (o->flow && report_find_flow(r, o->flow) >= r->flow_count)
		return loaded_no_flow(o->flow);
	if (o->folded && !folded_are_recorded(r)) {
		mg_error("no stacks were recorded: magnet record --stacks does it");
		return EXIT_FAILED;
	}
	if (o->folded) {
		for (int why = 0; why < STACK_WHYS; why++)
			if (o->folded & 1u << why)
				folded_print(r, (enum fact_stack_why)why, stdout);
	} else if (o->json && o->flow) {
		print_one(r, o->flow, calls);
	} else if (o->json) {
		print_json(r, wire);
	} else {
		output_begin(&out);
		report_text(r, out.to, o->flow, out.colour);
		if (o->flow)
			flow_calls_text(r, calls, out.to, out.colour);
		if (wire->path) {
			fprintf(out.to, "\n");
			wire_text(&wire->wire, out.to, out.colour);
		}
		output_end(&out);
	}
	return output_finish("the report");
}

/* Reports one recording. Returns an exit status. */
static int report_one(struct report_options *o, char **dirs, int count)
{
	static struct loaded in; /* not freed: without that the process ends sooner */
	static struct report_wire wire;
	static struct page page;
	char *frame = o->html ? page_frame("page.html") : NULL;
	struct flow_calls calls = {0};
	int read, status;
	bool compared;

	if (o->html && !frame)
		return EXIT_FAILED;
	loaded_init(&in);
	if (o->statistics.demand.figures)
		figures_keep_series(in.core, DEMAND_MEMORY);
	else if (!o->flow && !o->html && !filter_is_set(&o->filter))
		core_pack_closed(in.core);
	if (filter_is_set(&o->filter) && loaded_filter(&in, &o->filter, dirs, count))
		return EXIT_FAILED;
	if (filter_is_set(&o->filter))
		wire.traffic.filter = &o->filter;
	if (!report_wire_begin(&wire, o->pcap, in.core))
		return EXIT_FAILED;
	if (o->html)
		page_listen(&page, in.core, in.filter);
	if (o->slowest)
		figures_keep_slowest(in.core, (uint32_t)o->slowest);
	if (o->flow) {
		flow_calls_init(&calls, in.core, o->flow);
		core_listen(in.core, flow_calls_event, &calls);
	}
	read = loaded_read(&in, dirs, count);
	compared = read >= 0 && report_wire_read(&wire);
	status = read || !compared ? EXIT_FAILED : EXIT_DONE;
	if (compared && loaded_report(&in) == 0) {
		if (o->statistics.demand.figures)
			in.report.demand = &o->statistics.demand;
		in.report.wire = wire.path ? &wire.wire : NULL;
		in.report.slowest = o->slowest;
		in.report.detail = o->detail;
		in.report.detail.waterfall_at = o->quantile;
		in.report.histogram = o->histogram;
		in.report.stacks = o->stacks;
		in.report.whole_flows = o->full;
		if ((o->html ? page_to_file(&page, &in.report, frame, o->html)
			     : print(&in.report, o, &calls, &wire)) != EXIT_DONE)
			status = EXIT_FAILED;
		report_free(&in.report);
	}
	flow_calls_free(&calls);
	report_wire_free(&wire);
	free(frame);
	return status;
}

static int refuse(const char *why)
{
	mg_error("%s", why);
	return -EINVAL;
}

/* Returns whether it is an option that only magnet show has. */
static bool is_of_show(const char *arg)
{
	size_t len = strcspn(arg, "=");

	return len == strlen("--event") &&
	       (strncmp(arg, "--event", len) == 0 || strncmp(arg, "--layer", len) == 0);
}

static int parse(struct report_options *o, int argc, char **argv)
{
	const struct option_command c = {.usage = usage,
		.rows = rows,
		.count = sizeof(rows) / sizeof(rows[0]),
		.command = OPTION_ONLY_COMMAND};
	int err;

	for (int i = 1; i < argc && strcmp(argv[i], "--") != 0; i++)
		if (is_of_show(argv[i]))
			return refuse("--event and --layer choose rows, not figures: they are "
				      "options of magnet show");
	err = options_parse(&c, argc, argv, o, NULL);
	if (err)
		return err;
	if (o->statistics.list) {
		demand_list(stdout);
		return 1;
	}
	if (!filter_is_valid(&o->filter))
		return -EINVAL;
	if (filter_is_set(&o->filter) && (o->against || o->flow))
		return refuse("--process, --thread, --port, --peer, --protocol, --direction, "
			      "--from and --to exclude --against and --flow");
	if (o->against && o->flow)
		return refuse("--against excludes --flow: it compares flows by their role");
	if (o->quantile > 0 && (o->against || o->json))
		return refuse("--waterfall excludes --against and --json, which has quantiles of "
			      "its own");
	if ((o->slowest || o->histogram || o->stacks) && (o->flow || o->against))
		return refuse("--slowest, --histogram and --stacks exclude --flow and --against");
	if (o->pcap && (o->flow || o->against || o->folded))
		return refuse("--pcap excludes --flow, --against and --folded");
	if (o->folded && (o->json || o->flow || o->against))
		return refuse(
			"--folded excludes --json, --flow and --against: it prints only stacks");
	if (o->html && (o->json || o->flow || o->against || o->folded))
		return refuse("--html excludes --json, --flow, --against and --folded");
	if (o->full && !o->json)
		return refuse("--full needs --json: the text lists all with --all");
	if (o->html && !o->slowest)
		o->slowest = PAGE_SLOWEST;
	if (o->against && o->statistics.demand.figures)
		return refuse("--against excludes --on-demand");
	if (o->against && (o->detail.calls || o->detail.modulation || o->detail.explain))
		return refuse("--against excludes --calls, --modulation and --explain");
	return 0;
}

int cmd_report(int argc, char **argv)
{
	struct report_options o = {0};
	struct by_host hosts;
	enum report_form form;
	struct directories d;
	int err, status;

	loader_begin();
	err = parse(&o, argc, argv);
	if (!err)
		err = directories_choose(&d, argc, argv, optind);
	if (err)
		return err > 0 ? EXIT_DONE : EXIT_USAGE;
	output_choose(&o.output);
	form = !o.json ? REPORT_TEXT : o.full ? REPORT_JSON_WHOLE_FLOWS : REPORT_JSON;
	if (o.against)
		return report_against(d.at, d.count,
			&(struct against_options){
				o.against, form, o.detail.all ? 0 : AGAINST_ROWS});
	by_host_sort(&hosts, d.at, d.count);
	status = EXIT_USAGE;
	if (hosts.more)
		mg_error("these are recordings of more than two hosts: give those of two");
	else if (!hosts.count[1])
		status = report_one(&o, d.at, d.count);
	else if (o.flow || o.pcap || (o.slowest && !o.html) || o.stacks || o.folded ||
		 o.histogram || o.statistics.demand.figures || filter_is_set(&o.filter))
		mg_error("recordings of two hosts are reported as a whole: leave out --flow, "
			 "--pcap, "
			 "--slowest, --stacks, --folded, --histogram, --on-demand and filters");
	else
		status = report_two_hosts(
			&hosts, &(struct two_hosts_options){form, o.detail, o.html, o.slowest});
	by_host_free(&hosts);
	return status;
}
