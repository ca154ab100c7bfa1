/* SPDX-License-Identifier: MIT */
#include "derived.h"

#include <string.h>

#include "alloc.h"
#include "event_table.h"
#include "render/report.h"

/* A member of a derived event: text, an unsigned or a signed number. */
struct member {
	const char *name;
	char type; /* 't', 'u' or 's' */
};

#define STATE_MEMBER(ID, name)        {name "_ns", 'u'},
#define STAGE_MEMBER(ID, name, label) {name "_ns", 'u'},
static const struct member call_members[] = {{"name", 't'}, {"flow", 't'}, {"offset", 'u'},
	{"length", 'u'}, {"tid", 'u'}, {"pid", 'u'}, {"ret", 's'}, {"begin_ns", 'u'},
	{"total_ns", 'u'}, MG_STATES(STATE_MEMBER)};
static const struct member tx_members[] = {{"flow", 't'}, {"offset", 'u'}, {"length", 'u'},
	{"begin_ns", 'u'}, {"total_ns", 'u'}, MG_TX_STAGES(STAGE_MEMBER)};
static const struct member rx_members[] = {{"flow", 't'}, {"offset", 'u'}, {"length", 'u'},
	{"begin_ns", 'u'}, {"total_ns", 'u'}, MG_RX_STAGES(STAGE_MEMBER)};

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))
static const struct {
	const char *name;
	const struct member *member;
	size_t members;
} kinds[DERIVED_KINDS] = {
	[DERIVED_CALL] = {"magnet:joined_call", call_members, COUNT(call_members)},
	[DERIVED_TX] = {"magnet:atom_tx", tx_members, COUNT(tx_members)},
	[DERIVED_RX] = {"magnet:atom_rx", rx_members, COUNT(rx_members)},
};

/*
 * Counts a refused allocation, the only way in which creating an object of babeltrace2 fails; an
 * outer caller checks the count.
 */
static void refused(void)
{
	bt_current_thread_clear_error();
	mg_memory_failed();
}

/* ---- classes ---- */

static bt_field_class *field_class(bt_trace_class *tc, char type)
{
	return type == 't'   ? bt_field_class_string_create(tc)
	       : type == 's' ? bt_field_class_integer_signed_create(tc)
			     : bt_field_class_integer_unsigned_create(tc);
}

static bt_event_class *event_class(bt_trace_class *tc, bt_stream_class *sc, enum derived_kind kind)
{
	bt_event_class *ec = bt_event_class_create(sc);
	bt_field_class *payload = bt_field_class_structure_create(tc);
	bool ok =
		ec && payload &&
		bt_event_class_set_name(ec, kinds[kind].name) == BT_EVENT_CLASS_SET_NAME_STATUS_OK;

	for (size_t i = 0; ok && i < kinds[kind].members; i++) {
		bt_field_class *fc = field_class(tc, kinds[kind].member[i].type);

		ok = fc &&
		     bt_field_class_structure_append_member(payload, kinds[kind].member[i].name,
			     fc) == BT_FIELD_CLASS_STRUCTURE_APPEND_MEMBER_STATUS_OK;
		bt_field_class_put_ref(fc);
	}
	ok = ok && bt_event_class_set_payload_field_class(ec, payload) ==
			   BT_EVENT_CLASS_SET_FIELD_CLASS_STATUS_OK;
	bt_field_class_put_ref(payload);
	if (ok)
		return ec;
	bt_event_class_put_ref(ec);
	return NULL;
}

/*
 * Creates a clock class equal to that of the streams, so that whoever merges by time places derived
 * events correctly.
 */
static bt_clock_class *clock_like(bt_self_component *component, const bt_clock_class *like)
{
	bt_clock_class *c = bt_clock_class_create(component);
	int64_t seconds;
	uint64_t cycles;

	if (!c)
		return NULL;
	bt_clock_class_get_offset(like, &seconds, &cycles);
	bt_clock_class_set_frequency(c, bt_clock_class_get_frequency(like));
	bt_clock_class_set_offset(c, seconds, cycles);
	bt_clock_class_set_origin_is_unix_epoch(c, bt_clock_class_origin_is_unix_epoch(like));
	if (bt_clock_class_get_uuid(like))
		bt_clock_class_set_uuid(c, bt_clock_class_get_uuid(like));
	if (bt_clock_class_get_name(like) &&
		bt_clock_class_set_name(c, bt_clock_class_get_name(like)) !=
			BT_CLOCK_CLASS_SET_NAME_STATUS_OK) {
		bt_clock_class_put_ref(c);
		return NULL;
	}
	return c;
}

static bool make_classes(
	struct derived *d, bt_trace_class *tc, bt_stream_class *sc, bt_clock_class *clock)
{
	if (bt_stream_class_set_default_clock_class(sc, clock) !=
		BT_STREAM_CLASS_SET_DEFAULT_CLOCK_CLASS_STATUS_OK)
		return false;
	for (int kind = 0; kind < DERIVED_KINDS; kind++) {
		d->class[kind] = event_class(tc, sc, kind);
		if (!d->class[kind])
			return false;
	}
	return true;
}

static const bt_message *begins(struct derived *d)
{
	const bt_message *m =
		d->stream ? bt_message_stream_beginning_create(d->iterator, d->stream) : NULL;

	if (!m)
		refused();
	return m;
}

const bt_message *derived_begin(struct derived *d, const bt_stream *like)
{
	const bt_clock_class *c = bt_stream_class_borrow_default_clock_class_const(
		bt_stream_borrow_class_const(like));
	bt_self_component *component = bt_self_message_iterator_borrow_component(d->iterator);
	bt_trace_class *tc;
	bt_stream_class *sc;
	bt_clock_class *clock;
	bt_trace *trace;
	int64_t seconds;
	uint64_t cycles;

	if (d->stream || !c || bt_clock_class_get_frequency(c) != 1000000000)
		return NULL;
	tc = bt_trace_class_create(component);
	sc = tc ? bt_stream_class_create(tc) : NULL;
	clock = clock_like(component, c);
	trace = tc ? bt_trace_create(tc) : NULL;
	if (sc && clock && trace && make_classes(d, tc, sc, clock))
		d->stream = bt_stream_create(sc, trace);
	bt_clock_class_get_offset(c, &seconds, &cycles);
	d->offset_ns = seconds * 1000000000 + (int64_t)cycles;
	bt_trace_put_ref(trace);
	bt_clock_class_put_ref(clock);
	bt_stream_class_put_ref(sc);
	bt_trace_class_put_ref(tc);
	return begins(d);
}

const bt_message *derived_end(struct derived *d)
{
	const bt_message *m =
		d->stream ? bt_message_stream_end_create(d->iterator, d->stream) : NULL;

	if (d->stream && !m)
		refused();
	return m;
}

void derived_free(struct derived *d)
{
	bt_stream_put_ref(d->stream);
	d->stream = NULL;
	for (int kind = 0; kind < DERIVED_KINDS; kind++) {
		bt_event_class_put_ref(d->class[kind]);
		d->class[kind] = NULL;
	}
}

/* ---- events ---- */

void derived_at(struct derived *d, const bt_clock_snapshot *time)
{
	int64_t ns;

	if (bt_clock_snapshot_get_ns_from_origin(time, &ns) !=
		BT_CLOCK_SNAPSHOT_GET_NS_FROM_ORIGIN_STATUS_OK)
		return;
	if (ns - d->offset_ns > (int64_t)d->now)
		d->now = (uint64_t)(ns - d->offset_ns);
}

/* An event whose fields are being filled in, in their order. */
struct filling {
	bt_message *message;
	bt_field *payload;
	uint64_t next;
};

static bool start(struct derived *d, enum derived_kind kind, struct filling *f)
{
	*f = (struct filling){0};
	if (!d->stream)
		return false;
	f->message = bt_message_event_create_with_default_clock_snapshot(
		d->iterator, d->class[kind], d -> stream, d -> now);
	if (!f->message) {
		refused();
		return false;
	}
	f->payload = bt_event_borrow_payload_field(bt_message_event_borrow_event(f->message));
	return true;
}

static bt_field *next(struct filling *f)
{
	return bt_field_structure_borrow_member_field_by_index(f->payload, f->next++);
}

static void put_text(struct filling *f, const char *text)
{
	bt_field *field = next(f);

	if (bt_field_string_set_value(field, text) != BT_FIELD_STRING_SET_VALUE_STATUS_OK)
		refused(); /* the field stays empty */
}

static void put(struct filling *f, uint64_t value)
{
	bt_field_integer_unsigned_set_value(next(f), value);
}

/*
 * Converts cycles to nanoseconds. Each value is rounded by itself, so the sum may differ from the
 * total by a few.
 */
static uint64_t ns(const struct derived *d, uint64_t cycles)
{
	double hz = core_hz(d->core);

	return hz > 0 ? (uint64_t)((double)cycles * 1e9 / hz + 0.5) : cycles;
}

static void put_times(
	struct derived *d, struct filling *f, uint64_t begin, const uint64_t part[], int parts)
{
	uint64_t total = 0;

	for (int i = 0; i < parts; i++)
		total += part[i];
	put(f, core_ns(d->core, begin));
	put(f, ns(d, total));
	for (int i = 0; i < parts; i++)
		put(f, ns(d, part[i]));
}

const bt_message *derived_call(
	struct derived *d, const struct mg_event *e, const struct annotation *a)
{
	struct filling f;
	char flow[32] = "";

	if (!start(d, DERIVED_CALL, &f))
		return NULL;
	if (a->sock)
		flow_name(flow, annotated_flow(a).sock, a->rx);
	put_text(&f, mg_function_name(e->id - MG_APP_BASE));
	put_text(&f, flow);
	put(&f, a->offset);
	put(&f, a->length);
	put(&f, e->call.tid);
	put(&f, e->call.pid);
	bt_field_integer_signed_set_value(next(&f), e->call.ret);
	put_times(d, &f, e->call.enter, annotated_states(a), STATES);
	return f.message;
}

const bt_message *derived_range(struct derived *d, const struct fact_range *r)
{
	bool rx = r->flow.rx;
	const uint64_t *stage = rx ? r->stage + TX_STAGES : r->stage;
	int stages = rx ? (int)RX_STAGES : (int)TX_STAGES;
	uint64_t part[STAGES_MAX];
	struct filling f;
	char flow[32];

	if (!start(d, rx ? DERIVED_RX : DERIVED_TX, &f))
		return NULL;
	for (int i = 0; i < stages; i++)
		part[i] = stage[i] == FACT_NONE ? 0 : stage[i];
	flow_name(flow, r->flow.sock, rx);
	put_text(&f, flow);
	put(&f, r->offset);
	put(&f, r->length);
	put_times(d, &f, r->begin, part, stages);
	return f.message;
}
