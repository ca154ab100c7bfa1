/* SPDX-License-Identifier: MIT */
#include "by_host.h"

#include <errno.h>
#include <jansson.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <stdlib.h>

#include "alloc.h"
#include "log.h"
#include "read/metadata.h"
#include "render/session.h"

#define HOST_NAME 200

/* Writes a member of session.json, else another, "" if it tells neither. */
static void told(const char *dir, const char *first, const char *second, char out[HOST_NAME])
{
	char path[PATH_MAX], why[1024]; /* a damaged file is reported when it is read */
	const char *one, *other;
	json_t *session;

	snprintf(path, sizeof(path), "%.4000s/session.json", dir);
	session = session_load(path, false, why, sizeof(why));
	one = json_string_value(json_object_get(session, first));
	other = json_string_value(json_object_get(session, second));
	snprintf(out, HOST_NAME, "%s", one ? one : other ? other : "");
	json_decref(session);
}

/* Writes the identity of a trace's clock, which is that of the boot; leaves `out` if it has none.
 */
static void clock_of(const char *dir, const char *below, char out[HOST_NAME])
{
	static const char member[] = "uuid = \"";
	char path[PATH_MAX], why[1024];
	const char *clock, *uuid;
	char *text;
	size_t size;

	snprintf(path, sizeof(path), "%.4000s%s", dir, below);
	text = metadata_text(path, &size, why, sizeof(why));
	clock = text ? strstr(text, "clock {") : NULL;
	uuid = clock ? strstr(clock, member) : NULL;
	if (uuid && uuid < clock + strcspn(clock, "}"))
		snprintf(out, HOST_NAME, "%.36s", uuid + sizeof(member) - 1);
	free(text);
}

/*
 * Writes what identifies the host and its boot, "" if session.json does not tell, nor, with
 * `by_clock`, a trace.
 */
static void host_of(const char *dir, bool by_clock, char out[HOST_NAME])
{
	static const char *const traces[] = {"", "/kernel", "/app"};

	told(dir, "boot_id", "host", out);
	for (size_t i = 0; by_clock && !out[0] && i < sizeof(traces) / sizeof(traces[0]); i++)
		clock_of(dir, traces[i], out);
}

/* Returns whether any session.json tells a host: traces without one are not of one of several. */
static bool is_told(char **dirs, int count)
{
	char host[HOST_NAME] = "";

	for (int i = 0; i < count && !host[0]; i++)
		host_of(dirs[i], false, host);
	return host[0];
}

int by_host_sort(struct by_host *b, char **dirs, int count)
{
	char host[2][HOST_NAME] = {"", ""}, this[HOST_NAME];
	bool by_clock = is_told(dirs, count);
	int at = 0;

	memset(b, 0, sizeof(*b));
	for (int i = 0; i < 2; i++) {
		b->dir[i] = mg_calloc((size_t)count + 1, sizeof(*b->dir[i]));
		if (!b->dir[i])
			return -ENOMEM;
	}
	for (int i = 0; i < count; i++) {
		host_of(dirs[i], by_clock, this);
		if (this[0] && !host[0][0])
			memcpy(host[0], this, sizeof(this));
		if (this[0] && strcmp(this, host[0]) == 0)
			at = 0;
		else if (this[0] && (!host[1][0] || strcmp(this, host[1]) == 0))
			at = 1;
		else if (this[0])
			b->more = true;
		if (this[0] && at == 1)
			memcpy(host[1], this, sizeof(this));
		b->dir[at][b->count[at]++] = dirs[i];
	}
	return 0;
}

void by_host_free(struct by_host *b)
{
	free(b->dir[0]);
	free(b->dir[1]);
}

bool is_one_machine(char **dirs, int count)
{
	char first[HOST_NAME] = "", this[HOST_NAME];

	for (int i = 0; i < count; i++) {
		told(dirs[i], "host", "host", this);
		if (first[0] && this[0] && strcmp(this, first) != 0) {
			mg_error("%s is a recording of host %.64s, and %s of host %.64s: the "
				 "recordings of one side must be of one host",
				dirs[0], first, dirs[i], this);
			return false;
		}
		if (!first[0])
			memcpy(first, this, sizeof(first));
	}
	return true;
}

bool is_one_host(char **dirs, int count)
{
	struct by_host b;
	bool one = by_host_sort(&b, dirs, count) == 0 && !b.count[1] && !b.more;

	by_host_free(&b);
	if (!one)
		mg_error("these are recordings of several hosts, each with its own clock: give "
			 "those of one (magnet report takes those of two)");
	return one;
}
