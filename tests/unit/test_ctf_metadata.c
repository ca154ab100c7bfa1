/* SPDX-License-Identifier: MIT */
/* The metadata must agree with the event table, field by field and bit by bit. */
#include <errno.h>
#include <signal.h>
#include <sys/resource.h>

#include "trace_file.h"
#include "ctf.h"

#define UUID "01234567-89ab-cdef-0123-456789abcdef"

static char *dir, *text;

static char *contents(const char *name)
{
	char path[256], *buf = calloc(1, 1 << 20);
	FILE *f;

	assert_non_null(buf);
	snprintf(path, sizeof(path), "%s/%s", dir, name);
	f = fopen(path, "r");
	assert_non_null(f);
	assert_true(fread(buf, 1, (1 << 20) - 1, f) > 0);
	fclose(f);
	return buf;
}

static int setup(void **unused)
{
	(void)unused;
	dir = trace_dir_make();
	if (ctf_write_metadata(dir, CTF_KERNEL, UUID, 1700000000123456789, NULL, false) != 0)
		return -1;
	text = contents("metadata");
	return 0;
}

static int teardown(void **unused)
{
	(void)unused;
	free(text);
	trace_dir_remove(dir);
	return 0;
}

static void metadata_begins_as_ctf_1_8_requires(void **unused)
{
	(void)unused;
	assert_begins(text, "/* CTF 1.8 */\n");
	assert_non_null(strstr(text, "uuid = \"" UUID "\";"));
	assert_non_null(strstr(text, "byte_order = le;"));
	assert_false(trace_exists(dir, ".metadata.new"));
}

/* So that a trace of another tracer, or of another day, merges with it. */
static void clock_is_absolute_and_has_the_offset(void **unused)
{
	(void)unused;
	assert_non_null(strstr(text, "freq = 1000000000;"));
	assert_non_null(strstr(text, "offset_s = 1700000000;"));
	assert_non_null(strstr(text, "offset = 123456789;"));
	assert_non_null(strstr(text, "absolute = true;"));
}

/* A type must precede its use, and the clock the type that maps to it. */
static void nothing_is_used_before_it_is_defined(void **unused)
{
	(void)unused;
	assert_true(strstr(text, "clock {") < strstr(text, "clock.monotonic"));
	assert_true(strstr(text, ":= ns_t;") < strstr(text, "ns_t timestamp"));
	assert_true(strstr(text, ":= x8;") < strstr(text, "event {"));
}

/* Replaces the name of an enumeration by that of its integers. */
static void base_of(char type[16])
{
	char end[32];
	const char *at, *p;

	snprintf(end, sizeof(end), "} := %s;", type);
	at = strstr(text, end);
	assert_non_null(at);
	for (p = at; strncmp(p, "enum : ", 7) != 0; p--)
		assert_true(p > text && *p != '\n');
	assert_int_equal(sscanf(p, "enum : %15s {", type), 1);
}

/*
 * Returns the size of a declaration such as "u32 _seq" or "utf8 _comm[16]"; its name goes to
 * `name`.
 */
static unsigned int declared(const char *line, char name[64], bool *is_signed)
{
	char type[16];
	int count = 1;
	unsigned int bits = 8;

	name[0] = 0;
	assert_int_equal(sscanf(line, " %15s %63[^[;]", type, name), 2);
	if (strchr(line, '[') && strchr(line, '[') < strchr(line, ';'))
		count = atoi(strchr(line, '[') + 1);
	if (strncmp(type, "e_", 2) == 0)
		base_of(type);
	if (strcmp(type, "utf8") != 0)
		bits = (unsigned int)atoi(type + 1);
	*is_signed = type[0] == 's';
	return bits / 8 * (unsigned int)count;
}

static void assert_described(const struct mg_event_desc *d)
{
	char what[128];
	const char *p;

	snprintf(what, sizeof(what), "event {\n\tname = \"%s\";\n\tid = %u;\n", d->name, d->id);
	p = strstr(text, what);
	if (!p)
		fail_msg("%s is not described", d->name);
	p = strstr(p, "fields := struct {\n");
	assert_non_null(p);
	p = strchr(p, '\n') + 1;
	for (int i = 0; i < d->field_count; i++, p = strchr(p, '\n') + 1) {
		const struct mg_field_desc *f = &d->fields[i];
		char name[64];
		bool is_signed;

		assert_int_equal(declared(p, name, &is_signed), f->size);
		assert_int_equal(name[0], '_');
		assert_string_equal(name + 1, f->name);
		assert_int_equal(is_signed, f->class == MG_CLASS_INT);
	}
	assert_begins(p, "\t};\n};\n");
}

static void every_kernel_event_is_described_as_the_table_has_it(void **unused)
{
	const struct mg_event_desc *table;
	size_t count;

	(void)unused;
	table = mg_event_table(&count);
	for (size_t i = 0; i < count; i++)
		if (table[i].id < MG_APP_BASE)
			assert_described(&table[i]);
}

/* Includes ids without an event, as readers may count them. */
static void assert_ids(const char *of, unsigned int expected, unsigned int events)
{
	bool described[CTF_CHOSEN_ID + 1] = {false};
	unsigned int id, found = 0, unused = 0;
	char name[64];

	for (const char *p = of; (p = strstr(p, "event {\n")); p++, found++) {
		assert_int_equal(sscanf(p, "event { name = \"%63[^\"]\"; id = %u;", name, &id), 2);
		assert_true(id < expected && !described[id]);
		described[id] = true;
		unused += strncmp(name, "unused_", 7) == 0;
	}
	assert_int_equal(found, expected);
	assert_int_equal(found - unused, events);
}

static void nothing_else_is_described(void **unused)
{
	const struct mg_event_desc *table;
	unsigned int kernel = 0, app = 0;
	char *more;
	size_t count;

	(void)unused;
	table = mg_event_table(&count);
	for (size_t i = 0; i < count; i++) {
		kernel += table[i].id < MG_APP_BASE;
		app += table[i].id >= MG_APP_BASE || table[i].layer == MG_LAYER_TRACER;
	}
	assert_ids(text, MG_EVENT_KERNEL_END, kernel);
	assert_int_equal(ctf_write_metadata(dir, CTF_APP, UUID, 0, NULL, false), 0);
	more = contents("metadata");
	assert_ids(more, MG_EVENT_mark + 1, app);
	free(more);
	assert_int_equal(ctf_write_metadata(dir, CTF_KERNEL, UUID, 0,
				 "event {\n\tname = \"a:b\";\n\tid = 256;\n};\n", false),
		0);
	more = contents("metadata");
	assert_ids(more, CTF_CHOSEN_ID + 1, kernel + 1);
	free(more);
}

static void integers_are_aligned_to_bytes_only(void **unused)
{
	const char *p = text;

	(void)unused;
	while ((p = strstr(p, "typealias integer {"))) {
		const char *end = strchr(p, '\n'), *align = strstr(p, "align = 8;");

		assert_true(align && align < end);
		p = end;
	}
}

static void without_a_directory_there_is_an_error(void **unused)
{
	(void)unused;
	assert_int_equal(ctf_write_metadata("/no/such/directory", CTF_KERNEL, UUID, 0, NULL, false),
		-ENOENT);
}

static void full_disk_leaves_no_partial_packet(void **unused)
{
	struct rlimit l, small;
	char *fresh = trace_dir_make();
	int err;

	(void)unused;
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &l), 0);
	small = l;
	small.rlim_cur = 5000;
	signal(SIGXFSZ, SIG_IGN);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
	err = ctf_write_metadata(fresh, CTF_KERNEL, UUID, 0, NULL, false);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &l), 0);
	signal(SIGXFSZ, SIG_DFL);
	assert_true(err < 0);
	assert_false(trace_exists(fresh, "metadata"));
	assert_false(trace_exists(fresh, ".metadata.new"));
	trace_dir_remove(fresh);
}

static void uuids_differ(void **unused)
{
	char a[37], b[37];

	(void)unused;
	assert_int_equal(random_uuid(a), 0);
	assert_int_equal(random_uuid(b), 0);
	assert_int_equal(strlen(a), 36);
	assert_string_not_equal(a, b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(metadata_begins_as_ctf_1_8_requires),
		cmocka_unit_test(clock_is_absolute_and_has_the_offset),
		cmocka_unit_test(nothing_is_used_before_it_is_defined),
		cmocka_unit_test(every_kernel_event_is_described_as_the_table_has_it),
		cmocka_unit_test(nothing_else_is_described),
		cmocka_unit_test(integers_are_aligned_to_bytes_only),
		cmocka_unit_test(without_a_directory_there_is_an_error),
		cmocka_unit_test(full_disk_leaves_no_partial_packet),
		cmocka_unit_test(uuids_differ),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
