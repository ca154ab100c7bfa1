/* SPDX-License-Identifier: MIT */
/* The list of statistics, and the parser of those asked for and their parameters. */
#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "demand.h"

enum kind { MS, BIT_S, BYTES, NUMBER };

#define PARAMETER(NAME, kind) {#NAME, kind},
static const struct {
	const char *name;
	enum kind kind;
} parameters[] = {DEMAND_PARAMETERS(PARAMETER)};

/* clang-format off */
#define P(name) (1u << DEMAND_##name)
#define FIGURE(NAME, key, name, layers, pairs, takes, parameters, doc, title) \
	[DEMAND_##NAME] = {#key, name, doc, takes, parameters},
#define WHOLE(NAME, key, name, OF, takes, parameters, doc) \
	[DEMAND_##NAME] = {#key, name, doc, takes, parameters},
static const struct figure {
	const char *key, *name, *doc;
	uint32_t takes; /* bits of the parameters it takes */
	const char *parameters;
} figures[DEMAND_FIGURES] = {
	MG_DEMAND_STATISTICS(FIGURE)
	MG_DEMAND_WHOLE(WHOLE)
};
/* clang-format on */

const char *demand_key(enum demand_figure figure)
{
	return figures[figure].key;
}

void demand_list(FILE *to)
{
	for (int i = 0; i < DEMAND_FIGURES; i++) {
		fprintf(to, "%-14s %s\n", figures[i].name, figures[i].doc);
		if (figures[i].parameters)
			fprintf(to, "%-14s   %s\n", "", figures[i].parameters);
	}
	fprintf(to, "%-14s every one of these\n", "all");
}

static int find_figure(const char *name, size_t len)
{
	for (int i = 0; i < DEMAND_FIGURES; i++)
		if ((strlen(figures[i].name) == len && strncmp(figures[i].name, name, len) == 0) ||
			(strlen(demand_key(i)) == len && strncmp(demand_key(i), name, len) == 0))
			return i;
	return -1;
}

static int find_parameter(uint32_t takes, const char *name, size_t len)
{
	for (int i = 0; i < DEMAND_PARAMETERS_END; i++)
		if (takes & 1u << i && strlen(parameters[i].name) == len &&
			strncasecmp(parameters[i].name, name, len) == 0)
			return i;
	return -1;
}

/*
 * Parses a unit: a prefix for powers of 1000, one followed by i for powers of 1024; then bit, B or
 * nothing.
 */
static bool scaled(const char *unit, size_t len, enum kind kind, double *value)
{
	static const char prefixes[] = "kmgt";
	const char *prefix = len ? memchr(prefixes, *unit | 0x20, sizeof(prefixes) - 1) : NULL;
	double base = 1000;

	if (kind == MS || kind == NUMBER)
		return (kind == MS && len == 2 && strncasecmp(unit, "ms", 2) == 0) || len == 0;
	if (prefix) {
		unit++;
		len--;
		if (len && *unit == 'i') {
			base = 1024;
			unit++;
			len--;
		}
		*value *= pow(base, (double)(prefix - prefixes + 1));
	}
	if (kind == BIT_S)
		return len == 0 || (len == 3 && strncasecmp(unit, "bit", 3) == 0) ||
		       (len == 5 && strncasecmp(unit, "bit/s", 5) == 0);
	return len == 0 || (len == 1 && *unit == 'B');
}

static bool read_value(const char *text, size_t len, enum kind kind, double *value)
{
	char copy[64], *end;

	if (!len || len >= sizeof(copy))
		return false;
	memcpy(copy, text, len);
	copy[len] = 0;
	*value = strtod(copy, &end);
	return end != copy && scaled(end, strlen(end), kind, value) && isfinite(*value) &&
	       *value >= 0;
}

static bool may_be_zero(int parameter)
{
	return parameter == DEMAND_LINK || parameter == DEMAND_FROM || parameter == DEMAND_MIN ||
	       parameter == DEMAND_GAP;
}

static int read_parameter(
	struct demand *d, int figure, const char *text, size_t len, char *why, size_t why_size)
{
	const char *is = memchr(text, '=', len);
	size_t name = is ? (size_t)(is - text) : len;
	int p = find_parameter(figures[figure].takes, text, name);
	double value;

	if (p < 0)
		snprintf(why, why_size, "%s has no parameter `%.*s`%s%s", figures[figure].name,
			(int)name, text, figures[figure].parameters ? "; it takes " : "",
			figures[figure].parameters ?: "");
	else if (!is || !read_value(is + 1, len - name - 1, parameters[p].kind, &value) ||
		 (value == 0 && !may_be_zero(p)))
		snprintf(why, why_size, "%s: `%.*s` is no value; it takes %s", figures[figure].name,
			(int)len, text, figures[figure].parameters);
	else {
		d->parameter[figure][p] = value;
		return 0;
	}
	return -EINVAL;
}

static void no_such_figure(const char *text, size_t len, char *why, size_t why_size)
{
	int used = snprintf(why, why_size, "there is no figure `%.*s` on demand; there are",
		(int)(len < 60 ? len : 60), text);

	for (int i = 0; i < DEMAND_FIGURES && used > 0 && (size_t)used < why_size; i++)
		used += snprintf(why + used, why_size - (size_t)used, " %s%s", figures[i].name,
			i + 1 < DEMAND_FIGURES ? "," : " and all");
}

int demand_parse(struct demand *d, const char *text, char *why, size_t why_size)
{
	memset(d, 0, sizeof(*d));
	for (int i = 0; i < DEMAND_FIGURES; i++)
		for (int p = 0; p < DEMAND_PARAMETERS_END; p++)
			d->parameter[i][p] = NAN;
	for (;;) {
		size_t len = strcspn(text, ":,");
		int figure = find_figure(text, len);

		if (len == 3 && strncmp(text, "all", 3) == 0 && text[3] != ':') {
			d->figures = (1u << DEMAND_FIGURES) - 1;
		} else if (figure < 0) {
			no_such_figure(text, len, why, why_size);
			return -EINVAL;
		} else {
			d->figures |= 1u << figure;
		}
		for (text += len; *text == ':'; text += len) {
			len = strcspn(++text, ":,");
			if (read_parameter(d, figure, text, len, why, why_size))
				return -EINVAL;
		}
		if (!*text++)
			return 0;
	}
}
