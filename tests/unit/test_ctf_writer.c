/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "ctf_stream.h"
#include "trace_file.h"
#include "ctf.h"

#define PAGE 4096u

static char *dir;
static struct ctf_writer *w;

static int setup(void **unused)
{
	(void)unused;
	dir = trace_dir_make();
	return ctf_open(&w, dir, CTF_KERNEL, 2);
}

static int teardown(void **unused)
{
	(void)unused;
	trace_dir_remove(dir);
	return 0;
}

/* Returns a slot as a BPF program leaves it. */
static struct mg_slot slot(uint16_t id, uint64_t ts)
{
	struct mg_slot s = {.lost = 99, .lap = 77, .id = id, .ts = ts, .tid = 11, .pid = 10};

	for (size_t i = 0; i < sizeof(s.payload); i++)
		s.payload[i] = (uint8_t)(id + i);
	return s;
}

/* Events that a ring may hold, in turn. */
#define RING_ID(id, name, ...) id,
static const uint16_t ids[] = {MG_RING_EVENTS(RING_ID)};
#define IDS (sizeof(ids) / sizeof(ids[0]))

static void put(int cpu, uint16_t id, uint64_t ts)
{
	struct mg_slot s = slot(id, ts);

	assert_int_equal(ctf_slot(w, cpu, &s), 0);
}

static void streams_without_events_have_no_file(void **unused)
{
	(void)unused;
	assert_int_equal(ctf_close(w), 0);
	assert_true(trace_exists(dir, "metadata"));
	assert_false(trace_exists(dir, "cpu0"));
	assert_false(trace_exists(dir, "cpu1"));
	assert_false(trace_exists(dir, "tracer"));
}

static void an_event_is_read_back_as_it_was_written(void **unused)
{
	struct mg_slot s = slot(MG_EVENT_dev_xmit, 1234);
	struct trace_file t;

	(void)unused;
	put(1, MG_EVENT_dev_xmit, 1234);
	assert_int_equal(ctf_close(w), 0);
	trace_read(&t, dir, "cpu1");
	assert_int_equal(t.events, 1);
	assert_int_equal(t.event[0].id, MG_EVENT_dev_xmit);
	assert_int_equal(t.event[0].ts, 1234);
	assert_int_equal(t.event[0].tid, 11);
	assert_int_equal(t.event[0].pid, 10);
	assert_memory_equal(t.event[0].payload, s.payload, MG_PAYLOAD_SIZE(PACKET));
	assert_int_equal(t.packet[0].cpu, 1);
	assert_int_equal(t.packet[0].begin, 1234);
	assert_int_equal(t.packet[0].end, 1234);
	assert_false(trace_exists(dir, "cpu0"));
	trace_free(&t);
}

/* Slots are copied with a fixed length, events are not: the excess must not show. */
static void events_of_every_size_follow_one_another(void **unused)
{
	struct trace_file t;
	uint64_t ts = 1;
	size_t i = 0;

	(void)unused;
	for (int round = 0; round < 3; round++)
		for (size_t k = 0; k < IDS; k++)
			put(0, ids[k], ts++);
	assert_int_equal(ctf_close(w), 0);
	trace_read(&t, dir, "cpu0");
	assert_int_equal(t.events, 3 * IDS);
	for (int round = 0; round < 3; round++)
		for (size_t k = 0; k < IDS; k++, i++) {
			struct mg_slot s = slot(ids[k], i + 1);

			assert_int_equal(t.event[i].id, ids[k]);
			assert_int_equal(t.event[i].ts, i + 1);
			assert_memory_equal(
				t.event[i].payload, s.payload, mg_event_by_id(ids[k])->size);
		}
	trace_free(&t);
}

static void the_tracers_own_events_have_a_stream(void **unused)
{
	struct mg_hook e = {.layer = "ip", .hook = "ip_out ipv4", .status = -1, .netns = 7};
	struct trace_file t;

	(void)unused;
	assert_int_equal(
		ctf_event(w, CTF_OWN_STREAM, MG_EVENT_hook, 500, &e, MG_PAYLOAD_SIZE(HOOK)), 0);
	assert_int_equal(ctf_close(w), 0);
	trace_read(&t, dir, "tracer");
	assert_int_equal(t.events, 1);
	assert_int_equal(t.packet[0].cpu, CTF_OWN_STREAM);
	assert_memory_equal(t.event[0].payload, &e, MG_PAYLOAD_SIZE(HOOK));
	assert_int_equal(t.event[0].tid, 0);
	trace_free(&t);
}

/* babeltrace2 stops where time runs backwards in a stream. */
static void time_never_runs_backwards(void **unused)
{
	static const uint64_t ts[] = {100, 300, 200, 250, 400, 399, 400};
	static const uint64_t expected[] = {100, 300, 300, 300, 400, 400, 400};
	struct trace_file t;

	(void)unused;
	for (size_t i = 0; i < COUNT(ts); i++) {
		put(0, MG_EVENT_tcp_ready, ts[i]);
		if (i == 4) /* nor from one packet to the next */
			assert_int_equal(ctf_flush(w), 0);
	}
	assert_int_equal(ctf_close(w), 0);
	trace_read(&t, dir, "cpu0");
	assert_int_equal(t.packets, 2);
	for (size_t i = 0; i < COUNT(ts); i++)
		assert_int_equal(t.event[i].ts, expected[i]);
	trace_free(&t);
}

static void many_events_make_several_packets(void **unused)
{
	const size_t n = 40000;
	struct trace_file t;

	(void)unused;
	for (size_t i = 0; i < n; i++)
		put(0, ids[i % IDS], 1000 + i);
	assert_int_equal(ctf_close(w), 0);
	trace_read(&t, dir, "cpu0");
	assert_int_equal(t.events, n);
	assert_true(t.packets >= 5);
	assert_in_range(t.bytes, 0, n * 60); /* and none is half empty */
	for (size_t i = 0; i < n; i++)
		assert_int_equal(t.event[i].ts, 1000 + i);
	trace_free(&t);
}

/* A writer killed in the middle of a write leaves whole pages: they must be whole packets too. */
static void no_packet_reaches_over_the_end_of_a_page(void **unused)
{
	const size_t n = 60000;
	struct trace_file t;
	uint64_t at = 0;

	(void)unused;
	for (size_t i = 0; i < n; i++) {
		put(0, ids[i % IDS], 1000 + i);
		if (i < 2000 ? i % 7 == 0 : i % 977 == 0)
			assert_int_equal(ctf_flush(w), 0);
	}
	assert_int_equal(ctf_close(w), 0);
	trace_read(&t, dir, "cpu0");
	assert_int_equal(t.events, n);
	for (size_t i = 0; i < t.packets; i++) {
		assert_int_equal(at / PAGE, (at + t.packet[i].size - 1) / PAGE);
		at += t.packet[i].size;
	}
	trace_free(&t);
}

static void a_long_event_after_a_short_packet_begins_a_page(void **unused)
{
	static uint8_t payload[256 * 1024];
	struct stat st;
	char path[64];

	(void)unused;
	put(0, MG_EVENT_tcp_ready, 1);
	assert_int_equal(ctf_flush(w), 0);
	assert_int_equal(ctf_event(w, 0, 1024, 2, payload, 3900), 0);
	assert_int_equal(ctf_flush(w), 0);
	snprintf(path, sizeof(path), "%s/cpu0", dir);
	assert_int_equal(stat(path, &st), 0);
	assert_in_range(st.st_size, PAGE + 3900, 2 * PAGE);
	/* an event that fits no page takes several, even where the buffer ends */
	for (int i = 0; i < 100; i++) {
		assert_int_equal(ctf_event(w, 0, 1024, 3, payload, 10000), 0);
		put(0, MG_EVENT_tcp_ready, 4);
	}
	assert_int_equal(ctf_flush(w), 0);
	assert_int_equal(stat(path, &st), 0);
	assert_in_range(st.st_size, (2 + 3 * 99) * PAGE + 10000, (2 + 3 * 100) * PAGE);
	assert_int_equal(ctf_event(w, 0, 1024, 5, payload, sizeof(payload)), -E2BIG);
	assert_int_equal(ctf_close(w), -E2BIG);
}

static void the_next_trace_is_one_of_its_own(void **unused)
{
	struct trace_file a, b;
	char path[64];

	(void)unused;
	snprintf(path, sizeof(path), "%s/0001", dir);
	ctf_set_discarded(w, 0, 5);
	put(0, MG_EVENT_tcp_ready, 100);
	assert_int_equal(ctf_next(w, path), 0);
	ctf_set_discarded(w, 0, 7);
	put(0, MG_EVENT_tcp_ready, 90);
	assert_int_equal(ctf_next(w, dir), -EEXIST);
	assert_int_equal(ctf_events(w), 2);
	assert_int_equal(ctf_count(w, 0, MG_EVENT_tcp_ready), 2);
	assert_int_equal(ctf_events_of(w, 1), 0);
	ctf_close(w);
	trace_read(&a, dir, "cpu0");
	trace_read(&b, path, "cpu0");
	assert_int_equal(a.events, 1);
	assert_int_equal(b.events, 1);
	/* its header may be older than the end of the other one */
	assert_int_equal(b.event[0].ts, 90);
	assert_memory_not_equal(a.packet[0].uuid, b.packet[0].uuid, 16);
	assert_int_equal(a.packet[0].discarded, 5);
	assert_int_equal(b.packet[0].discarded, 2);
	trace_free(&a);
	trace_free(&b);
	trace_dir_remove(strdup(path));
}

static void streams_do_not_mix(void **unused)
{
	struct trace_file t;

	(void)unused;
	for (uint64_t i = 0; i < 100; i++) {
		put(0, MG_EVENT_tcp_ready, 2 * i);
		put(1, MG_EVENT_dev_done, 2 * i + 1);
	}
	assert_int_equal(ctf_events(w), 200);
	assert_int_equal(ctf_close(w), 0);
	trace_read(&t, dir, "cpu0");
	assert_int_equal(t.events, 100);
	for (size_t i = 0; i < t.events; i++)
		assert_int_equal(t.event[i].id, MG_EVENT_tcp_ready);
	trace_free(&t);
	trace_read(&t, dir, "cpu1");
	assert_int_equal(t.events, 100);
	assert_int_equal(t.packet[0].cpu, 1);
	trace_free(&t);
}

static void a_flush_writes_whole_packets_and_nothing_twice(void **unused)
{
	struct trace_file t;

	(void)unused;
	put(0, MG_EVENT_tcp_ready, 1);
	put(0, MG_EVENT_tcp_ready, 2);
	assert_int_equal(ctf_flush(w), 0);
	assert_int_equal(ctf_flush(w), 0);
	trace_read(&t, dir, "cpu0"); /* while the writer is still open */
	assert_int_equal(t.packets, 1);
	assert_int_equal(t.events, 2);
	assert_int_equal(ctf_bytes(w), t.bytes);
	trace_free(&t);
	put(0, MG_EVENT_tcp_ready, 3);
	assert_int_equal(ctf_close(w), 0);
	trace_read(&t, dir, "cpu0");
	assert_int_equal(t.packets, 2);
	assert_int_equal(t.events, 3);
	trace_free(&t);
}

static void packets_tell_how_many_events_were_lost_until_then(void **unused)
{
	struct trace_file t;

	(void)unused;
	put(0, MG_EVENT_tcp_ready, 1);
	assert_int_equal(ctf_flush(w), 0);
	ctf_set_discarded(w, 0, 12);
	ctf_set_discarded(w, 1, 99);
	put(0, MG_EVENT_tcp_ready, 2);
	assert_int_equal(ctf_close(w), 0);
	trace_read(&t, dir, "cpu0");
	assert_int_equal(t.packet[0].discarded, 0);
	assert_int_equal(t.packet[1].discarded, 12);
	trace_free(&t);
}

static void an_older_trace_is_never_written_over(void **unused)
{
	struct ctf_writer *second = NULL;

	(void)unused;
	assert_int_equal(ctf_open(&second, dir, CTF_KERNEL, 2), -EEXIST);
	assert_null(second);
	put(0, MG_EVENT_tcp_ready, 1);
	assert_int_equal(ctf_close(w), 0);
	assert_true(trace_exists(dir, "cpu0"));
}

static void a_directory_is_made_for_its_owner_only(void **unused)
{
	struct ctf_writer *other;
	char path[64];
	struct stat st;

	(void)unused;
	snprintf(path, sizeof(path), "%s/new", dir);
	assert_int_equal(ctf_open(&other, path, CTF_KERNEL, 1), 0);
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_mode & 0777, 0700);
	assert_int_equal(ctf_close(other), 0);
	trace_dir_remove(strdup(path));
	snprintf(path, sizeof(path), "%s/no/such", dir);
	assert_int_equal(ctf_open(&other, path, CTF_KERNEL, 1), -ENOENT);
	assert_int_equal(ctf_close(w), 0);
}

static void limit_file_size(rlim_t bytes)
{
	struct rlimit l;

	assert_int_equal(getrlimit(RLIMIT_FSIZE, &l), 0);
	l.rlim_cur = bytes;
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &l), 0);
}

/* Writes until it fails; returns the error. */
static int write_until_full(void)
{
	for (uint64_t i = 0; i < 100000; i++) {
		struct mg_slot s = slot(MG_EVENT_dev_xmit, 1000 + i);
		int err = ctf_slot(w, 0, &s);

		if (err)
			return err;
	}
	return 0;
}

/* Simulates a full disk by a file size limit in the middle of a packet of the third write. */
static int fill_the_disk(void)
{
	rlim_t unlimited;
	struct rlimit l;
	int err;

	assert_int_equal(getrlimit(RLIMIT_FSIZE, &l), 0);
	unlimited = l.rlim_cur;
	signal(SIGXFSZ, SIG_IGN);
	limit_file_size(2 * CTF_BUFFER + 100000);
	err = write_until_full();
	limit_file_size(unlimited);
	signal(SIGXFSZ, SIG_DFL);
	return err;
}

static void a_full_disk_leaves_whole_packets(void **unused)
{
	struct trace_file t;

	(void)unused;
	assert_int_equal(fill_the_disk(), -EFBIG);
	assert_int_equal(ctf_close(w), -EFBIG);
	trace_read(&t, dir, "cpu0"); /* which fails on a truncated packet */
	assert_in_range(t.bytes, 2 * CTF_BUFFER + 100000 - PAGE, 2 * CTF_BUFFER + 100000);
	for (size_t i = 0; i < t.events; i++)
		assert_int_equal(t.event[i].ts, 1000 + i);
	trace_free(&t);
}

/* Even if there is room again: the gap would not show. */
static void after_an_error_nothing_more_is_written(void **unused)
{
	struct mg_slot s = slot(MG_EVENT_tcp_ready, 1);
	struct trace_file t;

	(void)unused;
	assert_int_equal(fill_the_disk(), -EFBIG);
	assert_int_equal(ctf_slot(w, 0, &s), -EFBIG);
	assert_int_equal(ctf_slot(w, 1, &s), -EFBIG);
	assert_int_equal(ctf_event(w, CTF_OWN_STREAM, MG_EVENT_lost, 1, s.payload, 8), -EFBIG);
	assert_int_equal(ctf_flush(w), -EFBIG);
	assert_int_equal(ctf_close(w), -EFBIG);
	trace_read(&t, dir, "cpu0");
	assert_in_range(t.bytes, 2 * CTF_BUFFER, 2 * CTF_BUFFER + 100000);
	assert_false(trace_exists(dir, "cpu1"));
	trace_free(&t);
}

static void bytes_that_found_no_room_are_not_counted_as_written(void **unused)
{
	struct trace_file t;
	uint64_t told;

	(void)unused;
	assert_int_equal(fill_the_disk(), -EFBIG);
	told = ctf_bytes(w);
	assert_int_equal(ctf_close(w), -EFBIG);
	trace_read(&t, dir, "cpu0");
	assert_int_equal(told, t.bytes);
	trace_free(&t);
}

static uint8_t kept[1 << 20];
static uint32_t kept_size;
static uint64_t kept_events;

static int keep(void *arg, int cpu, const uint8_t *packets, uint32_t size, uint64_t events)
{
	assert_ptr_equal(arg, kept);
	assert_int_equal(cpu, 1);
	assert_int_equal(size % PAGE, 0);
	memcpy(kept + kept_size, packets, size);
	kept_size += size;
	kept_events += events;
	return 0;
}

/* Returns the number of events that the last event of a trace's own stream gives. */
static uint64_t contents_of(const char *of)
{
	struct mg_contents e;
	struct trace_file t;

	trace_read(&t, of, "tracer");
	assert_int_equal(t.event[t.events - 1].id, MG_EVENT_contents);
	memcpy(&e, t.event[t.events - 1].payload, sizeof(e));
	trace_free(&t);
	assert_int_equal(e.side, 1);
	return e.events;
}

/* As the flight recorder keeps packets and writes them later. */
static void packets_that_were_kept_are_part_of_a_later_trace(void **unused)
{
	struct ctf_writer *memory, *later;
	struct trace_file t;
	char path[64];

	(void)unused;
	kept_size = 0;
	kept_events = 0;
	snprintf(path, sizeof(path), "%s/later", dir);
	assert_int_equal(ctf_open_sink(&memory, CTF_KERNEL, 2, keep, kept), 0);
	for (uint64_t i = 0; i < 9000; i++) {
		struct mg_slot s = slot(MG_EVENT_dev_xmit, 1000 + i);

		if (i == 4000)
			ctf_set_discarded(memory, 1, 8);
		assert_int_equal(ctf_slot(memory, 1, &s), 0);
	}
	assert_int_equal(ctf_flush(memory), 0);
	assert_int_equal(ctf_open_like(&later, path, memory), 0);
	assert_int_equal(ctf_append(later, 1, kept, kept_size, kept_events), 0);
	assert_int_equal(ctf_bytes(later), kept_size);
	assert_int_equal(ctf_tell_contents(later, 0), 0);
	assert_int_equal(ctf_close(later), 0);
	assert_int_equal(ctf_close(memory), 0);
	trace_read(&t, path, "cpu1");
	assert_int_equal(t.events, 9000);
	for (size_t i = 0; i < t.events; i++)
		assert_int_equal(t.event[i].ts, 1000 + i);
	assert_int_equal(t.packet[0].discarded, 0);
	assert_int_equal(t.packet[t.packets - 1].discarded, 8);
	trace_free(&t);
	assert_int_equal(contents_of(path), 9001);
	trace_dir_remove(strdup(path));
	assert_int_equal(ctf_close(w), 0);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
		TEST(streams_without_events_have_no_file),
		TEST(an_event_is_read_back_as_it_was_written),
		TEST(events_of_every_size_follow_one_another),
		TEST(the_tracers_own_events_have_a_stream),
		TEST(time_never_runs_backwards),
		TEST(many_events_make_several_packets),
		TEST(no_packet_reaches_over_the_end_of_a_page),
		TEST(a_long_event_after_a_short_packet_begins_a_page),
		TEST(the_next_trace_is_one_of_its_own),
		TEST(packets_that_were_kept_are_part_of_a_later_trace),
		TEST(streams_do_not_mix),
		TEST(a_flush_writes_whole_packets_and_nothing_twice),
		TEST(packets_tell_how_many_events_were_lost_until_then),
		TEST(an_older_trace_is_never_written_over),
		TEST(a_directory_is_made_for_its_owner_only),
		TEST(a_full_disk_leaves_whole_packets),
		TEST(bytes_that_found_no_room_are_not_counted_as_written),
		TEST(after_an_error_nothing_more_is_written),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
