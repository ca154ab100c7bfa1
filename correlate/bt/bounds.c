/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "bounds.h"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <unistd.h>

#include "alloc.h"

#define TICK_US      20000 /* CPU time between checks; some 50 MB can be allocated in that time */
#define MEMORY       (256ull << 20)
#define MEMORY_EACH  16  /* bytes allowed for each byte of the streams */
#define PARSED_EACH  128 /* for each byte of metadata, of which LTTng's take about 60 */
#define IDLE_TICKS   (60ull * 1000000 / TICK_US)
#define BYTES_A_TICK (TICK_US * 10ull)

static struct {
	int statm; /* -1: memory is not watched */
	uint64_t most_pages, idle, most_idle;
	const volatile uint64_t *messages;
	uint64_t messages_before;
	struct sigaction before;
} bounds = {.statm = -1};

/*
 * Returns the pages of the resident set, 0 if they cannot be read. May be called from a signal
 * handler.
 */
static uint64_t resident_pages(void)
{
	char text[128];
	ssize_t n = bounds.statm < 0 ? -1 : pread(bounds.statm, text, sizeof(text) - 1, 0);
	uint64_t pages = 0;
	ssize_t at = 0;

	while (at < n && text[at] != ' ')
		at++;
	for (at++; at < n && text[at] >= '0' && text[at] <= '9'; at++)
		pages = pages * 10 + (uint64_t)(text[at] - '0');
	return pages;
}

static void give_up(const char *text)
{
	/* if stderr cannot be written there is nothing left to do */
	if (write(STDERR_FILENO, text, strlen(text)) < 0) {
	}
	_exit(EXIT_FAILURE);
}

static void on_tick(int signal_number)
{
	(void)signal_number;
	if (resident_pages() > bounds.most_pages)
		give_up("magnet: babeltrace2 would need far more memory for this recording than "
			"for "
			"any of its size: its metadata is damaged\n");
	if (*bounds.messages != bounds.messages_before)
		bounds.idle = 0;
	bounds.messages_before = *bounds.messages;
	if (++bounds.idle > bounds.most_idle)
		give_up("magnet: the trace is damaged: babeltrace2 works on it without an end\n");
}

/* Adds up the disk space that files take: a hole in a sparse file is not data. */
static void add_bytes(const char *dir, uint64_t *streams, uint64_t *metadata)
{
	DIR *d = mg_checked(opendir(dir));
	struct dirent *e;
	struct stat st;

	while (d && (e = readdir(d))) {
		bool is_metadata = strcmp(e->d_name, "metadata") == 0;

		if (fstatat(dirfd(d), e->d_name, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
			S_ISREG(st.st_mode))
			*(is_metadata ? metadata : streams) += (uint64_t)st.st_blocks * 512;
	}
	if (d)
		closedir(d);
}

void bounds_begin(const struct mg_traces *t, const uint64_t *messages)
{
	struct itimerval each = {{0, TICK_US}, {0, TICK_US}};
	struct sigaction mine = {.sa_handler = on_tick, .sa_flags = SA_RESTART};
	uint64_t bytes = 0, metadata = 0, memory;

	for (size_t i = 0; i < t->count; i++)
		add_bytes(t->path[i], &bytes, &metadata);
	memory = MEMORY + MEMORY_EACH * bytes + PARSED_EACH * metadata;
	bounds.statm = open("/proc/self/statm", O_RDONLY | O_CLOEXEC);
	bounds.most_pages = resident_pages() + memory / (uint64_t)sysconf(_SC_PAGESIZE);
	bounds.messages = messages;
	bounds.messages_before = bounds.idle = 0;
	bounds.most_idle = IDLE_TICKS + bytes / BYTES_A_TICK;
	sigaction(SIGPROF, &mine, &bounds.before);
	setitimer(ITIMER_PROF, &each, NULL);
}

void bounds_end(void)
{
	struct itimerval none = {{0, 0}, {0, 0}};

	setitimer(ITIMER_PROF, &none, NULL);
	sigaction(SIGPROF, &bounds.before, NULL);
	if (bounds.statm >= 0)
		close(bounds.statm);
	bounds.statm = -1;
}
