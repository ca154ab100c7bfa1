/* SPDX-License-Identifier: MIT */
#include "option_table.h"

#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "alloc.h"
#include "log.h"
#include "options.h"
#include "tcp_names.h"

#define ROWS_MAX   64
#define NO_LETTER  256 /* getopt_long() returns this plus the row's number */
#define HELP_WIDTH 80

/* ---- types of values ---- */

static bool parse_flag(const struct option_row *row, const char *text, void *value)
{
	(void)row;
	(void)text;
	*(bool *)value = true;
	return true;
}

static void print_flag(const struct option_row *row, const void *value, char *out, size_t size)
{
	(void)row;
	snprintf(out, size, "%s", *(const bool *)value ? "yes" : "");
}

static bool parse_number(const struct option_row *row, const char *text, void *value)
{
	return option_number(text, row->min, row->max, value);
}

static bool parse_size(const struct option_row *row, const char *text, void *value)
{
	return option_size(text, row->min, row->max, value);
}

static void print_number(const struct option_row *row, const void *value, char *out, size_t size)
{
	uint64_t n = *(const uint64_t *)value;

	out[0] = 0;
	if (n >= row->min && n <= row->max)
		snprintf(out, size, "%" PRIu64, n);
}

static bool parse_time(const struct option_row *row, const char *text, void *value)
{
	return option_time(text, row->min, row->max, value);
}

static void print_time(const struct option_row *row, const void *value, char *out, size_t size)
{
	uint64_t ns = *(const uint64_t *)value;
	char text[24];

	snprintf(out, size, "%s",
		ns >= row->min && ns <= row->max ? option_time_text(text, ns) : "");
}

/* The value may be left out. */
static bool parse_threshold(const struct option_row *row, const char *text, void *value)
{
	if (text)
		return parse_time(row, text, value);
	*(uint64_t *)value = MG_THRESHOLD;
	return true;
}

static bool parse_amount(const struct option_row *row, const char *text, void *value)
{
	struct option_amount amount;

	if (!option_amount(text, row->min, &amount.bytes, &amount.ns))
		return false;
	*(struct option_amount *)value = amount;
	return true;
}

static void print_amount(const struct option_row *row, const void *value, char *out, size_t size)
{
	const struct option_amount *a = value;
	char time[24];

	(void)row;
	out[0] = 0;
	if (a->ns)
		snprintf(out, size, "%s", option_time_text(time, a->ns));
	else if (a->bytes)
		snprintf(out, size, "%" PRIu64, a->bytes);
}

static bool parse_layers(const struct option_row *row, const char *text, void *value)
{
	(void)row;
	return option_layers(text, value);
}

static void print_layers(const struct option_row *row, const void *value, char *out, size_t size)
{
	uint32_t layers = *(const uint32_t *)value;
	size_t used = 0;

	(void)row;
	snprintf(out, size, layers & MG_LIGHT_ALONE ? "light" : "none");
	if (layers & MG_LIGHT_ALONE)
		return;
	for (int i = 0; i < MG_LAYER_END && used < size; i++)
		if (layers & 1u << i)
			used += (size_t)snprintf(out + used, size - used, "%s%s", used ? "," : "",
				mg_layer_names[i]);
}

static bool parse_level(const struct option_row *row, const char *text, void *value)
{
	(void)row;
	return option_level(text, value);
}

static void print_level(const struct option_row *row, const void *value, char *out, size_t size)
{
	(void)row;
	snprintf(out, size, "%s", mg_level_name(*(const uint8_t *)value));
}

static bool parse_text(const struct option_row *row, const char *text, void *value)
{
	(void)row;
	*(const char **)value = text;
	return true;
}

static bool parse_path(const struct option_row *row, const char *text, void *value)
{
	return text[0] ? parse_text(row, text, value) : option_refuse("a path; the root is /");
}

static bool parse_functions(const struct option_row *row, const char *text, void *value)
{
	return option_calls(text) && parse_text(row, text, value);
}

static void print_text(const struct option_row *row, const void *value, char *out, size_t size)
{
	const char *text = *(const char *const *)value;

	(void)row;
	snprintf(out, size, "%s", text ? text : "");
}

/* Adds processes separated by commas to those given before. */
static bool parse_processes(const struct option_row *row, const char *text, void *value)
{
	struct option_processes now = *(struct option_processes *)value;
	char number[12];
	uint64_t pid;
	size_t len;

	(void)row;
	do {
		len = strcspn(text, ",");
		snprintf(number, sizeof(number), "%.*s", len < 11 ? (int)len : 11, text);
		if (now.count == OPTION_PROCESSES_MAX)
			return option_refuse("%d processes at most", OPTION_PROCESSES_MAX);
		if (!option_number(number, 1, INT32_MAX, &pid))
			return option_refuse("numbers of processes, separated by commas");
		now.pid[now.count++] = (int32_t)pid;
		text += len;
	} while (*text++);
	*(struct option_processes *)value = now;
	return true;
}

static void print_processes(const struct option_row *row, const void *value, char *out, size_t size)
{
	const struct option_processes *p = value;
	size_t used = 0;

	(void)row;
	out[0] = 0;
	for (uint32_t i = 0; i < p->count && used < size; i++)
		used += (size_t)snprintf(
			out + used, size - used, "%s%d", used ? "," : "", p->pid[i]);
}

static bool parse_list(const struct option_row *row, const char *text, void *value)
{
	(void)row;
	return option_list_add(value, text);
}

const struct option_type option_type_flag = {parse_flag, print_flag};
const struct option_type option_type_help = {parse_flag, NULL};
const struct option_type option_type_number = {parse_number, print_number};
const struct option_type option_type_size = {parse_size, print_number};
const struct option_type option_type_time = {parse_time, print_time};
const struct option_type option_type_threshold = {parse_threshold, print_time};
const struct option_type option_type_amount = {parse_amount, print_amount};
const struct option_type option_type_layers = {parse_layers, print_layers};
const struct option_type option_type_level = {parse_level, print_level};
const struct option_type option_type_functions = {parse_functions, print_text};
const struct option_type option_type_processes = {parse_processes, print_processes};
const struct option_type option_type_text = {parse_text, print_text};
const struct option_type option_type_path = {parse_path, print_text};
const struct option_type option_type_list = {parse_list, NULL, true};

bool option_list_add(struct option_list *l, const char *text)
{
	const char **more = mg_realloc(l->text, (l->count + 2) * sizeof(*more));

	if (!more)
		return false;
	l->text = more;
	more[l->count++] = text;
	more[l->count] = NULL;
	return true;
}

void option_list_free(struct option_list *l)
{
	free(l->text);
	*l = (struct option_list){0};
}

/* ---- rows ---- */

const char *option_row_name(const struct option_row *row)
{
	return row->option + 2;
}

const struct option_row *option_find(const struct option_row *rows, size_t count, const char *name)
{
	for (size_t i = 0; i < count; i++)
		if (strcmp(option_row_name(&rows[i]), name) == 0)
			return &rows[i];
	return NULL;
}

void *option_value(const struct option_row *row, void *values)
{
	return (char *)values + row->at;
}

void option_text(const struct option_row *row, const void *values, char *out, size_t size)
{
	out[0] = 0;
	if (row->type->print)
		row->type->print(row, (const char *)values + row->at, out, size);
}

static bool is_of(const struct option_command *c, const struct option_row *row)
{
	return row->commands & c->command;
}

/* ---- parsing ---- */

/* Returns whether the option takes its value only behind a '=', and can do without. */
static bool may_lack_value(const struct option_row *row)
{
	return row->argument && row->argument[0] == '[';
}

/* Describes the command's rows to getopt_long(). */
static void describe(const struct option_command *c, struct option *longs, char *shorts)
{
	if (c->command_follows)
		*shorts++ = '+';
	for (size_t i = 0; i < c->count && i < ROWS_MAX; i++) {
		const struct option_row *row = &c->rows[i];

		if (!is_of(c, row))
			continue;
		*longs++ = (struct option){option_row_name(row),
			may_lack_value(row) ? optional_argument
			: row->argument     ? required_argument
					    : no_argument,
			NULL, row->letter ? row->letter : NO_LETTER + (int)i};
		if (row->letter)
			*shorts++ = row->letter;
		if (row->letter && row->argument)
			*shorts++ = ':';
	}
	*longs = (struct option){0};
	*shorts = 0;
}

static const struct option_row *row_of(const struct option_command *c, int returned)
{
	for (size_t i = 0; i < c->count; i++)
		if (is_of(c, &c->rows[i]) &&
			returned == (c->rows[i].letter ? c->rows[i].letter : NO_LETTER + (int)i))
			return &c->rows[i];
	return NULL;
}

static int out_of_memory(void)
{
	mg_error("%s", strerror(ENOMEM));
	return -ENOMEM;
}

/* Stores one option's value, and collects its words; `word` is the last of them as given. */
static int take(const struct option_command *c, const struct option_row *row, const char *text,
	const char *word, void *values, struct option_list *words)
{
	unsigned long failures = mg_memory_failures();

	if (!row->type->parse(row, text, option_value(row, values))) {
		if (mg_memory_failures() != failures)
			return out_of_memory();
		mg_error("%s: bad value '%s': it takes %s", row->option, text, option_takes());
		return -EINVAL;
	}
	if (!words || !(row->use & c->collect))
		return 0;
	if (may_lack_value(row) && text) /* in one word with its value */
		return option_list_add(words, word) ? 0 : out_of_memory();
	if (!option_list_add(words, row->option) || (text && !option_list_add(words, text)))
		return out_of_memory();
	return 0;
}

int options_parse(const struct option_command *c, int argc, char **argv, void *values,
	struct option_list *words)
{
	struct option longs[ROWS_MAX + 1];
	char shorts[2 * ROWS_MAX + 2];
	const struct option_row *row;
	int returned, err;

	describe(c, longs, shorts);
	optind = 0; /* begins anew, where another command line was parsed before */
	while ((returned = option_next(argc, argv, shorts, longs, NULL)) != -1) {
		row = row_of(c, returned);
		if (!row)
			return -EINVAL;
		err = take(c, row, row->argument ? optarg : NULL, argv[optind - 1], values, words);
		if (err)
			return err;
		if (row->type == &option_type_help) {
			fputs(c->usage, stdout);
			options_help(c, stdout);
			return 1;
		}
		if (row->use & OPTION_LAST)
			return 1;
	}
	return 0;
}

/* ---- help ---- */

/* "  -o, --output DIR"; returns its width */
static int left_column(const struct option_row *row, char *out, size_t size)
{
	char letter[8] = "    ";

	if (row->letter)
		snprintf(letter, sizeof(letter), "-%c, ", row->letter);
	return snprintf(out, size, "  %s%s%s%s", letter, row->option,
		row->argument && !may_lack_value(row) ? " " : "",
		row->argument ? row->argument : "");
}

/* Prints words from column `indent` on, so far as they fit a line; `at` is where the cursor is. */
static void print_wrapped(const char *text, int at, int indent, FILE *to)
{
	bool first = true;

	while (*text) {
		int len = (int)strcspn(text, " ");

		if (!first && at + 1 + len > HELP_WIDTH) {
			putc('\n', to);
			at = 0;
			first = true;
		}
		if (first)
			fprintf(to, "%*s", indent - at, "");
		else
			putc(' ', to);
		at = first ? indent + len : at + 1 + len;
		fwrite(text, 1, (size_t)len, to);
		first = false;
		text += len;
		text += strspn(text, " ");
	}
	putc('\n', to);
}

void options_help(const struct option_command *c, FILE *to)
{
	char left[80];
	int widest = 0, width;

	for (size_t i = 0; i < c->count; i++) {
		width = is_of(c, &c->rows[i]) ? left_column(&c->rows[i], left, sizeof(left)) : 0;
		widest = width > widest ? width : widest;
	}
	for (size_t i = 0; i < c->count; i++) {
		if (!is_of(c, &c->rows[i]))
			continue;
		width = left_column(&c->rows[i], left, sizeof(left));
		fputs(left, to);
		print_wrapped(c->rows[i].doc, width, widest + 2, to);
	}
}
