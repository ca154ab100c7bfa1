/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
/* The metadata of a trace: all that the writer writes is understood, anything else is refused. */
#include "ctf.h"
#include "layout.h"
#include "trace_file.h"

#define UUID "01234567-89ab-cdef-0123-456789abcdef"

static char *text;

static int setup(void **unused)
{
	char *dir = trace_dir_make(), path[256];
	size_t size;
	FILE *f;

	(void)unused;
	if (ctf_write_metadata(dir, CTF_KERNEL, UUID, 1700000000123456789, NULL, false) != 0)
		return -1;
	snprintf(path, sizeof(path), "%s/metadata", dir);
	text = calloc(1, 1 << 20);
	f = fopen(path, "r");
	assert_non_null(text);
	assert_non_null(f);
	size = fread(text, 1, (1 << 20) - 1, f);
	fclose(f);
	trace_dir_remove(dir);
	return size ? 0 : -1;
}

static int teardown(void **unused)
{
	(void)unused;
	free(text);
	return 0;
}

static void own_metadata_is_understood(void **unused)
{
	const struct mg_event_desc *d = mg_event_by_name("tcp_send");
	const struct tsdl_field *f;
	struct layout l;

	(void)unused;
	assert_null(layout_make(&l, text, strlen(text)));
	assert_int_equal(l.tsdl.offset_ns, 1700000000123456789);
	assert_string_equal(l.tsdl.tracer, "magnet-kernel-tracer");
	assert_memory_equal(l.tsdl.uuid, "\x01\x23\x45\x67\x89\xab\xcd\xef\x01\x23", 10);
	assert_int_equal(l.packet_head, 76);
	assert_int_equal(l.event_head, 18);
	assert_ptr_equal(l.class[d->id] -> desc, d);
	assert_true(l.class[d->id] -> is_fixed);
	assert_int_equal(l.class[d->id] -> size, d -> size);
	assert_int_equal(l.class[d->id] -> moves, 1); /* the bytes are the same: one copy */
	assert_int_equal(l.class[d->id] -> clear, 0);
	f = tsdl_find(&l.class[MG_EVENT_hook] -> described -> fields, "layer");
	assert_int_equal(f->kind, TSDL_TEXT);
	assert_int_equal(f->count, 16);
	layout_free(&l);
}

static const char *changed(const char *old, const char *new)
{
	char *at = strstr(text, old), *other;
	struct layout l;
	const char *why;

	assert_non_null(at);
	if (asprintf(&other, "%.*s%s%s", (int)(at - text), text, new, at + strlen(old)) < 0)
		abort();
	why = layout_make(&l, other, strlen(other));
	layout_free(&l);
	free(other);
	return why;
}

static void foreign_metadata_is_refused(void **unused)
{
	static const char *const to[][2] = {
		{"byte_order = le", "byte_order = be"},
		{"freq = 1000000000", "freq = 2600000000"},
		{"absolute = true", "absolute = false"},
		{"minor = 8", "minor = 9"},
		{"tracer_name = \"magnet-kernel-tracer\"", "tracer_name = \"lttng-modules\""},
		{"domain = \"kernel\"", "domain = \"ust\""},
		{"u8 uuid[16]", "u8 uuid[15]"},
		{"u32 stream_id;", "u32 stream_id; u64 stream_instance_id;"},
		{"u64 packet_size", "u32 packet_size"},
		{"ns_t timestamp;", "u64 timestamp;"},
		{"u16 id;", "u32 id;"},
		{"size = 16; align = 8", "size = 16; align = 16"},
		{"size = 32; align = 8", "size = 31; align = 8"},
		{"u32 tid;", "s32 tid;"},
		{"\t\tu64 _sock;", "\t\tns_t _sock;"},
		{"\t\tu64 _sock;", "\t\tvariant <tag> { u8 a; } _sock;"},
		{"\t\tu64 _sock;", "\t\tenum : u8 { a, b } _sock;"},
		{"\t\tu64 _sock;", "\t\tstruct { u64 a; } _sock;"},
		{"\t\tu64 _sock;", "\t\tstring _sock;"},
		{"\t\tu64 _sock;", "\t\tu64 _seq; u64 _seq;"},
		{"\t\tu64 _sock;", "\t\tu64 _sock[_none];"},
		{"id = 2;", "id = 1;"},
		{"id = 2;", "id = 65536;"},
		{"stream_id = 0;", "stream_id = 1;"},
		{"event {", "callsite {"},
		{"/* CTF", "/ CTF"},
		{"env {", "env"},
		{UUID, "01234567-89ab-cdef-0123-456789abcde"},
	};

	(void)unused;
	for (size_t i = 0; i < COUNT(to); i++)
		if (!changed(to[i][0], to[i][1]))
			fail_msg("%s is not refused", to[i][1]);
	assert_null(changed("u32 pid;", "u32 pid; u64 more;"));
	assert_null(changed("\t\tu64 _sock;", "\t\tu64 _sock;\n\t\tx32 _new;"));
	assert_null(changed("hostname = ", "another = 5;\n\thostname = "));
}

/* Wherever it is cut. */
static void half_a_description_is_refused(void **unused)
{
	size_t size = strlen(text);
	struct layout l;

	(void)unused;
	for (size_t n = 0; n < size - 1; n += n < 3000 ? 1 : 37) {
		/* an exact copy, so that tools detect reads past its end */
		char *exact = malloc(n + 1);
		const char *why;

		assert_non_null(exact);
		memcpy(exact, text, n);
		why = layout_make(&l, exact, n);
		/* it may be cut between two events: then these are all */
		assert_true(why || l.tsdl.events);
		layout_free(&l);
		free(exact);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(own_metadata_is_understood),
		cmocka_unit_test(foreign_metadata_is_refused),
		cmocka_unit_test(half_a_description_is_refused),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
