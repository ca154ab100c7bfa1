/* SPDX-License-Identifier: MIT */
/* The enumerated types of the event table as data: which numbers have which names. */
#ifndef MAGNET_COMMON_ENUMS_H
#define MAGNET_COMMON_ENUMS_H

#include <stddef.h>
#include <stdint.h>

#include "events.h"

struct mg_label {
	int64_t value;
	const char *name;
};

struct mg_enum {
	const char *name; /* of the type; NULL: it is not enumerated */
	const struct mg_label *label;
	size_t count;
};

/* One for each type of the table, by its tag: mg_names_e_kind, ... */
#define MG_DECLARE_NAMES(tag, ctype, bytes, class) extern const struct mg_enum mg_names_##tag;
MG_TYPES(MG_DECLARE_NAMES)
#undef MG_DECLARE_NAMES

/* Returns the name of a value, NULL if it has none. */
const char *mg_enum_name(const struct mg_enum *e, int64_t value);

#endif
