/* SPDX-License-Identifier: MIT */
/* The command line of magnet-kernel-tracer. */
#include "run/tracer_options.h"

#include <errno.h>
#include <getopt.h>
#include <limits.h>
#include <net/if.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <stdlib.h>

#include "alloc.h"
#include "log.h"
#include "options.h"
#include "version.h"
#include "control/control.h"
#include "events/chosen_spec.h"
#include "hooks/hook_table.h"
#include "hooks/hooks.h"
#include "run/selection.h"

static const char usage[] =
	"usage: magnet-kernel-tracer -o DIR [OPTION...] [--] [COMMAND [ARG...]]\n"
	"       magnet-kernel-tracer ctl ...        speak to one that runs\n"
	"\n"
	"Records socket, TCP, IP, device and scheduler events of COMMAND and its children, of an\n"
	"existing process, or of the whole machine, into a CTF trace in DIR.\n"
	"\n"
	"  -o, --output DIR      trace directory to make\n"
	"  -p, --pid PID         record this process and the children it makes\n"
	"      --fresh           PID has no connections yet: none need be looked for\n"
	"      --with-app        the recording has an application side too\n"
	"  -a, --all             record every process (the default without PID and COMMAND)\n"
	"  -l, --layers LIST     of " MG_LAYER_CHOICES "\n"
	"                        or none (default: all but netfilter, gro and switch);\n"
	"                        +LIST: beside the default\n"
	"  -b, --buffer SIZE     ring a CPU, with K, M or G (default: 16M, fewer on many CPUs)\n"
	"  -d, --drain MS        how often the rings are emptied (default: 20)\n"
	"      --duration S      stop after S seconds\n"
	"      --max-size SIZE   stop when the trace has so many bytes, with K, M or G\n"
	"      --rotate AMOUNT   begin a new part after SIZE bytes, or after a time such as 30s\n"
	"      --keep N          of the parts keep the newest N\n"
	"      --flight AMOUNT   keep only so much, in memory, and write a part when a dump is "
	"asked "
	"for\n"
	"      --trigger WHEN    dump on retransmission, on lost, or on latency>100ms; repeatable\n"
	"      --event EVENT     also CATEGORY:NAME[/FILTER/][:FIELD,...], any tracepoint; "
	"repeatable\n"
	"      --level LEVEL     protocol state with each TCP event: none, light or full (default: "
	"none)\n"
	"      --cgroup PATH     record the tasks of this cgroup (v2) and what they start\n"
	"      --protocol LIST   only sockets of tcp, udp, unix, raw, icmp, netlink, vsock\n"
	"      --netns LIST      only sockets of these network namespaces: names or inodes\n"
	"      --port LIST       only connections from or to these ports\n"
	"      --address LIST    only connections from or to these addresses or prefixes\n"
	"      --sample N        only one in N connections, but all of it\n"
	"      --interface NAME  leave out packets at other interfaces\n"
	"      --without KINDS   do without these kinds of hooks: of fentry, fexit and netfilter\n"
	"      --anonymize       leave out addresses and ports\n"
	"      --control PATH    socket to be asked at (default: "
	"/run/magnet/kernel-tracer-PID.sock)\n"
	"      --control-fd FD   speak with a parent: one JSON object a line\n"
	"  -h, --help\n"
	"      --version\n";

static int add_event(struct tracer_options *o, char *text)
{
	char **more = mg_realloc(o->event, (size_t)(o->event_count + 1) * sizeof(*more));
	struct event_spec s;
	const char *wrong;

	if (!more) {
		mg_error("out of memory");
		return -ENOMEM;
	}
	o->event = more;
	more[o->event_count++] = text;
	wrong = spec_parse(text, &s);
	if (wrong && mg_memory_failures()) {
		mg_error("%s", wrong);
		return -ENOMEM;
	}
	if (wrong) {
		mg_error("--event %s: %s", text, wrong);
		return -EINVAL;
	}
	spec_free(&s);
	return 0;
}

static int add_filter(struct tracer_options *o, const char *name, const char *value)
{
	char why[400];
	int err = selection_add(&o->hooks.settings, name, value, why, sizeof(why));

	if (err)
		mg_error("--%s %s", name, why);
	return err;
}

/* Kinds of hooks that have alternatives. */
static bool kinds(const char *text, uint32_t *out)
{
	for (;;) { /* given twice, both count */
		size_t len = strcspn(text, ",");
		int found = 0;

		for (int i = HOOK_TP + 1; i < HOOK_KINDS; i++)
			if (strlen(hook_kind_names[i]) == len &&
				strncmp(hook_kind_names[i], text, len) == 0)
				found = i;
		if (!found)
			return option_refuse("kinds of hooks: of fentry, fexit and netfilter");
		*out |= 1u << found;
		if (!text[len])
			return true;
		text += len + 1;
	}
}

static bool add_trigger(struct tracer_options *o, const char *text)
{
	char number[24] = "";
	uint64_t n = 0, unit = 0;
	size_t digits;

	option_refuse("retransmission, lost, or latency>TIME with us, ms or s, such as "
		      "latency>100ms");
	if (strcmp(text, "retransmission") == 0)
		return o->trigger_retransmission = true;
	if (strcmp(text, "lost") == 0)
		return o->trigger_lost = true;
	if (strncmp(text, "latency>", 8) != 0)
		return false;
	text += 8;
	digits = strspn(text, "0123456789");
	unit = strcmp(text + digits, "us") == 0   ? 1000
	       : strcmp(text + digits, "ms") == 0 ? 1000000
	       : strcmp(text + digits, "s") == 0  ? 1000000000
						  : 0;
	if (!unit || digits >= sizeof(number))
		return false;
	memcpy(number, text, digits);
	if (!option_number(number, 1, 1000000, &n))
		return option_refuse("latency> and a time of 1 to 1000000 us, ms or s");
	o->trigger_latency_ns = n * unit;
	return true;
}

/* What excludes each other, or takes another. */
static const char *wrong_parts(const struct tracer_options *o)
{
	const uint32_t both = 1u << MG_LAYER_DEVICE | 1u << MG_LAYER_SOCKET;
	bool rotate = o->rotate_bytes || o->rotate_ns, flight = o->flight_bytes || o->flight_ns;

	const char *wrong = option_wrong_bounds(o->max_bytes, rotate, o->keep, flight);

	if (wrong)
		return wrong;
	if (!flight && (o->trigger_retransmission || o->trigger_lost || o->trigger_latency_ns))
		return "--trigger is of the flight recorder: it takes --flight";
	if (o->trigger_latency_ns && (o->hooks.layers & both) != both)
		return "--trigger latency takes the layers device and socket";
	if (o->trigger_retransmission && !(o->hooks.layers & 1u << MG_LAYER_TCP))
		return "--trigger retransmission takes the layer tcp";
	return NULL;
}

int tracer_options_parse(struct tracer_options *o, int argc, char **argv)
{
	enum {
		DURATION = 256,
		MAX_SIZE,
		ROTATE,
		KEEP,
		FLIGHT,
		TRIGGER,
		FRESH,
		WITH_APP,
		EVENT,
		LEVEL,
		WITHOUT,
		CGROUP,
		FILTER,
		ANONYMIZE,
		CONTROL,
		CONTROL_FD,
		VERSION
	};
	static const struct option longs[] = {
		{"output", required_argument, NULL, 'o'},
		{"pid", required_argument, NULL, 'p'},
		{"fresh", no_argument, NULL, FRESH},
		{"with-app", no_argument, NULL, WITH_APP},
		{"all", no_argument, NULL, 'a'},
		{"layers", required_argument, NULL, 'l'},
		{"buffer", required_argument, NULL, 'b'},
		{"drain", required_argument, NULL, 'd'},
		{"duration", required_argument, NULL, DURATION},
		{"max-size", required_argument, NULL, MAX_SIZE},
		{"rotate", required_argument, NULL, ROTATE},
		{"keep", required_argument, NULL, KEEP},
		{"flight", required_argument, NULL, FLIGHT},
		{"trigger", required_argument, NULL, TRIGGER},
		{"event", required_argument, NULL, EVENT},
		{"level", required_argument, NULL, LEVEL},
		{"cgroup", required_argument, NULL, CGROUP},
		{"protocol", required_argument, NULL, FILTER},
		{"netns", required_argument, NULL, FILTER},
		{"port", required_argument, NULL, FILTER},
		{"address", required_argument, NULL, FILTER},
		{"sample", required_argument, NULL, FILTER},
		{"interface", required_argument, NULL, FILTER},
		{"without", required_argument, NULL, WITHOUT},
		{"anonymize", no_argument, NULL, ANONYMIZE},
		{"control", required_argument, NULL, CONTROL},
		{"control-fd", required_argument, NULL, CONTROL_FD},
		{"help", no_argument, NULL, 'h'},
		{"version", no_argument, NULL, VERSION},
		{0},
	};
	uint64_t n;
	int c, which, err;

	o->hooks.layers = MG_USUAL_LAYERS;
	o->drain_ms = 20;
	o->control = -1;
	while ((c = option_next(argc, argv, "+o:p:al:b:d:h", longs, &which)) != -1) {
		bool ok = true;

		switch (c) {
		case 'o':
			o->dir = optarg;
			break;
		case 'p':
			ok = option_number(optarg, 1, INT_MAX, &n);
			o->hooks.pid = (pid_t)n;
			break;
		case 'a':
			o->hooks.all = true;
			break;
		case 'l':
			ok = option_layers(optarg, &o->hooks.layers);
			break;
		case 'b':
			ok = option_size(
				optarg, MG_BUFFER_MIN, MG_BUFFER_MAX, &o->hooks.buffer_bytes);
			break;
		case 'd':
			ok = option_number(optarg, 1, 10000, &n);
			o->drain_ms = (unsigned int)n;
			break;
		case FRESH:
			o->hooks.fresh = true;
			break;
		case WITH_APP:
			o->with_app = true;
			break;
		case LEVEL:
			ok = option_level(optarg, &o->hooks.settings.level);
			break;
		case DURATION:
			ok = option_number(optarg, 1, 1000000, &n);
			o->duration_s = (unsigned int)n;
			break;
		case MAX_SIZE:
			ok = option_size(optarg, MG_MAX_SIZE_MIN, 1ull << 50, &o->max_bytes);
			break;
		case ROTATE:
			ok = option_amount(optarg, MG_ROTATE_MIN, &o->rotate_bytes, &o->rotate_ns);
			break;
		case KEEP:
			ok = option_number(optarg, 1, 1000000, &n);
			o->keep = (uint32_t)n;
			break;
		case FLIGHT:
			ok = option_amount(optarg, MG_FLIGHT_MIN, &o->flight_bytes, &o->flight_ns);
			break;
		case TRIGGER:
			ok = add_trigger(o, optarg);
			break;
		case EVENT:
			err = add_event(o, optarg);
			if (err)
				return err;
			break;
		case CGROUP:
			o->cgroup = optarg;
			ok = *optarg || option_refuse("a path; the root is /");
			break;
		case FILTER:
			if (add_filter(o, longs[which].name, optarg))
				return -EINVAL;
			break;
		case WITHOUT:
			ok = kinds(optarg, &o->hooks.without);
			break;
		case ANONYMIZE:
			o->hooks.anonymize = true;
			break;
		case CONTROL:
			o->control_path = optarg;
			break;
		case CONTROL_FD:
			ok = option_number(optarg, 0, INT_MAX, &n);
			o->control = (int)n;
			break;
		case 'h':
			fputs(usage, stdout);
			return 1;
		case VERSION:
			puts("magnet-kernel-tracer " MAGNET_VERSION);
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
		o->command = argv + optind;
	if (!o->dir) {
		mg_error("where to? -o DIR is missing (see --help)");
		return -EINVAL;
	}
	if ((o->command != NULL) + (o->hooks.pid != 0) + o->hooks.all + (o->cgroup != NULL) > 1) {
		mg_error("a COMMAND, --pid, --cgroup and --all exclude each other");
		return -EINVAL;
	}
	if (wrong_parts(o)) {
		mg_error("%s", wrong_parts(o));
		return -EINVAL;
	}
	if (o->hooks.pid && kill(o->hooks.pid, 0) != 0 && errno == ESRCH) {
		mg_error("there is no process %d", (int)o->hooks.pid);
		return -ESRCH;
	}
	/* one may come later, and be in another network namespace: no error */
	if (o->hooks.settings.interface[0] && !if_nametoindex(o->hooks.settings.interface))
		mg_warn("there is no interface %s in this network namespace",
			o->hooks.settings.interface);
	if (!o->command && !o->hooks.pid && !o->cgroup)
		o->hooks.all = true;
	return 0;
}
