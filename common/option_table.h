/* SPDX-License-Identifier: MIT */
/*
 * Command lines made from tables. A command has a struct for the values of its options, and a table
 * with a row for each option; parsing, --help and the manual's lists of options come from the rows.
 */
#ifndef MAGNET_COMMON_OPTION_TABLE_H
#define MAGNET_COMMON_OPTION_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct option_row;

/* A type of value: the common ones are below, a command may have its own. */
struct option_type {
	/* Stores the value; returns false after option_refuse(), with nothing stored. */
	bool (*parse)(const struct option_row *row, const char *text, void *value);
	/* Writes the value as the option takes it, "" for one that was not given. May be NULL. */
	void (*print)(const struct option_row *row, const void *value, char *out, size_t size);
	bool is_list; /* the value is a struct option_list */
};

struct option_row {
	const char *option; /* "--max-size" */
	/* the argument's name in --help; NULL: the option takes none; "[=NAME]": it may be left out
	 */
	const char *argument;
	const char *doc; /* a sentence, without capital letter and full stop */
	const struct option_type *type;
	uint64_t min, max;     /* range of numbers, sizes and amounts */
	size_t at;             /* offset of the value in the command's struct */
	unsigned int commands; /* bits: which commands take it; the command says what they mean */
	unsigned int use;      /* bits: who else uses it; OPTION_LAST, and the command's own */
	char letter;           /* 0: none */
};

/* bit of `use`: nothing behind this option is read */
#define OPTION_LAST (1u << 31)

/* A row of a command whose table is its own: without a range, and used by nobody else. */
#define OPTION_ONLY_COMMAND 1u
#define OPTION_ROW(values, option, letter, argument, type, member, doc)            \
	{                                                                          \
		"--" option, argument, doc, &type, 0, 0, offsetof(values, member), \
			OPTION_ONLY_COMMAND, 0, letter                             \
	}

struct option_amount {
	uint64_t bytes, ns; /* either is set; both 0: not given */
};

/* Values of an option that may be repeated; `text` has a NULL behind them. */
struct option_list {
	const char **text;
	size_t count;
};

/* Numbers of processes; none: not given. */
#define OPTION_PROCESSES_MAX 64
struct option_processes {
	uint32_t count;
	int32_t pid[OPTION_PROCESSES_MAX];
};

#define MG_THRESHOLD 1000000 /* ns; of an option of type threshold without a value */

/* Members of the commands' structs, by type. */
typedef bool option_value_flag;
typedef bool option_value_help;
typedef uint64_t option_value_number;
typedef uint64_t option_value_size;
typedef uint64_t option_value_time;      /* nanoseconds */
typedef uint64_t option_value_threshold; /* nanoseconds; 0: not given */
typedef struct option_amount option_value_amount;
typedef struct option_processes option_value_processes;
typedef uint32_t option_value_layers;
typedef uint8_t option_value_level;
typedef const char *option_value_functions;
typedef const char *option_value_text;
typedef const char *option_value_path;
typedef struct option_list option_value_list;

/* A number, size, time or amount outside the row's range, such as 0, stands for "not given". */
extern const struct option_type option_type_flag, option_type_help, option_type_number,
	option_type_size, option_type_time, option_type_threshold, option_type_amount,
	option_type_layers, option_type_level, option_type_functions, option_type_processes,
	option_type_text, option_type_path, option_type_list;

struct option_command {
	const char *usage; /* printed by --help above the options */
	const struct option_row *rows;
	size_t count;
	unsigned int command; /* the rows with one of these bits are its own */
	bool command_follows; /* options end at the first argument that is none */
	unsigned int collect; /* options with one of these bits in `use` are put into `words` */
};

/*
 * Stores all values and leaves optind at the first argument. `words` gets those options once more
 * as they were given, and may be NULL. Returns 0; 1 after --help, or after an option with
 * OPTION_LAST; or -EINVAL or -ENOMEM after a message.
 */
int options_parse(const struct option_command *c, int argc, char **argv, void *values,
	struct option_list *words);
/* Prints the options as --help does. */
void options_help(const struct option_command *c, FILE *to);

/* Returns the row of an option, given without the dashes; NULL if there is none. */
const struct option_row *option_find(const struct option_row *rows, size_t count, const char *name);
/* Returns the option's name without the dashes. */
const char *option_row_name(const struct option_row *row);
/* Returns a pointer to the row's value among all values of the command. */
void *option_value(const struct option_row *row, void *values);
/* Writes the value as the option takes it, "" if it was not given. */
void option_text(const struct option_row *row, const void *values, char *out, size_t size);

/* Returns false without memory. */
bool option_list_add(struct option_list *l, const char *text);
void option_list_free(struct option_list *l);

#endif
