/* SPDX-License-Identifier: MIT */
/* Traces of the real writer, read without babeltrace2, whole and broken in every way. */
#include <errno.h>
#include <unistd.h>

#include "direct.h"
#include "core.h"
#include "stream/why.h"
#include "trace_file.h"
#include "ctf.h"

#define EVENTS_MAX 20000
/* events of dev_xmit in a page that begins with a packet header */
#define PER_PAGE ((4096 - 76) / (18 + MG_PAYLOAD_SIZE(PACKET)))

struct heard {
	struct mg_event e[EVENTS_MAX];
	size_t n;
	char name[64], text[256]; /* text of the last chosen event */
};

static struct heard *heard;
static char *dir, why[512];

static void hear(void *arg, const struct mg_event *e, const struct annotation *a)
{
	struct heard *h = arg;

	(void)a;
	assert_true(h->n < EVENTS_MAX);
	h->e[h->n++] = *e;
	if (e->id != MG_EVENT_other)
		return;
	snprintf(h->name, sizeof(h->name), "%s", e->other.name);
	snprintf(h->text, sizeof(h->text), "%s", e->other.text);
}

static int setup(void **unused)
{
	(void)unused;
	heard = calloc(1, sizeof(*heard));
	dir = trace_dir_make();
	return heard ? 0 : -1;
}

static int teardown(void **unused)
{
	(void)unused;
	free(heard);
	trace_dir_remove(dir);
	return 0;
}

static int read_dirs(const char *const dirs[], size_t count)
{
	struct core c;
	int err;

	core_init(&c);
	core_give_clock(&c, 1, 1, 0); /* the counter ticks once per nanosecond */
	core_give_clock(&c, 1000000000000, 1000000000000, 0); /* for a quarter of an hour */
	core_listen(&c, hear, heard);
	heard->n = 0;
	err = direct_read(dirs, count, &c, NULL, why, sizeof(why));
	core_free(&c);
	return err;
}

static int read_dir(void)
{
	return read_dirs((const char *const[]){dir}, 1);
}

static struct ctf_writer *writer(const char *classes)
{
	struct ctf_writer *w;

	assert_int_equal(ctf_open(&w, dir, CTF_KERNEL, 3), 0);
	if (classes)
		assert_int_equal(ctf_describe(w, classes), 0);
	return w;
}

static void put(struct ctf_writer *w, int cpu, uint16_t id, uint64_t ts)
{
	uint8_t payload[255];

	for (size_t i = 0; i < sizeof(payload); i++)
		payload[i] = (uint8_t)(id + i * 3 + 1);
	assert_int_equal(ctf_event_on(w, cpu, id, ts, 7, 5, payload, mg_event_by_id(id)->size), 0);
}

static uint8_t *contents(const char *name, size_t *size)
{
	uint8_t *p = malloc(1 << 20);
	char path[256];
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	f = fopen(path, "r");
	assert_non_null(p);
	assert_non_null(f);
	*size = fread(p, 1, 1 << 20, f);
	fclose(f);
	return p;
}

static void replace(const char *old, const char *new)
{
	char path[256], *at;
	size_t size;
	char *text = (char *)contents("metadata", &size);
	FILE *f;

	text[size] = 0;
	at = strstr(text, old);
	assert_non_null(at);
	snprintf(path, sizeof(path), "%s/metadata", dir);
	f = fopen(path, "w");
	assert_non_null(f);
	fprintf(f, "%.*s%s%s", (int)(at - text), text, new, at + strlen(old));
	fclose(f);
	free(text);
}

/* Events that a ring may hold; the core turns one of them into another. */
#define RING_ID(id, name, ...) id,
static const uint16_t ids[] = {MG_RING_EVENTS(RING_ID)};
#define IDS (sizeof(ids) / sizeof(ids[0]))

static void every_event_arrives_with_its_fields(void **unused)
{
	struct ctf_writer *w = writer(NULL);
	size_t n = 0;

	(void)unused;
	for (size_t i = 0; i < IDS; i++)
		put(w, 1, ids[i], 1000 + i);
	assert_int_equal(ctf_close(w), 0);
	assert_int_equal(read_dir(), 0);
	for (; n < IDS; n++) {
		const struct mg_event *e = &heard->e[n];
		const uint16_t id = ids[n];
		const struct mg_event_desc *d = mg_event_by_id(id);
		const uint8_t *payload = (const uint8_t *)&e->sys_enter;

		if (id == MG_EVENT_dev_recv_late)
			continue;
		assert_int_equal(e->id, id);
		assert_int_equal(e->time_ns, 1000 + n);
		assert_int_equal(e->cpu, 1);
		assert_int_equal(e->tid, 7);
		assert_int_equal(e->pid, 5);
		for (int i = 0; i < d->field_count; i++) /* no text field is terminated in these */
			for (uint32_t j = 0; j < d->fields[i].size; j++) {
				size_t at = d->fields[i].offset + j;

				assert_int_equal(payload[at], (uint8_t)(id + at * 3 + 1));
			}
	}
	assert_int_equal(heard->n, n);
}

/* As babeltrace2 orders them: events with equal times by the names of their files. */
static void streams_are_merged_by_time_and_by_name(void **unused)
{
	static const int order[] = {0, 1, 2, CTF_OWN_STREAM}; /* cpu0 cpu1 cpu2 tracer */
	struct ctf_writer *w = writer(NULL);
	uint64_t seed = 7, t[4] = {0};
	struct mg_event last = {0};

	(void)unused;
	for (int i = 0; i < 12000; i++) {
		uint64_t k = unit_random_below(&seed, 4);

		t[k] += unit_random_below(&seed, 3);
		put(w, order[k], MG_EVENT_softirq_entry, 1 + t[k]);
	}
	assert_int_equal(ctf_close(w), 0);
	assert_int_equal(read_dir(), 0);
	assert_int_equal(heard->n, 12000);
	for (size_t i = 0; i < heard->n; i++) {
		const struct mg_event *e = &heard->e[i];

		assert_true(e->time_ns >= last.time_ns);
		if (i && e->time_ns == last.time_ns) /* the tracer's own stream has CPU -1 */
			assert_true((uint16_t)e->cpu >= (uint16_t)last.cpu);
		last = *e;
	}
}

static void fields_an_older_version_lacks_are_0(void **unused)
{
	struct ctf_writer *w = writer(NULL);

	(void)unused;
	put(w, 0, MG_EVENT_tcp_send, 5);
	assert_int_equal(ctf_close(w), 0);
	replace("u32 _snd_una;", "u32 _other;");
	assert_int_equal(read_dir(), 0);
	assert_int_equal(heard->n, 1);
	assert_int_equal(heard->e[0].tcp_send.snd_una, 0);
	assert_int_not_equal(heard->e[0].tcp_send.left, 0);
	assert_int_not_equal(heard->e[0].tcp_send.snd_nxt, 0);
}

static void numbers_of_other_sizes_are_numbers(void **unused)
{
	struct mg_clock_cpus e = {.offset_low = -5, .offset_high = 0xabcd01234, .cpu = 3};
	struct ctf_writer *w = writer(NULL);

	(void)unused;
	assert_int_equal(
		ctf_event(w, 0, MG_EVENT_clock_cpus, 5, &e, MG_PAYLOAD_SIZE(CLOCK_CPUS)), 0);
	assert_int_equal(ctf_close(w), 0);
	replace("s64 _offset_low;", "s32 _offset_low; u32 _rest;");
	replace("s64 _offset_high;", "u32 _offset_high; u32 _other;");
	assert_int_equal(read_dir(), 0);
	assert_int_equal(heard->e[0].clock_cpus.offset_low, -5);
	assert_int_equal(heard->e[0].clock_cpus.offset_high, 0xbcd01234);
	assert_int_equal(heard->e[0].clock_cpus.cpu, 3);
}

static void chosen_events_have_their_fields_as_text(void **unused)
{
	static const char classes[] =
		"event {\n\tname = \"sched:some\";\n\tid = 300;\n\tstream_id = 0;\n"
		"\tfields := struct {\n\t\tutf8 _comm[8];\n"
		"\t\tinteger { size = 16; align = 8; signed = true; } _small;\n"
		"\t\tinteger { size = 32; align = 8; signed = false; base = x; } _flags;\n"
		"\t\tinteger { size = 8; align = 8; signed = false; base = x; } _mac[3];\n"
		"\t\tu32 _list_length;\n"
		"\t\tinteger { size = 16; align = 8; signed = false; } _list[_list_length];\n"
		"\t\tstring { encoding = UTF8; } _path;\n\t};\n};\n";
	static const uint8_t payload[] = "a b\0cccc\xfe\xff\x10\0\0\0\1\2\xff\2\0\0\0\3\0\4\1/x y";
	struct ctf_writer *w = writer(classes);

	(void)unused;
	assert_int_equal(ctf_event(w, CTF_CHOSEN(2), 300, 9, payload, sizeof(payload)), 0);
	put(w, 2, MG_EVENT_softirq_entry, 9);
	assert_int_equal(ctf_close(w), 0);
	assert_int_equal(read_dir(), 0);
	assert_int_equal(heard->n, 2);
	assert_int_equal(heard->e[1].id, MG_EVENT_other); /* cpu2 < events2 */
	assert_int_equal(heard->e[1].cpu, 2);
	assert_string_equal(heard->name, "sched:some");
	assert_string_equal(
		heard->text, "comm=a_b small=-2 flags=0x10 mac=0102ff list=3,260 path=/x_y");
}

static void others_are_left_to_babeltrace2(void **unused)
{
	struct ctf_writer *w = writer(NULL);
	const char *const twice[] = {dir, dir};

	(void)unused;
	put(w, 0, MG_EVENT_tcp_send, 5);
	assert_int_equal(ctf_close(w), 0);
	assert_int_equal(read_dirs(twice, 2), DIRECT_NOT_OURS); /* with one UUID */
	replace("tracer_name = \"magnet-kernel-tracer\"", "tracer_name = \"lttng-modules\"");
	assert_int_equal(read_dir(), DIRECT_NOT_OURS);
	assert_int_equal(read_dirs((const char *const[]){"/no/such"}, 1), DIRECT_NOT_OURS);
	assert_int_equal(heard->n, 0);
}

/* Wherever it is cut: the whole packets before the cut are read, and the cut is reported. */
static void a_cut_stream_is_read_up_to_there(void **unused)
{
	struct ctf_writer *w = writer(NULL);
	struct direct_bytes metadata, stream;
	size_t size;

	(void)unused;
	for (int i = 0; i < 100; i++)
		put(w, 0, MG_EVENT_dev_xmit, 5);
	assert_int_equal(ctf_close(w), 0);
	metadata.data = contents("metadata", &metadata.size);
	stream.data = contents("cpu0", &size);
	for (stream.size = 0; stream.size <= size; stream.size++) {
		/* an exact copy, so that tools detect reads past its end */
		uint8_t *exact = malloc(stream.size + 1);
		struct direct_bytes s = {exact, stream.size};
		struct core c;
		int err;

		assert_non_null(exact);
		memcpy(exact, stream.data, stream.size);
		core_init(&c);
		err = direct_read_memory(&metadata, &s, 1, &c, why, sizeof(why));
		assert_int_equal(c.counts.kernel_events,
			stream.size == size ? 100 : stream.size / 4096 * PER_PAGE);
		if (stream.size == size || (stream.size && stream.size % 4096 == 0))
			assert_int_equal(err, 0);
		else
			assert_int_equal(err, stream.size < 4096 ? DIRECT_NOT_OURS : -EIO);
		core_free(&c);
		free(exact);
	}
	free((void *)metadata.data);
	free((void *)stream.data);
}

/* Any byte changed, in the stream or in the metadata, causes at most an error. */
static void broken_bytes_break_nothing(void **unused)
{
	struct ctf_writer *w = writer(NULL);
	struct direct_bytes metadata, stream;
	uint64_t seed = 3;

	(void)unused;
	for (size_t i = 0; i < IDS; i++)
		put(w, 0, ids[i], i + 1);
	assert_int_equal(ctf_close(w), 0);
	metadata.data = contents("metadata", &metadata.size);
	stream.data = contents("cpu0", &stream.size);
	for (int i = 0; i < 5000; i++) {
		struct direct_bytes *which = i % 2 ? &metadata : &stream;
		uint8_t *at = (uint8_t *)which->data + unit_random_below(&seed, which->size);
		uint8_t was = *at;
		struct core c;

		*at = (uint8_t)unit_random(&seed);
		core_init(&c);
		direct_read_memory(&metadata, &stream, 1, &c, why, sizeof(why));
		core_free(&c);
		*at = was;
	}
	free((void *)metadata.data);
	free((void *)stream.data);
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
	const struct CMUnitTest tests[] = {
		TEST(every_event_arrives_with_its_fields),
		TEST(streams_are_merged_by_time_and_by_name),
		TEST(fields_an_older_version_lacks_are_0),
		TEST(numbers_of_other_sizes_are_numbers),
		TEST(chosen_events_have_their_fields_as_text),
		TEST(others_are_left_to_babeltrace2),
		TEST(a_cut_stream_is_read_up_to_there),
		TEST(broken_bytes_break_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
