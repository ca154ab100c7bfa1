/* SPDX-License-Identifier: MIT */
/* magnet show */
#include <getopt.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "commands.h"
#include "log.h"
#include "open_trace.h"
#include "options.h"
#include "reading.h"
#include "render/byte_life.h"
#include "render/show.h"
#include "render/show_facts.h"
#include "show_bytes.h"
#include "two_hosts.h"

static const char usage[] =
	"usage: magnet show DIR... [--tsv] [--flow ID] [--from T] [--to T]\n"
	"       magnet show DIR... [--tsv] --flow ID --bytes RANGE | --byte N\n"
	"       magnet show DIR... --facts NAME [--flow ID]\n"
	"\n"
	"Every event in order of time, with its flow and the bytes of the stream it is about.\n"
	"\n"
	"      --tsv       tab-separated, with a header row, times in ns and cycles\n"
	"      --flow ID   only one flow's events (4097/tx)\n"
	"      --from T    from T seconds after the first event\n"
	"      --to T      until T seconds after the first event\n"
	"      --bytes RANGE\n"
	"                  the whole life of these bytes of the flow: 0-99, both included, or "
	"0+100\n"
	"      --byte N    of one byte, the first is 0\n"
	"      --facts NAME\n"
	"                  what is established from the events, as tab-separated values: call,\n"
	"                  range, packet, wait, state, flow, drop, retransmit, mark or loss\n"
	"  -h, --help\n";

static bool seconds(const char *text, double *out)
{
	char *end;

	*out = strtod(text, &end);
	return end != text && *end == 0 && *out >= 0;
}

static bool one_byte(const char *text, uint64_t *from, uint64_t *to)
{
	char range[32];

	snprintf(range, sizeof(range), "%.20s+1", text);
	return range_parse(range, from, to);
}

/* Returns an exit status, of what was written, too. */
static int ended(int status, const char *flow, bool flow_seen, bool failed, const char *what)
{
	if (status == EXIT_DONE && flow && !flow_seen) {
		mg_error("there is no flow %s in this recording", flow);
		status = EXIT_FAILED;
	}
	if (fflush(stdout) != 0 || ferror(stdout) || failed) {
		mg_error("cannot write the %s", what);
		status = EXIT_FAILED;
	}
	return status;
}

static int show_facts(const struct fact_desc *fact, const char *flow, char **dirs, int count)
{
	struct core core;
	struct show_facts show = {.to = stdout, .core = &core, .fact = fact, .flow = flow};
	json_t *session = NULL;
	int status;

	core_init(&core);
	show_facts_listen(&show);
	show_facts_header(stdout, fact);
	status = open_trace(dirs, count, &core, &session) ? EXIT_FAILED : EXIT_DONE;
	status = ended(status, flow, show.flow_seen, false, "facts");
	core_free(&core);
	json_decref(session);
	return status;
}

static int show_events(struct show *show, char **dirs, int count)
{
	json_t *session = NULL;
	struct core core;
	int status;

	core_init(&core);
	core_listen(&core, show_event, show);
	status = open_trace(dirs, count, &core, &session) ? EXIT_FAILED : EXIT_DONE;
	if (status == EXIT_DONE)
		show_header(show);
	status = ended(status, show->flow, show->flow_seen, show->failed, "events");
	core_free(&core);
	json_decref(session);
	return status;
}

int cmd_show(int argc, char **argv)
{
	static const struct option longs[] = {
		{"tsv", no_argument, NULL, 't'},
		{"flow", required_argument, NULL, 'f'},
		{"from", required_argument, NULL, 'a'},
		{"to", required_argument, NULL, 'b'},
		{"bytes", required_argument, NULL, 'r'},
		{"byte", required_argument, NULL, 'o'},
		{"facts", required_argument, NULL, 'F'},
		{"help", no_argument, NULL, 'h'},
		{0},
	};
	struct show show = {.to = stdout, .to_s = -1};
	const struct fact_desc *facts = NULL;
	uint64_t from = 0, to = 0; /* bytes; none */
	bool ok = true;
	int c;

	reading_begin();
	while ((c = option_next(argc, argv, "h", longs, NULL)) != -1) {
		switch (c) {
		case 't':
			show.tsv = true;
			break;
		case 'f':
			show.flow = optarg;
			break;
		case 'a':
			ok = seconds(optarg, &show.from_s);
			break;
		case 'b':
			ok = seconds(optarg, &show.to_s);
			break;
		case 'r':
			ok = range_parse(optarg, &from, &to);
			break;
		case 'o':
			ok = one_byte(optarg, &from, &to);
			break;
		case 'F':
			facts = fact_by_name(optarg);
			ok = facts;
			break;
		case 'h':
			fputs(usage, stdout);
			return EXIT_DONE;
		default:
			return EXIT_USAGE;
		}
		if (!ok) {
			mg_error("'%s' is no %s (see magnet show --help)", optarg,
				c == 'r'   ? "range of bytes"
				: c == 'o' ? "byte's number"
				: c == 'F' ? "kind of facts"
					   : "time in seconds");
			return EXIT_USAGE;
		}
	}
	if (optind == argc) {
		mg_error("show what? Give a trace directory (see magnet show --help)");
		return EXIT_USAGE;
	}
	if (show.to_s >= 0 && show.from_s > show.to_s) {
		mg_error("--from is after --to");
		return EXIT_USAGE;
	}
	if (to && (!show.flow || show.from_s > 0 || show.to_s >= 0)) {
		mg_error("bytes are those of a flow, at any time: give --flow, no --from or --to");
		return EXIT_USAGE;
	}
	if (facts && (to || show.from_s > 0 || show.to_s >= 0)) {
		mg_error("--facts shows all of a recording or of a flow: leave out --from, --to, "
			 "--bytes and --byte");
		return EXIT_USAGE;
	}
	signal(SIGPIPE, SIG_DFL); /* some shells run us with it ignored; head has seen enough */
	if (!is_one_host(argv + optind, argc - optind))
		return EXIT_USAGE;
	if (facts)
		return show_facts(facts, show.flow, argv + optind, argc - optind);
	return to ? show_life(argv + optind, argc - optind, show.flow, from, to, show.tsv)
		  : show_events(&show, argv + optind, argc - optind);
}
