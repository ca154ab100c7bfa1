/* SPDX-License-Identifier: MIT */
/* magnet record: a program, its children, and what the kernel makes of their traffic. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "app_ring.h"
#include "clock.h"
#include "collector.h"
#include "commands.h"
#include "log.h"
#include "options.h"
#include "paths.h"
#include "session_file.h"
#include "trace_files.h"
#include "tracer.h"
#include "unseen.h"

#define READY_MS 15000
#define STOP_MS  60000         /* a slow disk may have much to take */
#define GRACE_NS 2000000000ull /* between asking COMMAND to end and leaving it */

static const char usage[] =
	"usage: magnet record [OPTION...] [--] COMMAND [ARG...]\n"
	"       magnet record [OPTION...] --pid PID | --all\n"
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
	"  -l, --layers LIST   of " MG_LAYER_CHOICES " (default: all)\n"
	"  -b, --buffer SIZE   buffer a CPU and side, with K, M or G (default: 16M kernel, fewer\n"
	"                      on many CPUs; 8M app)\n"
	"  -d, --drain MS      how often the kernel's buffers are emptied (default: 20)\n"
	"      --duration S    stop after S seconds; COMMAND gets SIGTERM, and 2 s to end\n"
	"      --calls LIST    application calls to log, such as send,recv (default: all)\n"
	"      --waits         also log poll, select, epoll_wait and their kin\n"
	"      --entries       also log that a call begins, so that one that blocks is seen\n"
	"      --anonymize     leave out addresses and ports\n"
	"  -q, --quiet         say nothing when all went well\n"
	"  -h, --help\n";

struct recording {
	const char *dir;
	char default_dir[PATH_MAX], app_dir[PATH_MAX], kernel_dir[PATH_MAX];
	bool app, kernel, quiet, anonymize;
	pid_t pid; /* --pid */
	bool all;
	uint64_t buffer;
	unsigned int duration_s, drain_ms;
	char *tracer_args[16];
	int tracer_arg_count;
	char **command;
	char command_text[4096];

	struct collector collector;
	struct tracer tracer;
	bool collector_runs, tracer_runs;
	pid_t child;
	int gate; /* COMMAND starts when its MAGNET_RINGS is written here */
	int status;
	int signals;
	sigset_t mask;           /* as the invoker had it, */
	void (*on_sigpipe)(int); /* and this: both are COMMAND's again */
	bool stop;
	int interrupts;
	int stopped_by; /* a signal, where the recording ended before COMMAND */
	struct collector_result app_result;
	struct session_info info;
};

/* ---- the command line ---- */

static void pass_on(struct recording *r, const char *option, const char *value)
{
	r->tracer_args[r->tracer_arg_count++] = (char *)option;
	if (value)
		r->tracer_args[r->tracer_arg_count++] = (char *)value;
}

static int parse(struct recording *r, int argc, char **argv)
{
	enum { APP_ONLY = 256, KERNEL_ONLY, DURATION, ANONYMIZE, CALLS, WAITS, ENTRIES };
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
		{"anonymize", no_argument, NULL, ANONYMIZE},
		{"calls", required_argument, NULL, CALLS},
		{"waits", no_argument, NULL, WAITS},
		{"entries", no_argument, NULL, ENTRIES},
		{"quiet", no_argument, NULL, 'q'},
		{"help", no_argument, NULL, 'h'},
		{0},
	};
	uint32_t layers;
	uint64_t n;
	int c;

	r->app = r->kernel = true;
	while ((c = getopt_long(argc, argv, "+o:p:al:b:d:qh", longs, NULL)) != -1) {
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
			pass_on(r, "--layers", optarg);
			break;
		case 'b':
			ok = option_size(optarg, MG_BUFFER_MIN, MG_BUFFER_MAX, &r->buffer);
			pass_on(r, "--buffer", optarg);
			break;
		case 'd':
			ok = option_number(optarg, 1, 10000, &n);
			r->drain_ms = (unsigned int)n;
			pass_on(r, "--drain", optarg);
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
			pass_on(r, "--anonymize", NULL);
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
		if (r->tracer_arg_count > 12 || !ok) {
			mg_error("bad or repeated value '%s' (see magnet record --help)",
				optarg ? optarg : "");
			return -EINVAL;
		}
	}
	if (optind < argc)
		r->command = argv + optind;
	if (!r->command && !r->pid && !r->all) {
		mg_error("record what? Give a COMMAND, --pid or --all (see magnet record --help)");
		return -EINVAL;
	}
	if ((r->command != NULL) + (r->pid != 0) + r->all > 1) {
		mg_error("a COMMAND, --pid and --all exclude each other");
		return -EINVAL;
	}
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

/* ---- the trace directory ---- */

static void join_command(struct recording *r)
{
	size_t used = 0;

	for (char **a = r->command; a && *a && used < sizeof(r->command_text); a++) {
		if (r->anonymize && a > r->command)
			break; /* arguments name addresses */
		used += (size_t)snprintf(r->command_text + used, sizeof(r->command_text) - used,
			"%s%s", a == r->command ? "" : " ", *a);
	}
	if (!r->command)
		snprintf(r->command_text, sizeof(r->command_text), r->all ? "(all)" : "(pid %d)",
			(int)r->pid);
}

/* magnet-COMMAND-TIME, and a number where several begin in one second. */
static int make_default_dir(struct recording *r)
{
	const char *name = r->command ? strrchr(r->command[0], '/') : NULL;
	time_t now = time(NULL);
	char stamp[32];
	int made = -1;

	name = name ? name + 1 : r->command ? r->command[0] : r->all ? "all" : "pid";
	strftime(stamp, sizeof(stamp), "%Y%m%d-%H%M%S", localtime(&now));
	r->dir = r->default_dir;
	snprintf(r->default_dir, sizeof(r->default_dir), "magnet-%.64s-%s", name, stamp);
	for (int i = 2; (made = mkdir(r->dir, 0700)) != 0 && errno == EEXIST && i < 1000; i++)
		snprintf(r->default_dir, sizeof(r->default_dir), "magnet-%.64s-%s-%d", name, stamp,
			i);
	return made;
}

/* Nobody else may be able to put links where the trace's files will be. */
static bool is_ours(const char *dir)
{
	const char *invoker = getenv("SUDO_UID");
	struct stat st;

	if (stat(dir, &st) != 0)
		return false;
	return st.st_uid == geteuid() ||
	       (geteuid() == 0 && invoker && st.st_uid == (uid_t)strtoul(invoker, NULL, 10));
}

static const char *why_no_dir(const char *dir)
{
	if (errno != EEXIST)
		return strerror(errno);
	if (!dir_is_empty(dir))
		return "it exists and is not empty";
	return is_ours(dir) ? NULL : "it exists and belongs to somebody else";
}

static int make_dir(struct recording *r)
{
	char resolved[PATH_MAX], claim[PATH_MAX];
	const char *why = NULL;
	int fd;

	if ((r->dir ? mkdir(r->dir, 0700) : make_default_dir(r)) != 0)
		why = why_no_dir(r->dir);
	if (!why && (chmod(r->dir, 0700) != 0 || !realpath(r->dir, resolved)))
		why = strerror(errno);
	if (!why && (snprintf(r->app_dir, PATH_MAX, "%s/app", resolved) >= PATH_MAX ||
			    snprintf(r->kernel_dir, PATH_MAX, "%s/kernel", resolved) >= PATH_MAX))
		why = "the path is too long";
	if (!why) { /* another recording may have found it empty at the same time */
		snprintf(claim, sizeof(claim), "%.4000s/session.json", resolved);
		fd = open(claim, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
		if (fd < 0)
			why = strerror(errno);
		else
			close(fd);
	}
	if (why)
		mg_error("cannot make the trace directory %s: %s", r->dir, why);
	return why ? -1 : 0;
}

/* ---- COMMAND ---- */

static void preload(const char *rings)
{
	char library[PATH_MAX], value[2 * PATH_MAX];
	const char *others = getenv("LD_PRELOAD");

	if (!find_part(library, "preload", MAGNET_LIBDIR, "libmagnet.so"))
		return;
	snprintf(value, sizeof(value), "%s%s%s", others && others[0] ? others : "",
		others && others[0] ? ":" : "", library);
	setenv("LD_PRELOAD", value, 1);
	setenv(MG_POOL_ENV, rings, 1);
}

/* It waits before its first instruction until both sides record. */
static int start_command(struct recording *r)
{
	int gate[2];

	if (pipe2(gate, O_CLOEXEC) != 0)
		return -errno;
	r->child = fork();
	if (r->child < 0)
		return -errno;
	if (r->child == 0) {
		char rings[sizeof(r->collector.rings)];
		ssize_t n;

		close(gate[1]);
		n = read(gate[0], rings, sizeof(rings));
		if (n <= 0)
			_exit(125);
		if (rings[0]) /* nothing without an application side */
			preload(rings);
		signal(SIGPIPE, r->on_sigpipe);
		sigprocmask(SIG_SETMASK, &r->mask, NULL);
		execvp(r->command[0], r->command);
		mg_error("cannot run %s: %s", r->command[0], strerror(errno));
		_exit(errno == ENOENT ? 127 : 126);
	}
	close(gate[0]);
	r->gate = gate[1];
	return 0;
}

/*
 * The tracer first and alone, since it measures what its events cost. COMMAND must exist for it to
 * follow; it waits.
 */
static int start_recorders(struct recording *r)
{
	int err = 0;

	if (r->command && start_command(r)) {
		mg_error("cannot start a process: %s", strerror(errno));
		return -EAGAIN;
	}
	if (r->command)
		pass_on(r, "--fresh", NULL);
	if (r->kernel) {
		err = tracer_start(&r->tracer, r->kernel_dir,
			r->all   ? 0
			: r->pid ? r->pid
				 : r->child,
			r->tracer_args);
		if (!err)
			err = tracer_wait_ready(&r->tracer, READY_MS);
		r->tracer_runs = !err;
	}
	if (err && !r->app) {
		mg_error("the kernel side cannot be recorded: %s", r->tracer.why);
		return err;
	}
	if (err) {
		mg_warn("recording the application side only: %s", r->tracer.why);
		snprintf(r->info.kernel_missing, sizeof(r->info.kernel_missing), "%s",
			r->tracer.why);
		rmdir(r->kernel_dir);
	}
	if (!r->app)
		return 0;
	err = collector_start(&r->collector, &(struct collector_options){.dir = r->app_dir,
						     .buffer_bytes = r->buffer,
						     .drain_ms = r->drain_ms,
						     .clock = !r->tracer_runs});
	r->collector_runs = !err;
	if (err)
		mg_error("the application side cannot be recorded: %s", r->collector.why);
	return err;
}

/* ---- while it runs ---- */

static void on_child(struct recording *r)
{
	int status;

	while (r->child > 0 && waitpid(r->child, &status, WNOHANG) == r->child) {
		r->status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
		r->info.signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
		r->child = 0;
		r->stop = true;
	}
}

/*
 * Ctrl-C reaches COMMAND by itself, which ends it and so the recording; other signals are passed
 * on. The second of either ends the recording at once and leaves COMMAND to itself.
 */
static void on_signal(struct recording *r)
{
	struct signalfd_siginfo info;
	bool from_keyboard;

	if (read(r->signals, &info, sizeof(info)) != (ssize_t)sizeof(info))
		return;
	if (info.ssi_signo == SIGCHLD) {
		on_child(r);
		return;
	}
	if (!r->command || ++r->interrupts > 1) {
		r->stopped_by = (int)info.ssi_signo;
		r->stop = true;
		return;
	}
	/* from the keyboard it went to the whole process group; from a program only to us */
	from_keyboard =
		(info.ssi_signo == SIGINT || info.ssi_signo == SIGQUIT) && info.ssi_code > 0;
	if (r->child > 0 && !from_keyboard)
		kill(r->child, (int)info.ssi_signo);
}

/* --duration is over: COMMAND is asked to end, and after a while left to itself. */
static void end_duration(struct recording *r, uint64_t *until)
{
	if (r->child <= 0 || r->stopped_by) {
		r->stop = true;
		return;
	}
	r->stopped_by = SIGTERM;
	kill(r->child, SIGTERM);
	*until += GRACE_NS;
}

static void wait_for_end(struct recording *r)
{
	uint64_t until = r->duration_s ? mg_monotonic_ns() + r->duration_s * 1000000000ull : 0;
	struct pollfd fds[] = {
		{r->signals, POLLIN, 0},
		{r->tracer_runs ? r->tracer.control : -1, POLLIN, 0},
	};

	while (!r->stop) {
		uint64_t now = mg_monotonic_ns();
		int wait = -1;

		if (until && now >= until) {
			end_duration(r, &until);
			continue;
		}
		if (until)
			wait = (int)((until - now) / 1000000) + 1;
		if (poll(fds, 2, wait) < 0 && errno != EINTR)
			break;
		if (fds[0].revents)
			on_signal(r);
		if (fds[1].revents) { /* it speaks only when it fails */
			if (!r->command)
				break;
			fds[1].fd = -1;
		}
	}
}

/* ---- the end ---- */

static int stop_recorders(struct recording *r)
{
	int failed = 0;

	r->info.stop_ns = mg_monotonic_ns();
	mg_clock_sync_read(&r->info.clock[1], 100);
	if (r->tracer_runs)
		tracer_ask_stop(&r->tracer);
	if (r->collector_runs && collector_stop(&r->collector, &r->app_result, STOP_MS)) {
		mg_error("application side: %s", r->collector.why);
		failed = 1;
	}
	if (r->tracer_runs && tracer_stop(&r->tracer, STOP_MS)) {
		mg_error("kernel side: %s", r->tracer.why);
		failed = 1;
	}
	return failed;
}

static void tell(const struct recording *r)
{
	const json_t *done = r->tracer.done;
	long long kernel = json_integer_value(json_object_get(done, "events"));
	char not_recorded[48] = "";
	long long skipped = json_integer_value(json_object_get(done, "skipped"));
	long long lost = json_integer_value(json_object_get(done, "lost")) - skipped;

	if (lost || r->app_result.discarded)
		mg_warn("events lost: %lld kernel, %llu application (try a larger --buffer)", lost,
			(unsigned long long)r->app_result.discarded);
	if (r->quiet)
		return;
	if (r->tracer_runs && r->collector_runs)
		tell_unseen(json_object_get(done, "callers"), &r->app_result.callers);
	if (skipped) /* no buffer helps: an interrupt found the tracer at work on its CPU */
		snprintf(not_recorded, sizeof(not_recorded), " (%lld more skipped)", skipped);
	fputs("magnet: ", stderr);
	if (r->collector_runs)
		fprintf(stderr, "%llu application%s", (unsigned long long)r->app_result.events,
			r->tracer_runs ? " and " : "");
	if (r->tracer_runs)
		fprintf(stderr, "%lld kernel", kernel);
	fprintf(stderr, " events%s in %s\n", not_recorded, r->dir);
}

int cmd_record(int argc, char **argv)
{
	struct recording r = {.gate = -1};
	sigset_t set;
	int err, failed;

	err = parse(&r, argc, argv);
	if (err)
		return err > 0 ? EXIT_DONE : err == -ESRCH ? EXIT_FAILED : EXIT_USAGE;
	join_command(&r);
	if (make_dir(&r))
		return EXIT_FAILED;
	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGHUP);
	sigaddset(&set, SIGQUIT);
	sigaddset(&set, SIGCHLD);
	sigprocmask(SIG_BLOCK, &set, &r.mask);
	r.on_sigpipe = signal(SIGPIPE, SIG_IGN);
	r.signals = signalfd(-1, &set, SFD_CLOEXEC);

	session_info_begin(&r.info, r.command_text, r.command);
	r.info.argc = r.anonymize ? 1 : INT_MAX;
	err = start_recorders(&r);
	if (!err) {
		session_file_write(r.dir, &r.info, &r.app_result, NULL);
		r.info.start_ns = mg_monotonic_ns();
		if (r.gate >= 0 && write(r.gate, r.collector.rings, sizeof(r.collector.rings)) <= 0)
			mg_error("cannot start %s", r.command[0]);
		wait_for_end(&r);
	}
	if (r.gate >= 0)
		close(r.gate);
	if (err && r.child > 0) { /* it has not begun */
		kill(r.child, SIGKILL);
		waitpid(r.child, NULL, 0);
	}
	failed = stop_recorders(&r) || err;
	if (r.child > 0 && !err) {
		mg_warn("%s still runs, and is no longer recorded", r.command[0]);
		r.status = 128 + r.stopped_by;
	}
	r.info.ended = r.command && !err && r.child <= 0;
	r.info.status = r.status;
	r.info.complete = !failed;
	r.info.has_app = r.collector_runs;
	r.info.has_kernel = r.tracer_runs;
	if (r.collector_runs && r.tracer_runs && !trace_align_clocks(r.app_dir, r.kernel_dir))
		mg_debug("clock offsets not aligned");
	if (session_file_write(r.dir, &r.info, &r.app_result, r.tracer.done)) {
		mg_error("cannot write %s/session.json: %s", r.dir, strerror(errno));
		failed = 1;
	}
	trace_give_to_invoker(r.dir);
	if (!err)
		tell(&r);
	callers_free(&r.app_result.callers);
	tracer_free(&r.tracer);
	return failed ? EXIT_FAILED : r.status;
}
