/* SPDX-License-Identifier: MIT */
/*
 * Stub of drop_names.h without a kernel: every name stays a number, and tests decide when the names
 * are known.
 */
#include "drop_numbers.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rings/drop_names.h"

bool drop_names_are_known = true;

struct drop_names *drop_names_new(void)
{
	drop_names_are_known = true;
	return malloc(1);
}

void drop_names_ask(struct drop_names *n, int program, int map)
{
	(void)n;
	(void)program;
	(void)map;
}

bool drop_names_ready(struct drop_names *n, const struct mg_drop_raw *raw)
{
	(void)n;
	(void)raw;
	return drop_names_are_known;
}

void drop_names_wait(struct drop_names *n)
{
	(void)n;
	drop_names_are_known = true;
}

void drop_names_of(const struct drop_names *n, const struct mg_drop_raw *raw, struct mg_drop *out)
{
	(void)n;
	memset(out, 0, sizeof(*out));
	out->sock = raw->sock;
	out->len = raw->len;
	snprintf(out->reason, sizeof(out->reason), "0x%x", raw->reason);
}

void drop_names_free(struct drop_names *n)
{
	free(n);
}
