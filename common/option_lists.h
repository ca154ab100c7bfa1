/* SPDX-License-Identifier: MIT */
/*
 * Values of options that are lists, and of those that choose sockets. Each function returns false
 * after option_refuse() if the text is no such value.
 */
#ifndef MAGNET_COMMON_OPTION_LISTS_H
#define MAGNET_COMMON_OPTION_LISTS_H

#include "option_table.h"
#include "ring.h"

#define OPTION_ITEM_SIZE 256

/*
 * Copies the next item of a list separated by commas and moves `at` behind it; a longer item is
 * cut. Returns false at the end.
 */
bool option_item(const char **at, char item[OPTION_ITEM_SIZE]);

/* Sets the bits 1 << MG_KIND_* of a protocol. */
bool option_protocol(const char *item, uint32_t *kinds);
bool option_port(const char *item, uint16_t *port);
/* Parses an address, or a prefix with the number of its bits. */
bool option_prefix(const char *item, struct mg_prefix *p);
/* Parses the N of "one in N connections". */
bool option_sample(const char *text, uint32_t *n);
bool option_interface(const char *text);

/* Kinds of hooks that --without names, as bits 1 << the number in this list. */
#define OPTION_HOOK_KINDS(K)   K(fentry) K(fexit) K(netfilter) K(sockops)
#define OPTION_HOOK_KIND(name) OPTION_HOOK_##name,
enum option_hook_kind { OPTION_HOOK_KINDS(OPTION_HOOK_KIND) OPTION_HOOKS };
#undef OPTION_HOOK_KIND
bool option_hook_kind(const char *item, unsigned int *kind);

/* Triggers of the flight recorder. */
struct option_trigger {
	bool retransmission, lost;
	uint64_t latency_ns; /* 0: none */
};
/* Adds a trigger to those in `t`. */
bool option_trigger(const char *text, struct option_trigger *t);

/*
 * Types for tables of options; the values are kept as texts. A filter also takes "any", which takes
 * away what was given before. `most` of the row is the largest number of items.
 */
extern const struct option_type option_type_protocols, option_type_ports, option_type_prefixes,
	option_type_sample, option_type_interface, option_type_hook_kinds, option_type_triggers,
	option_type_events;
typedef struct option_list option_value_protocols, option_value_ports, option_value_prefixes,
	option_value_sample, option_value_interface, option_value_hook_kinds, option_value_triggers,
	option_value_events;

#endif
