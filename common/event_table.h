/* SPDX-License-Identifier: MIT */
/* The event table as data, for readers and writers that work by name. */
#ifndef MAGNET_COMMON_EVENT_TABLE_H
#define MAGNET_COMMON_EVENT_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "calls.h"
#include "enums.h"

/* clang-format off */
/* L(NAME, name): where an event comes from, in the order a send passes them */
#define MG_LAYERS(L) \
	L(APP, app) L(SYSCALL, syscall) L(SOCKET, socket) L(TCP, tcp) L(TIMESTAMPS, timestamps) \
	L(IP, ip) L(NETFILTER, netfilter) L(DEVICE, device) L(GRO, gro) L(SCHED, sched) \
	L(SWITCH, switch) L(EVENT, event) L(TRACER, tracer)
/* clang-format on */

#define MG_LAYER_ID(NAME, name) MG_LAYER_##NAME,
enum mg_layer { MG_LAYERS(MG_LAYER_ID) MG_LAYER_END };
#undef MG_LAYER_ID

extern const char *const mg_layer_names[]; /* indexed by enum mg_layer */
/*
 * Whether a kernel side of these layers (bits 1 << enum mg_layer) sees packets, but no UNIX,
 * netlink and vsock sockets, which pass none of them.
 */
bool mg_layers_see_packets_only(uint32_t layers);
#define MG_UNSEEN_KINDS "UNIX, netlink and vsock sockets"

enum mg_field_class { MG_CLASS_UINT, MG_CLASS_HEX, MG_CLASS_INT, MG_CLASS_TEXT, MG_CLASS_BYTES };

struct mg_field_desc {
	const char *name;
	const char *doc;
	uint16_t offset;             /* bytes, in the payload */
	uint8_t size;                /* bytes */
	uint8_t class;               /* enum mg_field_class */
	const struct mg_enum *names; /* of its values; none where that has no name */
};

struct mg_event_desc {
	uint16_t id;   /* MG_EVENT_*, or MG_APP_BASE + MG_FN_* */
	uint8_t layer; /* enum mg_layer */
	const char *name;
	const char *doc;
	const struct mg_field_desc *fields;
	uint8_t field_count;
	uint8_t size; /* payload, bytes */
};

const struct mg_event_desc *mg_event_table(size_t *count);
/* NULL if there is none */
const struct mg_event_desc *mg_event_by_id(unsigned int id);
const struct mg_event_desc *mg_event_by_name(const char *name);

/* Whether a hook is one that the states lock and release alone rest on: many machines have none. */
bool mg_hook_is_of_lock(const char *hook);

/* Names are never NULL; an unknown number gives "?" and MG_DIR_OTHER. */
const char *mg_syscall_name(unsigned int id);
enum mg_direction mg_syscall_direction(unsigned int id);
const char *mg_function_name(unsigned int n);
enum mg_direction mg_function_direction(unsigned int n);
const char *mg_kind_name(unsigned int kind);

#endif
