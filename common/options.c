/* SPDX-License-Identifier: MIT */
#include "options.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "tcp_names.h"

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

const char *option_name(const struct option *longs, int c)
{
	while (longs->name && longs->val != c)
		longs++;
	return longs->name ? longs->name : "?";
}

bool option_number(const char *text, uint64_t min, uint64_t max, uint64_t *out)
{
	const char *end;
	uint64_t n;

	if (!parse(text, &n, &end) || *end || n < min || n > max)
		return false;
	*out = n;
	return true;
}

bool option_size(const char *text, uint64_t min, uint64_t max, uint64_t *out)
{
	static const char units[] = "KMG";
	const char *end, *unit;
	uint64_t n;
	int shift = 0;

	if (!parse(text, &n, &end))
		return false;
	if (*end) {
		unit = strchr(units, toupper((unsigned char)*end));
		if (!unit || end[1])
			return false;
		shift = 10 * (int)(unit - units + 1);
	}
	if (n > UINT64_MAX >> shift || n << shift < min || n << shift > max)
		return false;
	*out = n << shift;
	return true;
}

#define AMOUNT_MIN (64u << 10)
#define AMOUNT_MAX (1ull << 50)

bool option_amount(const char *text, uint64_t *bytes, uint64_t *ns)
{
	size_t len = strlen(text);
	char number[24];
	uint64_t seconds;

	*bytes = *ns = 0;
	if (!len || text[len - 1] != 's')
		return option_size(text, AMOUNT_MIN, AMOUNT_MAX, bytes);
	if (len >= sizeof(number))
		return false;
	memcpy(number, text, len - 1);
	number[len - 1] = 0;
	if (!option_number(number, 1, 1000000, &seconds))
		return false;
	*ns = seconds * 1000000000;
	return true;
}

bool option_layers(const char *text, uint32_t *out)
{
	uint32_t layers = 0;

	if (strcmp(text, "none") == 0) {
		*out = 0;
		return true;
	}
	if (*text == '+') {
		layers = MG_USUAL_LAYERS;
		if (!*++text)
			return false;
	}
	while (*text) {
		size_t len = strcspn(text, ",");
		int found = -1;

		for (int i = 0; i < MG_LAYER_END; i++)
			if (strlen(mg_layer_names[i]) == len &&
				strncmp(mg_layer_names[i], text, len) == 0 &&
				(MG_ALL_LAYERS & 1u << i))
				found = i;
		if (found < 0)
			return false;
		layers |= 1u << found;
		text += len;
		if (*text == ',' && *++text == 0)
			return false;
	}
	if (layers & 1u << MG_LAYER_SWITCH) /* which tells how long its switches took */
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
	return false;
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
			return false;
		p += len + (p[len] == ',');
	}
	return text[0] != 0;
}
