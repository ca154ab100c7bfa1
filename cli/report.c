/* SPDX-License-Identifier: MIT */
/* magnet report */
#include <getopt.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "against.h"
#include "commands.h"
#include "log.h"
#include "open_trace.h"
#include "options.h"
#include "reading.h"
#include "render/flow_calls.h"
#include "render/report.h"
#include "two_hosts.h"

static const char usage[] =
	"usage: magnet report DIR... [--json [--full]] [--flow ID] [--waterfall QUANTILE] "
	"[--against DIR]\n"
	"                     [--on-demand LIST]\n"
	"\n"
	"Where the recorded program's bytes waited, what its system calls "
	"cost, and what the stack\n"
	"made of its traffic. Several directories (an LTTng session's and a "
	"kernel tracer's) are read\n"
	"as one recording; recordings of two hosts beside each other, and what passed between "
	"them.\n"
	"\n"
	"      --json      one JSON object; of more than 1,000 flows most in brief\n"
	"      --full      with --json: whole flows, however many there are\n"
	"      --flow ID   one flow, as the report names them (4097/tx)\n"
	"      --waterfall QUANTILE\n"
	"                  where the bytes about this quantile waited, too, as p99\n"
	"      --against DIR\n"
	"                  compare with another recording, made before, and tell "
	"what differs by more\n"
	"                  than the noise\n"
	"      --on-demand LIST\n"
	"                  more figures, separated by commas, or all; with parameters: "
	"bursts:gap=5\n"
	"                  (list names them)\n"
	"  -h, --help\n";

/* "p99.9" is 0.999; 0 if it is none. */
static double quantile_of(const char *text)
{
	char *end = "?";
	double percent = text[0] == 'p' ? strtod(text + 1, &end) : 0;

	return percent > 0 && percent < 100 && !*end ? percent / 100 : 0;
}

static bool has_flow(const struct report *r, const char *id)
{
	return report_find_flow(r, id) < r->flow_count;
}

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

static int print(const struct report *r, bool json, const char *flow, struct flow_calls *calls)
{
	bool colour = isatty(STDOUT_FILENO) && !getenv("NO_COLOR");
	struct whole_text text;

	if (flow && !has_flow(r, flow)) {
		mg_error("there is no flow %s in this recording", flow);
		return EXIT_FAILED;
	}
	if (json && flow) {
		print_one(r, flow, calls);
	} else if (json) {
		report_json_print(r, NULL, REPORT_DIGITS, stdout);
	} else {
		FILE *to = whole_text_begin(&text);

		report_text(r, to, flow, colour);
		if (flow)
			flow_calls_text(r, calls, to, colour);
		whole_text_end(&text);
	}
	return printed("the report");
}

/* Recordings of two hosts are two, with two clocks; false if they are of one. */
static bool is_of_two(char **dirs, int count, enum report_form form, bool all, int *status)
{
	struct by_host hosts;
	bool two;

	by_host_sort(&hosts, dirs, count);
	if (hosts.more) {
		mg_error("these are recordings of more than two hosts: give those of two");
		*status = EXIT_USAGE;
		two = true;
	} else {
		two = hosts.count[1] > 0;
		if (two && !all) {
			mg_error("of two hosts all is reported: leave out --flow and --on-demand");
			*status = EXIT_USAGE;
		} else if (two) {
			*status = report_two_hosts(&hosts, form);
		}
	}
	by_host_free(&hosts);
	return two;
}

int cmd_report(int argc, char **argv)
{
	static const struct option longs[] = {
		{"json", no_argument, NULL, 'j'},
		{"full", no_argument, NULL, 'F'},
		{"flow", required_argument, NULL, 'f'},
		{"against", required_argument, NULL, 'a'},
		{"waterfall", required_argument, NULL, 'w'},
		{"on-demand", required_argument, NULL, 'd'},
		{"help", no_argument, NULL, 'h'},
		{0},
	};
	const char *flow = NULL;
	char *against = NULL;
	json_t *session = NULL;
	struct flow_calls calls = {0};
	struct report report;
	static struct core core; /* not freed: with the process it ends sooner */
	struct demand demand = {0};
	char why[400];
	double quantile = 0;
	bool json = false, full = false;
	enum report_form form;
	int c, status, opened;

	reading_begin();
	while ((c = option_next(argc, argv, "h", longs, NULL)) != -1) {
		switch (c) {
		case 'j':
			json = true;
			break;
		case 'F':
			full = true;
			break;
		case 'f':
			flow = optarg;
			break;
		case 'a':
			against = optarg;
			break;
		case 'w':
			quantile = quantile_of(optarg);
			if (quantile > 0)
				break;
			mg_error("--waterfall wants a quantile such as p99 or p99.9, not %s",
				optarg);
			return EXIT_USAGE;
		case 'd':
			if (strcmp(optarg, "list") == 0) {
				demand_list(stdout);
				return EXIT_DONE;
			}
			if (demand_parse(&demand, optarg, why, sizeof(why))) {
				mg_error("%s", why);
				return EXIT_USAGE;
			}
			break;
		case 'h':
			fputs(usage, stdout);
			return EXIT_DONE;
		default:
			return EXIT_USAGE;
		}
	}
	if (optind == argc) {
		mg_error("report of what? Give a trace directory (see magnet report --help)");
		return EXIT_USAGE;
	}
	if (against && flow) {
		mg_error("flows of two recordings are compared by their role: leave out --flow");
		return EXIT_USAGE;
	}
	if (quantile > 0 && (against || json)) {
		mg_error("--waterfall is for the text of one recording; --json has waterfalls of "
			 "its own");
		return EXIT_USAGE;
	}
	if (against && demand.figures) {
		mg_error("--on-demand is of one recording: leave out --against");
		return EXIT_USAGE;
	}
	form = !json ? REPORT_TEXT : full ? REPORT_JSON_WHOLE_FLOWS : REPORT_JSON;
	signal(SIGPIPE, SIG_DFL); /* some shells run us with it ignored; head has seen enough */
	if (against && !is_one_host(argv + optind, argc - optind))
		return EXIT_USAGE;
	if (against)
		return report_against(argv + optind, argc - optind, against, form);
	if (is_of_two(argv + optind, argc - optind, form, !flow && !demand.figures, &status))
		return status;
	core_init(&core);
	if (demand.figures)
		core_keep_series(&core, DEMAND_MEMORY);
	else if (!flow)
		core_pack_closed(&core);
	if (flow) {
		flow_calls_init(&calls, &core, flow);
		core_listen(&core, flow_calls_event, &calls);
	}
	opened = open_trace(argv + optind, argc - optind, &core, &session);
	status = opened ? EXIT_FAILED : EXIT_DONE;
	if (opened >= 0) {
		if (report_init(&report, &core, session, argv[optind]) == 0) {
			report.demand = demand.figures ? &demand : NULL;
			report.waterfall_at = quantile;
			report.whole_flows = full;
			if (print(&report, json, flow, &calls) != EXIT_DONE)
				status = EXIT_FAILED;
		}
		report_free(&report);
	}
	flow_calls_free(&calls);
	json_decref(session);
	return status;
}
