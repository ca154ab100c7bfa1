/* SPDX-License-Identifier: MIT */
/* magnet top */
#define _GNU_SOURCE
#include "top.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <unistd.h>

#include "alloc.h"
#include "clock.h"
#include "commands.h"
#include "log.h"
#include "option_table.h"
#include "render/table.h"
#include "top_columns.h"
#include "top_interval.h"
#include "top_json.h"
#include "top_screen.h"

#define CLOSED_KEPT  10000 /* closed connections that the core still knows */
#define INTERVAL_MIN 100000000ull
#define INTERVAL_MAX 3600000000000ull

static const char usage[] =
	"usage: magnet top [OPTION...] [PID[,PID...]]\n"
	"       magnet top [OPTION...] -- COMMAND [ARG...]\n"
	"       magnet top [OPTION...] DIR\n"
	"\n"
	"Records processes, by default all, or COMMAND, and shows their connections while they\n"
	"run: rates, times to the reply, where bytes wait, what was sent again. With DIR it "
	"follows\n"
	"a recording that runs already. The keys are listed by '?'.\n"
	"\n";

/* The recorder takes the list as it is given; here it is only looked at. */
static bool parse_layers(const struct option_row *row, const char *text, void *value)
{
	uint32_t layers = 0;

	if (!option_type_layers.parse(row, text, &layers))
		return false;
	*(const char **)value = text;
	return true;
}

static const struct option_type type_layers = {parse_layers, NULL};

#define ROW(option, letter, argument, type, member, doc) \
	OPTION_ROW(struct top_options, option, letter, argument, type, member, doc)
#define TIME(option, letter, member, doc)                                                    \
	{                                                                                    \
		"--" option, "T", doc, &option_type_time, INTERVAL_MIN, INTERVAL_MAX,        \
			offsetof(struct top_options, member), OPTION_ONLY_COMMAND, 0, letter \
	}
static const struct option_row rows[] = {
	TIME("interval", 'i', interval, "show new figures after this time (default: 1s)"),
	TIME("window", 0, window, "sum each connection's row over this time (default: 5s)"),
	{"--count", "N", "end after N intervals", &option_type_number, 1, UINT32_MAX,
		offsetof(struct top_options, count), OPTION_ONLY_COMMAND, 0, 'n'},
	ROW("json", 0, NULL, option_type_flag, json,
		"print a line of JSON for each interval instead of a screen"),
	ROW("sort", 0, "COLUMN", top_type_column, sort,
		"sort by a column: numbers from the greatest, text alphabetically (default: sent)"),
	ROW("filter", 0, "TEXT", option_type_text, filter,
		"list only connections with this text in program, address or protocol"),
	ROW("layers", 'l', "LIST", type_layers, layers,
		"record these layers of the kernel side, as magnet record does (timestamps costs "
		"least)"),
	ROW("output", 'o', "DIR", option_type_path, directory,
		"keep the recording in DIR; otherwise it is temporary"),
	{"--max-size", "SIZE",
		"end when a side of a temporary recording has reached this size (default: half of "
		"what is free)",
		&option_type_size, 1, UINT64_MAX, offsetof(struct top_options, max_size),
		OPTION_ONLY_COMMAND, 0, 0},
	ROW("color", 0, "WHEN", output_type_colour, output.colour,
		"show colours: auto (unless NO_COLOR is set), always or never"),
	ROW("help", 'h', NULL, option_type_help, help, "print this help"),
};
#undef ROW
#undef TIME

uint32_t top_slots(const struct top *t)
{
	uint64_t n = (t->o.window + t->o.interval - 1) / t->o.interval;

	return n < 1 ? 1 : n > LIVE_SLOTS - 1 ? LIVE_SLOTS - 1 : (uint32_t)n;
}

/* ---- what is recorded ---- */

static bool is_pid_list(const char *text)
{
	return text[0] && strspn(text, "0123456789,") == strlen(text);
}

static bool is_directory(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

static void name_command(struct top *t)
{
	char text[400];
	size_t used = 0;

	for (char **a = t->command; *a && used < sizeof(text); a++)
		used += (size_t)snprintf(
			text + used, sizeof(text) - used, "%s%s", a == t->command ? "" : " ", *a);
	snprintf(t->what, sizeof(t->what), "%s", text_plain(text, sizeof(t->what) - 1));
}

/* Decides what the arguments mean. Returns 0, or EXIT_USAGE after a message. */
static int choose(struct top *t, int argc, char **argv)
{
	bool is_command = optind > 0 && strcmp(argv[optind - 1], "--") == 0;
	int left = argc - optind;

	if (is_command && left) {
		t->command = argv + optind;
		name_command(t);
	} else if (is_command) {
		mg_error("no command given behind --");
		return EXIT_USAGE;
	} else if (left > 1) {
		mg_error("too many arguments: give a process, a directory, or -- COMMAND");
		return EXIT_USAGE;
	} else if (left && is_pid_list(argv[optind])) {
		t->pid = argv[optind];
		snprintf(t->what, sizeof(t->what), "process%s %.100s",
			strchr(t->pid, ',') ? "es" : "", t->pid);
	} else if (left && is_directory(argv[optind])) {
		t->dir = argv[optind];
		snprintf(t->what, sizeof(t->what), "%s", text_plain(t->dir, 100));
	} else if (left) {
		mg_error("'%s' is no process number and no directory: give a PID, the directory of "
			 "a recording, or -- COMMAND",
			argv[optind]);
		return EXIT_USAGE;
	} else {
		snprintf(t->what, sizeof(t->what), "all processes");
	}
	if (t->dir && (t->o.directory || t->o.max_size || t->o.layers)) {
		mg_error("--output, --max-size and --layers are for a recording of its own: leave "
			 "them out with DIR");
		return EXIT_USAGE;
	}
	return 0;
}

static void note(struct top *t, const char *text)
{
	if (t->o.json)
		mg_warn("%s", text);
	else
		snprintf(t->state.notice, sizeof(t->state.notice), "%s", text);
}

/* ---- the loop ---- */

static int open_signals(void)
{
	static const int taken[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGCHLD};
	sigset_t set;

	sigemptyset(&set);
	for (size_t i = 0; i < sizeof(taken) / sizeof(taken[0]); i++)
		sigaddset(&set, taken[i]);
	sigprocmask(SIG_BLOCK, &set, NULL);
	return signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
}

static void take_signals(struct top *t, int signals)
{
	struct signalfd_siginfo info;

	while (read(signals, &info, sizeof(info)) == (ssize_t)sizeof(info)) {
		if (info.ssi_signo == SIGCHLD)
			top_recorder_look(&t->recorder);
		else
			t->is_quitting = true;
	}
	/* one that was killed leaves recorders that end their traces by themselves */
	if (!t->dir && !t->recorder.pid && !t->recorder.was_killed)
		following_end(&t->following);
}

/* Waits for keys, signals, or the time to read on. */
static bool wait_for(const struct top *t, int signals, enum following_state state, uint64_t next)
{
	struct pollfd p[] = {{signals, POLLIN, 0}, {t->o.json ? -1 : STDIN_FILENO, POLLIN, 0}};
	uint64_t now = mg_monotonic_ns();
	int wait = now >= next ? 0 : (int)((next - now) / 1000000) + 1;

	if (state == FOLLOWING_MORE)
		wait = 0;
	else if (wait > FOLLOWING_MS && state == FOLLOWING_WAITS)
		wait = FOLLOWING_MS;
	poll(p, 2, wait);
	return !(p[1].revents & (POLLHUP | POLLERR));
}

/* Reads on if there is more. Returns what became of it. */
static enum following_state advance(struct top *t, enum following_state before)
{
	enum following_state state = before;
	const char *notice;

	if (before >= FOLLOWING_ENDED)
		return before;
	state = following_read(&t->following);
	while ((notice = following_notice(&t->following)))
		note(t, notice);
	if (core_lacks_memory(t->core)) {
		snprintf(t->following.why, sizeof(t->following.why), "%s", strerror(ENOMEM));
		state = FOLLOWING_FAILED;
	}
	t->state.ended = state == FOLLOWING_ENDED;
	return state;
}

/* Shows an interval. Returns whether that could be done. */
static bool show(struct top *t, struct top_screen *screen)
{
	top_turn(t);
	if (t->o.json)
		return top_json(t);
	top_screen_refresh(screen, t);
	top_screen_draw(screen, t);
	return true;
}

/* Returns whether there is no more to wait for. */
static bool is_over(const struct top *t, enum following_state state, bool failed)
{
	if (failed || state == FOLLOWING_FAILED)
		return true;
	if (state == FOLLOWING_ENDED)
		return t->o.json || t->o.count || t->is_quitting;
	return t->is_quitting && t->dir;
}

/* Returns the exit status. */
static int run(struct top *t, struct top_screen *screen, int signals)
{
	enum following_state state = FOLLOWING_WAITS;
	uint64_t next = mg_monotonic_ns() + t->o.interval, shown = 0;
	bool failed = false;

	while (!is_over(t, state, failed)) {
		enum following_state before = state;
		bool is_due, keys;

		if (!wait_for(t, signals, state, next))
			t->is_quitting = true;
		take_signals(t, signals);
		keys = !t->o.json && top_screen_keys(screen, t);
		state = advance(t, state);
		if (t->is_quitting && !t->dir)
			top_recorder_stop(&t->recorder, mg_monotonic_ns());
		is_due = mg_monotonic_ns() >= next;
		if (is_due)
			next = mg_monotonic_ns() + t->o.interval;
		/* the last interval ends with the recording; before its begin there is none */
		if (state != before && state == FOLLOWING_ENDED)
			failed = !show(t, screen);
		else if (is_due && state < FOLLOWING_ENDED && core_begin_ns(t->core)) {
			failed = !show(t, screen);
			t->is_quitting |= t->o.count && ++shown >= t->o.count;
		} else if (!t->o.json && (keys || is_due)) {
			top_screen_draw(screen, t);
		}
	}
	return failed || state == FOLLOWING_FAILED ? EXIT_FAILED : EXIT_DONE;
}

/* Waits for the recorder, which may have nothing to show for itself. */
static void end_recorder(struct top *t, int signals)
{
	while (t->recorder.pid > 0) {
		struct pollfd p = {signals, POLLIN, 0};

		top_recorder_stop(&t->recorder, mg_monotonic_ns());
		poll(&p, 1, FOLLOWING_MS);
		take_signals(t, signals);
	}
}

/* Shows until the end, and cleans up. Returns the exit status. */
static int show_all(struct top *t)
{
	const struct top_recorder_options o = {.output = t->o.directory,
		.pid = t->pid,
		.command = t->command,
		.max_size = t->o.max_size,
		.layers = t->o.layers,
		.output_to_stderr = t->o.json};
	struct top_screen screen = {0};
	int signals = open_signals(), status = EXIT_FAILED;
	bool colour = output_for_screen();

	if (!t->o.json && top_screen_open(&screen, colour))
		return EXIT_FAILED;
	if (t->dir || !top_recorder_start(&t->recorder, &o)) {
		following_init(&t->following, t->dir ? t->dir : t->recorder.dir, t->core);
		t->following.is_awaited = !t->dir;
		status = run(t, &screen, signals);
		end_recorder(t, signals);
	}
	top_screen_close(&screen);
	if (t->recorder.was_killed && status == EXIT_DONE) {
		mg_error("the recorder was killed: what it had recorded until then was shown");
		status = EXIT_FAILED;
	}
	if (t->recorder.has_failed && status == EXIT_DONE)
		mg_error("the recorder failed: what it had recorded until then was shown");
	if (t->recorder.cannot_run || t->recorder.has_failed)
		status = EXIT_FAILED;
	if (!t->dir && t->recorder.base[0] && top_recorder_finish(&t->recorder) != EXIT_DONE)
		status = EXIT_FAILED;
	/* what the recorder says of its failure is printed by now */
	if (t->following.why[0] && status != EXIT_DONE)
		mg_error("%s", t->following.why);
	following_free(&t->following);
	close(signals);
	return status;
}

/* Returns whether no option is one of recording in parts, which is refused with the reason. */
static bool records_one_part(char **argv)
{
	for (char **a = argv + 1; *a && strcmp(*a, "--") != 0; a++)
		if (strncmp(*a, "--rotate", 8) == 0 || strncmp(*a, "--flight", 8) == 0) {
			mg_error("%.8s is an option of magnet record: magnet top follows a "
				 "recording that is kept as a whole",
				*a);
			return false;
		}
	return true;
}

static int parse(struct top *t, int argc, char **argv)
{
	const struct option_command c = {.usage = usage,
		.rows = rows,
		.count = sizeof(rows) / sizeof(rows[0]),
		.command = OPTION_ONLY_COMMAND};
	int err;

	t->o.interval = 1000000000;
	t->o.window = 5000000000;
	t->o.sort = TOP_sent;
	if (!records_one_part(argv))
		return -EXIT_USAGE;
	err = options_parse(&c, argc, argv, &t->o, NULL);
	if (err)
		return err > 0 ? 1 : -EXIT_USAGE;
	t->view.sort = t->o.sort;
	if (t->o.filter)
		snprintf(t->view.filter, sizeof(t->view.filter), "%s", t->o.filter);
	output_choose(&t->o.output);
	return -choose(t, argc, argv);
}

int cmd_top(int argc, char **argv)
{
	struct top *t = mg_calloc(1, sizeof(*t));
	int status = t ? parse(t, argc, argv) : -EXIT_FAILED;

	if (status) {
		free(t);
		return status > 0 ? EXIT_DONE : -status;
	}
	signal(SIGPIPE, SIG_IGN);
	t->core = core_new();
	if (!t->core || !live_listen(&t->live, t->core)) {
		mg_error("%s", strerror(ENOMEM));
		status = EXIT_FAILED;
	} else {
		core_pack_closed(t->core);
		core_forget_closed(t->core, CLOSED_KEPT);
		status = show_all(t);
	}
	live_free(&t->live);
	if (t->core)
		core_delete(t->core);
	free(t);
	return status;
}
