/* SPDX-License-Identifier: MIT */
/* The LTTng-UST provider `magnet`: one event per wrapped call, with fields from the event table. */
#undef LTTNG_UST_TRACEPOINT_PROVIDER
#define LTTNG_UST_TRACEPOINT_PROVIDER magnet

#undef LTTNG_UST_TRACEPOINT_INCLUDE
#define LTTNG_UST_TRACEPOINT_INCLUDE "./provider.h"

/* LTTng includes this file several times with different definitions of its macros. */
#if !defined(MAGNET_PRELOAD_PROVIDER_H) || defined(LTTNG_UST_TRACEPOINT_HEADER_MULTI_READ)
#define MAGNET_PRELOAD_PROVIDER_H

#include <lttng/tracepoint.h>

#include "events.h"

#define UST_UINT(type, name) lttng_ust_field_integer(type, name, c->name)
#define UST_INT(type, name)  lttng_ust_field_integer(type, name, c->name)
#define UST_HEX(type, name)  lttng_ust_field_integer_hex(type, name, c->name)

#define UST_u8(name)                  UST_UINT(mg_u8, name)
#define UST_u32(name)                 UST_UINT(mg_u32, name)
#define UST_u64(name)                 UST_UINT(mg_u64, name)
#define UST_s32(name)                 UST_INT(mg_s32, name)
#define UST_s64(name)                 UST_INT(mg_s64, name)
#define UST_x32(name)                 UST_HEX(mg_x32, name)
#define UST_text24(name)              lttng_ust_field_array_text(char, name, c->name, sizeof(mg_text24))
#define UST_e_kind(name)              UST_UINT(mg_e_kind, name)
#define UST_e_option(name)            UST_HEX(mg_e_option, name)
#define UST_FIELD(S, type, name, doc) UST_##type(name)

LTTNG_UST_TRACEPOINT_EVENT_CLASS(magnet, call, LTTNG_UST_TP_ARGS(const struct mg_call *, c),
	LTTNG_UST_TP_FIELDS(MG_EV_CALL(UST_FIELD, )))

#define UST_EVENT(n, name, dir)              \
	LTTNG_UST_TRACEPOINT_EVENT_INSTANCE( \
		magnet, call, magnet, name, LTTNG_UST_TP_ARGS(const struct mg_call *, c))
MG_FUNCTIONS(UST_EVENT)

LTTNG_UST_TRACEPOINT_EVENT(magnet, mark, LTTNG_UST_TP_ARGS(const struct mg_mark *, c),
	LTTNG_UST_TP_FIELDS(MG_EV_MARK(UST_FIELD, )))

#endif

#include <lttng/tracepoint-event.h>
