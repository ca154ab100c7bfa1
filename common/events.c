/* SPDX-License-Identifier: MIT */
#include "event_table.h"

#include <stddef.h>
#include <string.h>

#include "events.h"
#include "ring.h"

/* The struct in memory and the packed fields in the trace must be the same bytes. */
#define MEMBER(S, type, name, doc) mg_##type name;
#define PACKED(NAME, name)             \
	struct packed_##name {         \
		MG_EV_##NAME(MEMBER, ) \
	} __attribute__((packed));
MG_PAYLOADS(PACKED)

#define SAME_OFFSET(S, type, field, doc)                                                     \
	_Static_assert(offsetof(struct mg_##S, field) == offsetof(struct packed_##S, field), \
		#S "." #field " needs padding before it: reorder the fields");
#define CHECK_LAYOUT(NAME, name) MG_EV_##NAME(SAME_OFFSET, name)
MG_PAYLOADS(CHECK_LAYOUT)

#define CHECK_SIZE(id, name, NAME, ...) \
	_Static_assert(MG_PAYLOAD_SIZE(NAME) <= MG_SLOT_PAYLOAD, #name " does not fit a slot");
MG_RING_EVENTS(CHECK_SIZE)

#define IN_SYSTEM(id, name, ...) _Static_assert(id < MG_TRACER_BASE, #name " is of the tracer");
#define OF_TRACER(id, name, ...) \
	_Static_assert(id >= MG_TRACER_BASE && id < MG_APP_BASE, #name " is of the system");
MG_SYSTEM_EVENTS(IN_SYSTEM)
MG_TRACER_EVENTS(OF_TRACER)

_Static_assert(sizeof(struct mg_slot) == 64, "a slot is one cache line");
_Static_assert(offsetof(struct mg_slot, id) == MG_SLOT_SKIP, "slot head");
_Static_assert(offsetof(struct mg_slot, payload) == MG_SLOT_SKIP + MG_SLOT_ON_DISK, "slot head");

#define CLASS(tag, ctype, bytes, class) MG_CLASS_##tag = MG_CLASS_##class,
enum { MG_TYPES(CLASS) };

#define FIELD(S, type, field, doc)                                                        \
	{#field, doc, offsetof(struct mg_##S, field), sizeof(mg_##type), MG_CLASS_##type, \
		&mg_names_##type},
#define FIELDS(NAME, name) \
	static const struct mg_field_desc fields_##NAME[] = {MG_EV_##NAME(FIELD, name)};
MG_PAYLOADS(FIELDS)

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))
#define KERNEL_ROW(id, name, NAME, layer, direction, stage, state, handler, doc) \
	{id, MG_LAYER_##layer, #name, doc, fields_##NAME, COUNT(fields_##NAME),  \
		MG_PAYLOAD_SIZE(NAME)},
#define APP_DOC_TX(name)    "the program called " name "()"
#define APP_DOC_RX(name)    APP_DOC_TX(name)
#define APP_DOC_OTHER(name) APP_DOC_TX(name)
#define APP_DOC_WAIT(name)  APP_DOC_TX(name) "; on request"
#define APP_DOC_ENTRY(name) "a call begins, of the function number ret; on request"
#define APP_ROW(n, name, dir)                                                               \
	{MG_APP_BASE + n, MG_LAYER_APP, "magnet:" #name, APP_DOC_##dir(#name), fields_CALL, \
		COUNT(fields_CALL), MG_PAYLOAD_SIZE(CALL)},
static const struct mg_event_desc events[] = {
	MG_KERNEL_EVENTS(KERNEL_ROW) /**/
	MG_FUNCTIONS(APP_ROW)        /**/
	{MG_EVENT_mark, MG_LAYER_APP, "magnet:mark", "a point the program marks", fields_MARK,
		COUNT(fields_MARK), MG_PAYLOAD_SIZE(MARK)},
};

#define LAYER_NAME(NAME, name) #name,
const char *const mg_layer_names[] = {MG_LAYERS(LAYER_NAME)};

#define SYS_NAME(id, name, dir, len, flags) [id] = #name,
static const char *const sys_names[] = {MG_SYSCALLS(SYS_NAME)};
#define SYS_DIR(id, name, dir, len, flags) [id] = MG_DIR_##dir,
static const unsigned char sys_dirs[] = {MG_SYSCALLS(SYS_DIR)};
#define FN_NAME(n, name, dir) [n] = #name,
static const char *const fn_names[] = {MG_FUNCTIONS(FN_NAME)};
#define FN_DIR(n, name, dir) [n] = MG_DIR_##dir,
static const unsigned char fn_dirs[] = {MG_FUNCTIONS(FN_DIR)};
#define KIND_NAME(v, name) [v] = #name,
static const char *const kind_names[] = {MG_KINDS(KIND_NAME)};

const struct mg_event_desc *mg_event_table(size_t *count)
{
	*count = COUNT(events);
	return events;
}

/* The rows' numbers, in the order of `events`. */
#define SYSTEM_NUMBER(id, name, ...) NUMBER_##name,
#define APP_NUMBER(n, name, dir)     NUMBER_OF_APP_##name,
enum {
	MG_KERNEL_EVENTS(SYSTEM_NUMBER) /**/
	MG_FUNCTIONS(APP_NUMBER)        /**/
	NUMBER_mark
};

const struct mg_event_desc *mg_event_by_id(unsigned int id)
{
#define SYSTEM_AT(id, name, ...) [id] = &events[NUMBER_##name],
#define APP_AT(n, name, dir)     [MG_APP_BASE + n] = &events[NUMBER_OF_APP_##name],
	static const struct mg_event_desc *const by_id[] = {
		MG_KERNEL_EVENTS(SYSTEM_AT) /**/
		MG_FUNCTIONS(APP_AT)        /**/
			[MG_EVENT_mark] = &events[NUMBER_mark],
	};

	return id < COUNT(by_id) ? by_id[id] : NULL;
}

const struct mg_event_desc *mg_event_by_name(const char *name)
{
	for (size_t i = 0; i < COUNT(events); i++)
		if (strcmp(events[i].name, name) == 0)
			return &events[i];
	return NULL;
}

bool mg_layers_see_packets_only(uint32_t layers)
{
	static const uint32_t packets = 1u << MG_LAYER_IP | 1u << MG_LAYER_NETFILTER |
					1u << MG_LAYER_DEVICE | 1u << MG_LAYER_GRO,
			      others = 1u << MG_LAYER_SYSCALL | 1u << MG_LAYER_SOCKET |
				       1u << MG_LAYER_TCP;

	return layers & packets && !(layers & others);
}

bool mg_hook_is_of_lock(const char *hook)
{
	return strncmp(hook, "lock_", 5) == 0 || strncmp(hook, "backlog_", 8) == 0;
}

const char *mg_syscall_name(unsigned int id)
{
	return id < COUNT(sys_names) && sys_names[id] ? sys_names[id] : "?";
}

enum mg_direction mg_syscall_direction(unsigned int id)
{
	return id < COUNT(sys_dirs) && sys_names[id] ? sys_dirs[id] : MG_DIR_OTHER;
}

const char *mg_function_name(unsigned int n)
{
	return n < COUNT(fn_names) ? fn_names[n] : "?";
}

enum mg_direction mg_function_direction(unsigned int n)
{
	return n < COUNT(fn_dirs) ? fn_dirs[n] : MG_DIR_OTHER;
}

const char *mg_kind_name(unsigned int kind)
{
	return kind < COUNT(kind_names) ? kind_names[kind] : "?";
}
