/* SPDX-License-Identifier: MIT */
#include "unseen.h"

#include <stdio.h>
#include <string.h>

#define NAMED_MAX 5

struct named {
	const char *comm;
	long long calls;
};

static uint64_t member(const json_t *caller, const char *name)
{
	return (uint64_t)json_integer_value(json_object_get(caller, name));
}

void tell_unseen(const json_t *kernel, const struct callers *app)
{
	struct named named[NAMED_MAX + 1] = {{0}};
	size_t i, count = 0;
	json_t *j;

	if (app->more) {
		fputs("magnet: the list of programs that libmagnet.so did not see is incomplete: "
		      "too many programs made calls, or memory ran out\n",
			stderr);
		return;
	}
	json_array_foreach ((json_t *)kernel, i, j) {
		const char *comm = json_string_value(json_object_get(j, "comm"));
		size_t n = 0;

		if (!comm || callers_called(app, (uint32_t)member(j, "pid"), member(j, "from_ns"),
				     member(j, "until_ns")))
			continue;
		while (n < count && n < NAMED_MAX && strcmp(named[n].comm, comm) != 0)
			n++;
		if (n >= count)
			count = n + 1;
		named[n].comm = n < NAMED_MAX ? comm : "others";
		named[n].calls += (long long)member(j, "calls");
	}
	if (!count)
		return;
	fputs("magnet: not seen by libmagnet.so, but by the kernel side:", stderr);
	for (i = 0; i < count; i++)
		fprintf(stderr, "%s %lld calls of %s", i ? "," : "", named[i].calls,
			named[i].comm[0] ? named[i].comm : "?");
	fputs("\n", stderr);
}
