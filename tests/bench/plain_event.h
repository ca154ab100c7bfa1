/* SPDX-License-Identifier: MIT */
/*
 * One plain LTTng-UST event with the fields of a recorded call, against which libmagnet.so is
 * measured. Its provider has magnet's name, so that magnet's own session records it.
 */
#undef LTTNG_UST_TRACEPOINT_PROVIDER
#define LTTNG_UST_TRACEPOINT_PROVIDER magnet

#undef LTTNG_UST_TRACEPOINT_INCLUDE
#define LTTNG_UST_TRACEPOINT_INCLUDE "./plain_event.h"

#if !defined(MAGNET_BENCH_PLAIN_EVENT_H) || defined(LTTNG_UST_TRACEPOINT_HEADER_MULTI_READ)
#define MAGNET_BENCH_PLAIN_EVENT_H

#include <lttng/tracepoint.h>

#include "events.h"

#define PLAIN_u8(name)                  lttng_ust_field_integer(mg_u8, name, c->name)
#define PLAIN_u32(name)                 lttng_ust_field_integer(mg_u32, name, c->name)
#define PLAIN_u64(name)                 lttng_ust_field_integer(mg_u64, name, c->name)
#define PLAIN_s32(name)                 lttng_ust_field_integer(mg_s32, name, c->name)
#define PLAIN_s64(name)                 lttng_ust_field_integer(mg_s64, name, c->name)
#define PLAIN_x32(name)                 lttng_ust_field_integer_hex(mg_x32, name, c->name)
#define PLAIN_e_kind(name)              lttng_ust_field_integer(mg_e_kind, name, c->name)
#define PLAIN_e_option(name)            lttng_ust_field_integer_hex(mg_e_option, name, c->name)
#define PLAIN_FIELD(S, type, name, doc) PLAIN_##type(name)

LTTNG_UST_TRACEPOINT_EVENT(magnet, plain_event, LTTNG_UST_TP_ARGS(const struct mg_call *, c),
	LTTNG_UST_TP_FIELDS(MG_EV_CALL(PLAIN_FIELD, )))

#endif

#include <lttng/tracepoint-event.h>
