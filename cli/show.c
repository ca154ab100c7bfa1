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
#include "render/show.h"

static const char usage[] =
	"usage: magnet show DIR... [--tsv] [--flow ID] [--from T] [--to T]\n"
	"\n"
	"Every event in order of time, with its flow and the bytes of the stream it is about.\n"
	"\n"
	"      --tsv       tab-separated, with a header row, times in ns and cycles\n"
	"      --flow ID   only one flow's events (4097/tx)\n"
	"      --from T    from T seconds after the first event\n"
	"      --to T      until T seconds after the first event\n"
	"  -h, --help\n";

static bool seconds(const char *text, double *out)
{
	char *end;

	*out = strtod(text, &end);
	return end != text && *end == 0 && *out >= 0;
}

int cmd_show(int argc, char **argv)
{
	static const struct option longs[] = {
		{"tsv", no_argument, NULL, 't'},
		{"flow", required_argument, NULL, 'f'},
		{"from", required_argument, NULL, 'a'},
		{"to", required_argument, NULL, 'b'},
		{"help", no_argument, NULL, 'h'},
		{0},
	};
	struct show show = {.to = stdout, .to_s = -1};
	json_t *session = NULL;
	struct core core;
	bool ok = true;
	int c, status;

	while ((c = getopt_long(argc, argv, "h", longs, NULL)) != -1) {
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
		case 'h':
			fputs(usage, stdout);
			return EXIT_DONE;
		default:
			return EXIT_USAGE;
		}
		if (!ok) {
			mg_error("'%s' is no time in seconds (see magnet show --help)", optarg);
			return EXIT_USAGE;
		}
	}
	if (optind == argc) {
		mg_error("show what? Give a trace directory (see magnet show --help)");
		return EXIT_USAGE;
	}
	signal(SIGPIPE, SIG_DFL); /* some shells run us with it ignored; head has seen enough */
	core_init(&core);
	core_listen(&core, show_event, &show);
	show_header(&show);
	status =
		open_trace(argv + optind, argc - optind, &core, &session) ? EXIT_FAILED : EXIT_DONE;
	if (status == EXIT_DONE && show.flow && !show.flow_seen) {
		mg_error("there is no flow %s in this recording", show.flow);
		status = EXIT_FAILED;
	}
	if (fflush(stdout) != 0 || show.failed) {
		mg_error("cannot write the events");
		status = EXIT_FAILED;
	}
	core_free(&core);
	json_decref(session);
	return status;
}
