/* SPDX-License-Identifier: MIT */
#include "options.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "log.h"
#include "tcp_names.h"

/* The values that the option takes whose value was refused last. */
static char takes[4000];

bool option_refuse(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(takes, sizeof(takes), fmt, ap);
	va_end(ap);
	return false;
}

const char *option_takes(void)
{
	return takes;
}

/* Returns the long name of what getopt_long() returned. */
static const char *option_name(const struct option *longs, int c)
{
	while (longs->name && longs->val != c)
		longs++;
	return longs->name ? longs->name : "?";
}

/* Returns whether it is the long option, perhaps abbreviated, with a value. */
static bool has_value(const char *arg, const char *name)
{
	size_t len = strcspn(arg, "=");

	return strncmp(arg, "--", 2) == 0 && arg[len] && strncmp(arg + 2, name, len - 2) == 0;
}

int option_next(int argc, char **argv, const char *shorts, const struct option *longs, int *which)
{
	char with_colon[160];
	int c;

	/* getopt() would print what it was given as it is */
	opterr = 0;
	/* a colon after the + distinguishes a missing value from an unknown option */
	snprintf(with_colon, sizeof(with_colon), "%s:%s", *shorts == '+' ? "+" : "",
		shorts + (*shorts == '+'));
	c = getopt_long(argc, argv, with_colon, longs, which);
	if (c == ':')
		mg_error("%s takes a value (see --help)", argv[optind - 1]);
	/* optopt may be an option's number that is no letter */
	if (c == '?' && optopt && has_value(argv[optind - 1], option_name(longs, optopt)))
		mg_error("--%s takes no value (see --help)", option_name(longs, optopt));
	else if (c == '?' && optopt)
		mg_error("there is no option -%c (see --help)", optopt);
	else if (c == '?')
		mg_error("unknown or ambiguous option %s (see --help)", argv[optind - 1]);
	return c == ':' ? '?' : c;
}

static bool parse(const char *text, uint64_t *out, const char **end)
{
	char *stop;

	if (!isdigit((unsigned char)text[0]))
		return false;
	errno = 0;
	*out = strtoull(text, &stop, 10);
	*end = stop;
	return errno == 0;
}

bool option_number(const char *text, uint64_t min, uint64_t max, uint64_t *out)
{
	const char *end;
	uint64_t n;

	if (!parse(text, &n, &end) || *end || n < min || n > max)
		return option_refuse("a whole number from %" PRIu64 " to %" PRIu64, min, max);
	*out = n;
	return true;
}

static const char units[] = "KMG";

/* Writes a size in the largest unit of which it is a whole number. */
static const char *size_text(char out[24], uint64_t bytes)
{
	int unit = 0;

	while (bytes && unit < 3 && bytes % 1024 == 0) {
		bytes /= 1024;
		unit++;
	}
	snprintf(out, 24, "%" PRIu64 "%.1s", bytes, unit ? &units[unit - 1] : "");
	return out;
}

static bool refuse_size(uint64_t min, uint64_t max)
{
	char from[24], to[24];

	return option_refuse("a size from %s to %s, in bytes or with K, M or G",
		size_text(from, min), size_text(to, max));
}

bool option_size(const char *text, uint64_t min, uint64_t max, uint64_t *out)
{
	const char *end, *unit;
	uint64_t n;
	int shift = 0;

	if (!parse(text, &n, &end))
		return refuse_size(min, max);
	if (*end) {
		unit = strchr(units, toupper((unsigned char)*end));
		if (!unit || end[1])
			return refuse_size(min, max);
		shift = 10 * (int)(unit - units + 1);
	}
	if (n > UINT64_MAX >> shift || n << shift < min || n << shift > max)
		return refuse_size(min, max);
	*out = n << shift;
	return true;
}

static const struct {
	const char *name;
	uint64_t ns;
} time_units[] = {{"h", 3600000000000ull}, {"m", 60000000000ull}, {"s", 1000000000},
	{"ms", 1000000}, {"us", 1000}, {"ns", 1}};
#define TIME_UNITS (sizeof(time_units) / sizeof(time_units[0]))

const char *option_time_text(char out[24], uint64_t ns)
{
	size_t i = 0;

	while (i + 1 < TIME_UNITS && (!ns || ns % time_units[i].ns))
		i++;
	snprintf(out, 24, "%" PRIu64 "%s", ns / time_units[i].ns, time_units[i].name);
	return out;
}

bool option_time(const char *text, uint64_t min_ns, uint64_t max_ns, uint64_t *out_ns)
{
	char from[24], to[24], *unit;
	double number, ns = -1;

	option_refuse("a time from %s to %s, such as 10s, 0.5 or 500ms; a number alone is in "
		      "seconds",
		option_time_text(from, min_ns), option_time_text(to, max_ns));
	if (!isdigit((unsigned char)text[0]) || text[1] == 'x' || text[1] == 'X')
		return false;
	number = strtod(text, &unit);
	for (size_t i = 0; i < TIME_UNITS; i++)
		if (strcmp(unit[0] ? unit : "s", time_units[i].name) == 0)
			ns = number * (double)time_units[i].ns + 0.5;
	if (!(ns >= (double)min_ns && ns < (double)max_ns + 1))
		return false;
	*out_ns = (uint64_t)ns;
	return true;
}

#define AMOUNT_MAX    (1ull << 50)
#define AMOUNT_MOST_S 1000000

static bool refuse_amount(uint64_t min)
{
	char from[24], to[24];

	return option_refuse("a size from %s to %s with K, M or G, or a time from 1s to %ds",
		size_text(from, min), size_text(to, AMOUNT_MAX), AMOUNT_MOST_S);
}

bool option_amount(const char *text, uint64_t min, uint64_t *bytes, uint64_t *ns)
{
	size_t len = strlen(text);

	*bytes = *ns = 0;
	if (!len || text[len - 1] != 's') /* 2m is 2 MiB, as 2M is */
		return option_size(text, min, AMOUNT_MAX, bytes) || refuse_amount(min);
	return option_time(text, 1000000000, AMOUNT_MOST_S * 1000000000ull, ns) ||
	       refuse_amount(min);
}

/* Returns the layers that a name of `len` bytes stands for, 0 if it is none. */
static uint32_t layers_of(const char *name, size_t len)
{
	static const char light[] = "light";

	if (len == sizeof(light) - 1 && memcmp(name, light, len) == 0)
		return MG_LIGHT_LAYERS;
	for (int i = 0; i < MG_LAYER_END; i++)
		if (strlen(mg_layer_names[i]) == len &&
			strncmp(mg_layer_names[i], name, len) == 0 && (MG_ALL_LAYERS & 1u << i))
			return 1u << i;
	return 0;
}

bool option_layers(const char *text, uint32_t *out)
{
	uint32_t layers = 0;

	option_refuse("layers of " MG_LAYER_CHOICES ", light, or none");
	if (strcmp(text, "none") == 0) {
		*out = 0;
		return true;
	}
	if (strcmp(text, "light") == 0) {
		*out = MG_LIGHT_LAYERS | MG_LIGHT_ALONE;
		return true;
	}
	if (*text == '+') {
		layers = MG_USUAL_LAYERS;
		if (!*++text)
			return false;
	}
	while (*text) {
		size_t len = strcspn(text, ",");
		uint32_t found = layers_of(text, len);

		if (!found)
			return false;
		layers |= found;
		text += len;
		if (*text == ',' && *++text == 0)
			return false;
	}
	if (layers &
		1u << MG_LAYER_SWITCH) /* switch measures how long the switches of sched take */
		layers |= 1u << MG_LAYER_SCHED;
	*out = layers;
	return layers != 0;
}

bool option_level(const char *text, uint8_t *out)
{
	for (uint8_t i = 0; i < MG_LEVEL_END; i++)
		if (strcmp(mg_level_name(i), text) == 0) {
			*out = i;
			return true;
		}
	return option_refuse("none, light or full");
}

bool option_calls(const char *text)
{
	for (const char *p = text; *p;) {
		size_t len = strcspn(p, ",");
		unsigned int i = 0;

		while (i < MG_FN_END && (strlen(mg_function_name(i)) != len ||
						memcmp(mg_function_name(i), p, len) != 0))
			i++;
		if (i == MG_FN_END)
			return option_refuse(
				"functions that are recorded, such as send,recv; there is no "
				"%.*s",
				(int)(len < 64 ? len : 64), p);
		p += len + (p[len] == ',');
	}
	return text[0] || option_refuse("functions that are recorded, such as send,recv");
}
