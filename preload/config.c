/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "calls.h"
#include "kernel_call.h"
#include "printable.h"

#define NAME(n, name, dir)      [n] = #name,
#define DIRECTION(n, name, dir) [n] = MG_DIR_##dir,
static const char *const names[] = {MG_FUNCTIONS(NAME)};
static const unsigned char directions[] = {MG_FUNCTIONS(DIRECTION)};

static bool waits, entries, chosen[MG_FN_END];

/* Prints a warning with write(2): stdio belongs to the program. */
static void complain(const char *variable, const char *value, const char *why)
{
	char line[256], plain[101];
	int n = snprintf(line, sizeof(line), "libmagnet: %s=%s: %s; ignored\n", variable,
		mg_escape(plain, sizeof(plain), value), why);

	if (n > 0)
		mg_kernel_call(SYS_write, STDERR_FILENO, (long)line,
			(size_t)n < sizeof(line) ? n : (long)sizeof(line) - 1, 0, 0, 0);
}

static bool read_switch(const char *variable)
{
	const char *value = getenv(variable);

	if (!value || strcmp(value, "0") == 0)
		return false;
	if (strcmp(value, "1") == 0)
		return true;
	complain(variable, value, "is not 0 or 1");
	return false;
}

static bool choose(const char *name, size_t len)
{
	for (int i = 0; i < MG_FN_END; i++)
		if (strlen(names[i]) == len && memcmp(names[i], name, len) == 0)
			return chosen[i] = true;
	return false;
}

static bool read_calls(void)
{
	const char *value = getenv("MAGNET_CALLS");

	if (!value)
		return false;
	for (const char *p = value; *p;) {
		size_t len = strcspn(p, ",");

		if (!choose(p, len)) {
			complain(
				"MAGNET_CALLS", value, "is no list of functions such as send,recv");
			memset(chosen, 0, sizeof(chosen));
			return false;
		}
		p += len + (p[len] == ',');
	}
	return value[0] != 0;
}

void mg_config_read(void)
{
	waits = read_switch("MAGNET_WAITS");
	entries = read_switch("MAGNET_ENTRIES");
	if (!read_calls())
		memset(chosen, true, sizeof(chosen));
}

bool mg_config_allows(unsigned int fn)
{
	if (directions[fn] == MG_DIR_ENTRY)
		return entries;
	return chosen[fn] && (waits || directions[fn] != MG_DIR_WAIT);
}
