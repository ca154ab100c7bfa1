/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "trace_files.h"

#include <dirent.h>
#include <errno.h>
#include <ftw.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "bt/graph.h"
#include "read/metadata.h"

bool dir_is_empty(const char *dir)
{
	DIR *d = opendir(dir);
	struct dirent *e;
	bool empty = d != NULL;

	while (empty && (e = readdir(d)))
		empty = strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0;
	if (d)
		closedir(d);
	errno = EEXIST;
	return empty;
}

/* Copy the metadata, with the two lines of the clock's offset replaced. */
static bool rewrite_offset(const char *kernel_dir, int64_t offset_ns)
{
	char path[PATH_MAX], temporary[PATH_MAX], line[1024];
	struct stat st;
	FILE *in, *out;
	bool ok = true;

	snprintf(path, sizeof(path), "%.4000s/metadata", kernel_dir);
	snprintf(temporary, sizeof(temporary), "%.4000s/.metadata.new", kernel_dir);
	in = fopen(path, "re");
	if (!in)
		return false;
	out = fopen(temporary, "wxe");
	if (!out) {
		fclose(in);
		return false;
	}
	if (fstat(fileno(in), &st) == 0)
		fchmod(fileno(out), st.st_mode);
	while (fgets(line, sizeof(line), in)) {
		if (strncmp(line, "\toffset_s = ", 12) == 0)
			fprintf(out, "\toffset_s = %lld;\n", (long long)(offset_ns / 1000000000));
		else if (strncmp(line, "\toffset = ", 10) == 0)
			fprintf(out, "\toffset = %lld;\n", (long long)(offset_ns % 1000000000));
		else
			fputs(line, out);
	}
	ok = !ferror(in) && fflush(out) == 0 && !ferror(out);
	fclose(in);
	fclose(out);
	if (!ok) {
		unlink(temporary);
		return false;
	}
	return rename(temporary, path) == 0;
}

/* Reads the offset of a trace's clock from the epoch. Returns false if it has none. */
static bool read_offset(const char *dir, int64_t *offset_ns)
{
	char why[1024];
	size_t size;
	char *text = metadata_text(dir, &size, why, sizeof(why));

	*offset_ns = text ? metadata_clock_offset(text) : 0;
	free(text);
	/* babeltrace2 takes milliseconds, and knows more kinds of clocks */
	return *offset_ns || mg_trace_clock_offset(dir, offset_ns) == 0;
}

bool trace_align_clocks(const char *app_dir, const char *kernel_dir)
{
	struct mg_traces traces;
	int64_t offset_ns;
	bool ok = false;

	if (mg_traces_find(&traces, &app_dir, 1) != 0 || traces.count == 0 ||
		!read_offset(traces.path[0], &offset_ns)) {
		mg_traces_free(&traces);
		return false;
	}
	mg_traces_free(&traces);
	if (mg_traces_find(&traces, &kernel_dir, 1) == 0) { /* the trace, or its parts */
		ok = traces.count > 0;
		for (size_t i = 0; i < traces.count; i++)
			ok &= rewrite_offset(traces.path[i], offset_ns);
	}
	mg_traces_free(&traces);
	return ok;
}

static uid_t invoker_uid;
static gid_t invoker_gid;

static int give(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	(void)st;
	(void)type;
	(void)ftw;
	return lchown(path, invoker_uid, invoker_gid) != 0 && errno == EIO;
}

void trace_give_to_invoker(const char *dir)
{
	const char *uid = getenv("SUDO_UID"), *gid = getenv("SUDO_GID");

	if (geteuid() != 0 || !uid || !gid)
		return;
	invoker_uid = (uid_t)strtoul(uid, NULL, 10);
	invoker_gid = (gid_t)strtoul(gid, NULL, 10);
	/* the directory comes last: until then nobody else can reach it, to put links there */
	nftw(dir, give, 16, FTW_DEPTH | FTW_PHYS);
}
