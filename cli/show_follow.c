/* SPDX-License-Identifier: MIT */
#include "show_follow.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "commands.h"
#include "following.h"
#include "loader.h"
#include "log.h"
#include "output.h"

#define CLOSED_KEPT 10000 /* closed connections that the core still knows */

static void on_event(void *arg, const struct mg_event *e, const struct annotation *a)
{
	struct show_follow *s = arg;

	if (s->filter)
		filter_see(s->filter, e, a);
	if (!s->facts.fact)
		show_event(&s->events, e, a);
}

/* Has the core tell what is printed, and keep no more than that takes. */
static bool listen(struct show_follow *s, struct core *core)
{
	if (!core || (s->filter && !filter_follow(s->filter, core)))
		return false;
	s->events.core = s->facts.core = core;
	s->events.filter = s->facts.filter = s->filter;
	if (s->facts.fact)
		show_facts_listen(&s->facts);
	if (!s->facts.fact || s->filter)
		core_listen(core, on_event, s);
	core_pack_closed(core);
	if (s->facts.fact != &fact_table[FACT_flow])
		core_forget_closed(core, CLOSED_KEPT);
	return true;
}

/* Returns a descriptor that is readable once Ctrl-C or another signal asks for the end. */
static int ending_signals(void)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGHUP);
	sigprocmask(SIG_BLOCK, &set, NULL);
	return signalfd(-1, &set, SFD_CLOEXEC);
}

static void header(struct show_follow *s)
{
	if (s->facts.fact)
		show_facts_header(&s->facts);
	else
		show_header(&s->events);
	fflush(stdout);
}

/* Prints until the end. Returns the exit status. */
static int print(struct show_follow *s, struct following *f)
{
	struct pollfd stop = {ending_signals(), POLLIN, 0};
	enum following_state state;
	bool begun = false;

	do {
		const char *notice;

		state = following_read(f);
		if (!begun && f->follow) {
			header(s);
			begun = true;
		}
		if (fflush(stdout) != 0 || s->events.failed)
			break;
		while ((notice = following_notice(f)))
			mg_warn("%s", notice);
		if (state == FOLLOWING_WAITS && poll(&stop, 1, FOLLOWING_MS) > 0)
			break;
	} while (state < FOLLOWING_ENDED && poll(&stop, 1, 0) <= 0);
	close(stop.fd);
	if (f->follow && follow_late(f->follow))
		mg_warn("%llu events came too late to be shown in their place, and were left out: "
			"magnet show without --follow has them",
			(unsigned long long)follow_late(f->follow));
	if (state == FOLLOWING_FAILED)
		mg_error("%s", f->why);
	return state == FOLLOWING_FAILED ? EXIT_FAILED : EXIT_DONE;
}

int show_follow(struct show_follow *s, const char *dir)
{
	struct core *core = core_new();
	struct following f;
	int status = EXIT_FAILED;

	if (!listen(s, core)) {
		mg_error("%s", strerror(ENOMEM));
	} else {
		following_init(&f, dir, core);
		status = print(s, &f);
		following_free(&f);
	}
	if (output_finish(s->facts.fact ? "the facts" : "the events") != EXIT_DONE)
		status = EXIT_FAILED;
	if (core)
		core_delete(core);
	if (s->filter)
		filter_free(s->filter);
	return status;
}
