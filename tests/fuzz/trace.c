/* SPDX-License-Identifier: MIT */
/*
 * Reads a trace whose metadata, streams or index are arbitrary. The input is a byte of options,
 * then the parts they name, each with its length in two bytes in front; the rest is a stream.
 */
#define _GNU_SOURCE
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "bt/graph.h"
#include "core/core.h"
#include "own_metadata.h"
#include "parts.h"
#include "render/report.h"
#include "render/show.h"
#include "target.h"

#define OPTION_METADATA 1 /* a part is the metadata; otherwise magnet's own is used */
#define OPTION_APP      2 /* for the application side, otherwise for the kernel's */
#define OPTION_SECOND   4 /* a part is another stream */
#define OPTION_INDEX    8 /* a part is the index of the last stream */

static char dir[64];

static void clean(void)
{
	static const char *const names[] = {"metadata", "one", "two", "index/one.idx", "index", ""};
	char path[128];

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		snprintf(path, sizeof(path), "%s/%s", dir, names[i]);
		remove(path);
	}
}

static void make_dir(void)
{
	char path[128];

	if (dir[0])
		return;
	/* on a file system in memory if there is one */
	snprintf(dir, sizeof(dir), "%s/magnet-fuzz-XXXXXX",
		access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp");
	if (!mkdtemp(dir))
		abort();
	snprintf(path, sizeof(path), "%s/index", dir);
	mkdir(path, 0700);
	atexit(clean);
}

static void write_file(const char *name, const uint8_t *data, size_t size)
{
	char path[128];
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	if (!data) {
		unlink(path);
		return;
	}
	f = fopen(path, "we");
	if (!f)
		abort();
	fwrite(data, 1, size, f);
	fclose(f);
}

static void write_trace(const uint8_t *data, size_t size)
{
	struct direct_bytes left = {data + 1, size - 1}, part = {NULL, 0};
	uint8_t options = data[0];

	if (options & OPTION_METADATA) {
		part = take_part(&left);
		write_file("metadata", part.data, part.size);
	} else {
		part.data = own_metadata(options & OPTION_APP, &part.size);
		write_file("metadata", part.data, part.size);
	}
	part.data = NULL;
	if (options & OPTION_SECOND)
		part = take_part(&left);
	write_file("two", part.data, part.size);
	part.data = NULL;
	if (options & OPTION_INDEX)
		part = take_part(&left);
	write_file("index/one.idx", part.data, part.size);
	write_file("one", left.data, left.size);
}

/*
 * An input that our checks do not catch may end in an assertion of babeltrace2's, where magnet
 * reports it and exits.
 */
static sigjmp_buf gave_up;

static void on_abort(int signal_number)
{
	(void)signal_number;
	siglongjmp(gave_up, 1);
}

static void read_trace(FILE *to)
{
	struct show show = {.to = to, .setup = true};
	struct mg_traces traces = {.path = (char *[]){dir}, .count = 1};
	struct report report;
	struct core core;
	char why[1024];

	core_init(&core);
	core_listen(&core, show_event, &show);
	mg_read_traces(&traces, &core, NULL, why, sizeof(why));
	if (report_init(&report, &core, NULL, "fuzzed") == 0) {
		json_decref(report_json(&report, NULL));
		report_text(&report, to, NULL, false);
	}
	report_free(&report);
	core_free(&core);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct sigaction mine = {.sa_handler = on_abort, .sa_flags = SA_NODEFER}, before;
	FILE *to;

	if (!size)
		return 0;
	make_dir();
	write_trace(data, size);
	to = fopen("/dev/null", "we");
	sigaction(SIGABRT, &mine, &before);
	if (sigsetjmp(gave_up, 1) == 0)
		read_trace(to);
	sigaction(SIGABRT, &before, NULL);
	fclose(to);
	return 0;
}
