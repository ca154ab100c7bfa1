/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "record_options.h"

#include <errno.h>
#include <getopt.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

#include "commands.h"
#include "log.h"
#include "options.h"

static const char usage[] =
	"usage: magnet record [OPTION...] [--] COMMAND [ARG...]\n"
	"       magnet record [OPTION...] --pid PID | --cgroup PATH | --all\n"
	"\n"
	"Runs COMMAND unmodified and records what it and its children ask of the network, and "
	"what\n"
	"each layer of the stack and the scheduler make of that. Exits with COMMAND's status.\n"
	"\n"
	"  -o, --output DIR    trace directory to make (default: magnet-COMMAND-TIME)\n"
	"      --app-only      only the application side; needs no privilege\n"
	"      --kernel-only   only the kernel side: COMMAND runs without libmagnet.so\n"
	"  -p, --pid PID       record a process that runs already, kernel side only\n"
	"  -a, --all           record the whole machine, kernel side only\n"
	"      --cgroup PATH   record the tasks of a cgroup (v2), kernel side only\n"
	"  -l, --layers LIST   of " MG_LAYER_CHOICES "\n"
	"                      or none (default: all but netfilter, gro and switch);\n"
	"                      +LIST: beside the default\n"
	"  -b, --buffer SIZE   buffer a CPU of the kernel side, with K, M or G (default: 16M, "
	"fewer\n"
	"                      on many CPUs), and a thread of COMMAND (default: 4M, at most 16M)\n"
	"  -d, --drain MS      how often the kernel's buffers are emptied (default: 20)\n"
	"      --event EVENT   also CATEGORY:NAME[/FILTER/][:FIELD,...], any tracepoint of the\n"
	"                      kernel; repeatable\n"
	"      --duration S    stop after S seconds; COMMAND gets SIGTERM, and 2 s to end\n"
	"      --max-size SIZE  stop a side when its trace has so many bytes\n"
	"      --rotate AMOUNT  begin a new part of each after SIZE bytes, or a time such as 30s\n"
	"      --keep N        of the parts keep the newest N\n"
	"      --flight AMOUNT  keep only so much of both sides; write it when asked to\n"
	"      --trigger WHEN  do so on retransmission, on lost, or on latency>100ms; repeatable\n"
	"      --level LEVEL   protocol state with each TCP event: none, light or full (default: "
	"none)\n"
	"      --without KINDS  kinds of hooks not to be used: of fentry, fexit and netfilter\n"
	"      --calls LIST    application calls to log, such as send,recv (default: all)\n"
	"      --waits         also log poll, select, epoll_wait and their kin\n"
	"      --entries       also log that a call begins, so that one that blocks is seen\n"
	"      --protocol LIST  only sockets of tcp, udp, unix, raw, icmp, netlink, vsock\n"
	"      --netns LIST    only sockets of these network namespaces: names or inodes\n"
	"      --port LIST     only connections from or to these ports\n"
	"      --address LIST  only connections from or to these addresses or prefixes\n"
	"      --sample N      only one in N connections, but all of it\n"
	"      --interface NAME  leave out packets at other interfaces\n"
	"      --anonymize     leave out addresses and ports\n"
	"  -q, --quiet         say nothing when all went well\n"
	"  -h, --help\n";

void record_pass_on(struct record_options *r, const char *option, const char *value)
{
	if (r->tracer_arg_count + 2 >= (int)(sizeof(r->tracer_args) / sizeof(r->tracer_args[0]))) {
		mg_error("too many options");
		exit(EXIT_USAGE);
	}
	r->tracer_args[r->tracer_arg_count++] = (char *)option;
	if (value)
		r->tracer_args[r->tracer_arg_count++] = (char *)value;
}

/* An option that is the kernel tracer's own, which checks its value itself. */
static void pass_long(struct record_options *r, const char *name)
{
	char *option = r->option_text[r->tracer_arg_count / 2];

	snprintf(option, sizeof(r->option_text[0]), "--%s", name);
	record_pass_on(r, option, optarg);
}

int record_options_parse(struct record_options *r, int argc, char **argv)
{
	enum {
		APP_ONLY = 256,
		KERNEL_ONLY,
		DURATION,
		ANONYMIZE,
		CALLS,
		WAITS,
		ENTRIES,
		CGROUP,
		MAX_SIZE,
		ROTATE,
		KEEP,
		FLIGHT,
		PASSED_ON
	};
	static const struct option longs[] = {
		{"output", required_argument, NULL, 'o'},
		{"app-only", no_argument, NULL, APP_ONLY},
		{"kernel-only", no_argument, NULL, KERNEL_ONLY},
		{"pid", required_argument, NULL, 'p'},
		{"all", no_argument, NULL, 'a'},
		{"layers", required_argument, NULL, 'l'},
		{"buffer", required_argument, NULL, 'b'},
		{"drain", required_argument, NULL, 'd'},
		{"duration", required_argument, NULL, DURATION},
		{"cgroup", required_argument, NULL, CGROUP},
		{"protocol", required_argument, NULL, PASSED_ON},
		{"netns", required_argument, NULL, PASSED_ON},
		{"port", required_argument, NULL, PASSED_ON},
		{"address", required_argument, NULL, PASSED_ON},
		{"sample", required_argument, NULL, PASSED_ON},
		{"interface", required_argument, NULL, PASSED_ON},
		{"anonymize", no_argument, NULL, ANONYMIZE},
		{"calls", required_argument, NULL, CALLS},
		{"waits", no_argument, NULL, WAITS},
		{"entries", no_argument, NULL, ENTRIES},
		{"quiet", no_argument, NULL, 'q'},
		/* the kernel tracer's own: magnet-kernel-tracer(8) */
		{"max-size", required_argument, NULL, MAX_SIZE},
		{"rotate", required_argument, NULL, ROTATE},
		{"keep", required_argument, NULL, KEEP},
		{"flight", required_argument, NULL, FLIGHT},
		{"trigger", required_argument, NULL, PASSED_ON},
		{"event", required_argument, NULL, PASSED_ON},
		{"level", required_argument, NULL, PASSED_ON},
		{"without", required_argument, NULL, PASSED_ON},
		{"help", no_argument, NULL, 'h'},
		{0},
	};
	struct collector_bounds *b = &r->bounds;
	const char *wrong;
	uint32_t layers = MG_USUAL_LAYERS;
	uint64_t n;
	int c, which;

	r->app = r->kernel = true;
	while ((c = option_next(argc, argv, "+o:p:al:b:d:qh", longs, &which)) != -1) {
		bool ok = true;

		switch (c) {
		case 'o':
			r->dir = optarg;
			break;
		case APP_ONLY:
			r->kernel = false;
			break;
		case KERNEL_ONLY:
			r->app = false;
			break;
		case 'p':
			ok = option_number(optarg, 1, INT_MAX, &n);
			r->pid = (pid_t)n;
			break;
		case 'a':
			r->all = true;
			break;
		case 'l':
			ok = option_layers(optarg, &layers);
			record_pass_on(r, "--layers", optarg);
			break;
		case 'b':
			ok = option_size(optarg, MG_BUFFER_MIN, MG_BUFFER_MAX, &r->buffer);
			record_pass_on(r, "--buffer", optarg);
			break;
		case 'd':
			ok = option_number(optarg, 1, 10000, &n);
			r->drain_ms = (unsigned int)n;
			record_pass_on(r, "--drain", optarg);
			break;
		case DURATION:
			ok = option_number(optarg, 1, 1000000, &n);
			r->duration_s = (unsigned int)n;
			break;
		case CALLS: /* libmagnet.so reads these; COMMAND inherits them */
			ok = option_calls(optarg);
			setenv("MAGNET_CALLS", optarg, 1);
			break;
		case WAITS:
			setenv("MAGNET_WAITS", "1", 1);
			break;
		case ENTRIES:
			setenv("MAGNET_ENTRIES", "1", 1);
			break;
		case ANONYMIZE:
			r->anonymize = true;
			record_pass_on(r, "--anonymize", NULL);
			break;
		case CGROUP:
			r->cgroup = optarg;
			record_pass_on(r, "--cgroup", optarg);
			break;
		case MAX_SIZE: /* these bound both sides */
			ok = option_size(optarg, MG_MAX_SIZE_MIN, 1ull << 50, &b->max_bytes);
			pass_long(r, longs[which].name);
			break;
		case ROTATE:
			ok = option_amount(optarg, MG_ROTATE_MIN, &b->rotate_bytes, &b->rotate_ns);
			pass_long(r, longs[which].name);
			break;
		case KEEP:
			ok = option_number(optarg, 1, 1000000, &n);
			b->keep = (uint32_t)n;
			pass_long(r, longs[which].name);
			break;
		case FLIGHT:
			ok = option_amount(optarg, MG_FLIGHT_MIN, &b->flight_bytes, &b->flight_ns);
			pass_long(r, longs[which].name);
			break;
		case PASSED_ON:
			pass_long(r, longs[which].name);
			break;
		case 'q':
			r->quiet = true;
			break;
		case 'h':
			fputs(usage, stdout);
			return 1;
		default:
			return -EINVAL;
		}
		if (!ok) {
			mg_error("--%s: bad value '%s': it takes %s", option_name(longs, c), optarg,
				option_takes());
			return -EINVAL;
		}
	}
	if (optind < argc)
		r->command = argv + optind;
	if (!r->command && !r->pid && !r->all && !r->cgroup) {
		mg_error("record what? Give a COMMAND, --pid, --cgroup or --all (see magnet record "
			 "--help)");
		return -EINVAL;
	}
	if ((r->command != NULL) + (r->pid != 0) + r->all + (r->cgroup != NULL) > 1) {
		mg_error("a COMMAND, --pid, --cgroup and --all exclude each other");
		return -EINVAL;
	}
	wrong = option_wrong_bounds(b->max_bytes, b->rotate_bytes || b->rotate_ns, b->keep,
		b->flight_bytes || b->flight_ns);
	if (wrong) {
		mg_error("%s", wrong);
		return -EINVAL;
	}
	if (r->kernel && !r->quiet && mg_layers_see_packets_only(layers))
		mg_warn("the kernel side sees no " MG_UNSEEN_KINDS
			": they pass none of these layers (socket, tcp and syscall see them)");
	if (!r->app && !r->kernel) {
		mg_error("--app-only and --kernel-only exclude each other");
		return -EINVAL;
	}
	if (r->pid && kill(r->pid, 0) != 0 && errno == ESRCH) {
		mg_error("there is no process %d", (int)r->pid);
		return -ESRCH;
	}
	if (!r->command) {
		if (!r->kernel) {
			mg_error("--app-only needs a COMMAND: what runs already has no "
				 "libmagnet.so");
			return -EINVAL;
		}
		r->app = false;
	}
	return 0;
}
