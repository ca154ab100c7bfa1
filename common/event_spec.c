/* SPDX-License-Identifier: MIT */
/* Parses CATEGORY:NAME[/filter/][:field,...]. */
#define _GNU_SOURCE
#include "event_spec.h"

#include <stdlib.h>
#include <string.h>

#include "alloc.h"

static bool is_name(const char *s, size_t len, const char *also)
{
	for (size_t i = 0; i < len; i++)
		if (!(s[i] >= 'a' && s[i] <= 'z') && !(s[i] >= 'A' && s[i] <= 'Z') &&
			!(s[i] >= '0' && s[i] <= '9') && s[i] != '_' && s[i] != '-' &&
			!strchr(also, s[i]))
			return false;
	return len > 0;
}

static const char *parse_fields(const char *text, struct event_spec *s)
{
	const char *p = text;

	for (;;) {
		size_t len = strcspn(p, ",");

		if (!is_name(p, len, ""))
			return "after the last ':' names of fields are expected, separated by "
			       "commas";
		for (const char *q = text; q < p; q += strcspn(q, ",") + 1)
			if (strcspn(q, ",") == len && memcmp(q, p, len) == 0)
				return "a field is named twice";
		p += len;
		if (!*p++)
			break;
	}
	s->fields = mg_strdup(text);
	return NULL;
}

static const char *parse(const char *text, struct event_spec *s)
{
	size_t category = strcspn(text, ":"), name;
	const char *rest = text + category, *end;

	if (!*rest || !is_name(text, category, ""))
		return "a category and a name are expected, such as napi:napi_poll";
	name = strcspn(++rest, ":/");
	if (!is_name(rest, name, "*?[]!"))
		return "there is no name of an event after CATEGORY:";
	s->category = mg_strndup(text, category);
	s->name = mg_strndup(rest, name);
	rest += name;
	if (*rest == '/') {
		/* a filter may contain both ':' and '/': its last '/' ends it */
		end = strrchr(++rest, '/');
		if (!end || (end[1] && end[1] != ':'))
			return "the filter lacks its closing '/'";
		if (end == rest)
			return "the filter between the '/' is empty";
		s->filter = mg_strndup(rest, (size_t)(end - rest));
		rest = end + 1;
	}
	return *rest == ':' ? parse_fields(rest + 1, s) : NULL;
}

const char *spec_parse(const char *text, struct event_spec *s)
{
	unsigned long refused = mg_memory_failures();
	const char *wrong;

	*s = (struct event_spec){0};
	wrong = parse(text, s);
	if (!wrong && mg_memory_failures() != refused)
		wrong = "out of memory";
	if (wrong)
		spec_free(s);
	return wrong;
}

void spec_free(struct event_spec *s)
{
	free(s->category);
	free(s->name);
	free(s->filter);
	free(s->fields);
	*s = (struct event_spec){0};
}

bool spec_is_pattern(const struct event_spec *s)
{
	return strpbrk(s->name, "*?[") != NULL;
}
