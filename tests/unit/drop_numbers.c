/* SPDX-License-Identifier: MIT */
/* drop_names.h without a kernel to ask: everything stays a number. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "drop_names.h"

struct drop_names *drop_names_new(void)
{
	return malloc(1);
}

void drop_names_of(struct drop_names *n, const struct mg_drop_raw *raw, struct mg_drop *out)
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
