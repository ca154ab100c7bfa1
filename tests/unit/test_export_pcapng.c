/* SPDX-License-Identifier: MIT */
/* Packets as a capture, read by the reader of captures. */
#include "export/pcapng.h"

#include "capture/reader.h"
#include "export_scene.h"

/* Has a segment of the sender's leave, with `len` bytes from number `seq` on. */
static void leaves_from(struct scene *s, uint64_t sock, uint64_t t, uint32_t seq, uint32_t len)
{
	struct mg_event e = feed_event(MG_EVENT_dev_xmit, t, SENDER);

	e.packet = (struct mg_packet){.sock = sock,
		.seq = seq,
		.ack = 5000,
		.len = len,
		.headers = 66,
		.segs = 1,
		.ifindex = 2,
		.tcp_flags = 16,
		.proto = 6};
	feed(&s->c, &e);
}

static void leaves(struct scene *s, uint64_t t, uint32_t seq, uint32_t len)
{
	leaves_from(s, A, t, seq, len);
}

static void addresses(struct scene *s)
{
	struct mg_event e = feed_event(MG_EVENT_sock_addr, 30, 0);

	e.sock_addr = (struct mg_sock_addr){.sock = A,
		.laddr = {[10] = 0xff, [11] = 0xff, 10, 0, 0, 1},
		.raddr = {[10] = 0xff, [11] = 0xff, 10, 0, 0, 2}};
	feed(&s->c, &e);
}

static void feed_packets(struct scene *s)
{
	ev_fork(&s->c, 5, 1, SENDER, AWKWARD);
	ev_opened(&s->c, 10, A, 999, 4999);
	addresses(s);
	ev_enter(&s->c, 1001, SENDER, A, MG_SYS_sendto, 1000);
	ev_send(&s->c, 1002, SENDER, A, 1000, 300, 1000);
	leaves(s, 1500, 1000, 300);
	ev_exit(&s->c, 1600, SENDER, A, MG_SYS_sendto, 1300, 300);
	ev_app(&s->c, SENDER, MG_FN_send, 1000, 1601, 300);
	leaves(s, 2000, 1300, 0);
}

/* Returns the text of an option of the reader's block, from `at` on; NULL: it has none. */
static char *option(const struct capture_reader *r, size_t at, uint16_t code)
{
	while (at + 8 <= r->size) {
		uint16_t head[2];

		memcpy(head, r->block + at, sizeof(head));
		if (head[0] == code)
			return strndup((const char *)r->block + at + 4, head[1]);
		if (head[0] == OPTION_END)
			break;
		at += 4 + (head[1] + 3u) / 4 * 4;
	}
	return NULL;
}

static void assert_packet(
	struct capture_reader *r, uint64_t ns, uint32_t original, const char *comment)
{
	struct captured p;
	char *said;

	while (capture_next(r) == 1 && r->type != BLOCK_PACKET)
		;
	assert_int_equal(capture_packet(r, &p), 1);
	assert_int_equal(p.ns, WALL_CLOCK + ns);
	assert_int_equal(p.original, original);
	assert_int_equal(p.interface->link_type, 101); /* begins with IP */
	said = option(r, p.options, OPTION_COMMENT);
	assert_non_null(said);
	assert_string_equal(said, comment);
	free(said);
}

/* A comment is printed by others: each byte that may do harm there is written out. */
static void packets_have_comments_that_can_be_printed(void **unused)
{
	static struct scene s;
	struct capture_reader r;

	(void)unused;
	scene_begin(&s, "out.pcapng", pcapng_begin);
	feed_packets(&s);
	assert_true(scene_write(&s, pcapng_end));
	assert_int_equal(capture_open(&r, s.to), 0);
	/* 52 bytes of headers, as Ethernet's are not there; payload is not either, but counted */
	assert_packet(&r, 1500, 352,
		"magnet: flow 1/tx, bytes 0-299; q\"=\\,\\x09\\xff\xc3\xa9\\x0a z, process 10, "
		"thread "
		"10, send() of bytes 0-299, begun 0.500 us earlier");
	assert_packet(&r, 2000, 52,
		"magnet: flow 1/tx, no payload; q\"=\\,\\x09\\xff\xc3\xa9\\x0a z, process 10");
	assert_int_equal(capture_next(&r), 0);
	capture_close(&r);
	scene_end(&s);
}

#define INTERFACE_OPTIONS 16 /* after its type, length, link type and greatest packet */

/* Reads the next interface and checks its name. */
static void assert_interface(struct capture_reader *r, const char *name)
{
	char *has;

	while (capture_next(r) == 1 && r->type != BLOCK_INTERFACE)
		;
	has = option(r, INTERFACE_OPTIONS, OPTION_NAME);
	assert_non_null(has);
	assert_string_equal(has, name);
	free(has);
}

static void devices_of_several_namespaces_have_names_of_their_own(void **unused)
{
	static struct scene s;
	struct capture_reader r;

	(void)unused;
	scene_begin(&s, "out.pcapng", pcapng_begin);
	ev_opened_in(&s.c, 10, A, 999, 4999, 7);
	ev_opened_in(&s.c, 20, B, 99, 499, 8);
	leaves_from(&s, A, 1500, 1000, 300);
	leaves_from(&s, B, 1600, 100, 300);
	assert_true(scene_write(&s, pcapng_end));
	assert_int_equal(capture_open(&r, s.to), 0);
	assert_interface(&r, "device 2, netns 7");
	assert_interface(&r, "device 2, netns 8");
	capture_close(&r);
	scene_end(&s);
}

/* Addresses that are not recorded are 0, and times count from the machine's start. */
static void what_is_not_known_is_0(void **unused)
{
	static struct scene s;
	struct capture_reader r;
	struct captured p;
	static const uint8_t none[8];

	(void)unused;
	scene_begin(&s, "out.pcapng", pcapng_begin);
	s.c.times.wall_clock_ns = 0;
	ev_opened(&s.c, 10, A, 999, 4999);
	leaves(&s, 1500, 1000, 300);
	assert_true(scene_write(&s, pcapng_end));
	assert_int_equal(capture_open(&r, s.to), 0);
	while (capture_next(&r) == 1 && r.type != BLOCK_PACKET)
		;
	assert_int_equal(capture_packet(&r, &p), 1);
	assert_int_equal(p.ns, 1500);
	assert_memory_equal(p.data + 12, none, sizeof(none));
	capture_close(&r);
	scene_end(&s);
}

static void a_full_disk_is_told(void **unused)
{
	static struct scene s;

	(void)unused;
	scene_begin(&s, "/dev/full", pcapng_begin);
	feed_packets(&s);
	assert_false(scene_write(&s, pcapng_end));
	assert_string_equal(s.e.why, "/dev/full: No space left on device");
	scene_end(&s);
	scene_begin(&s, "out.pcapng", pcapng_begin);
	feed_packets(&s);
	scene_limit_files(100);
	assert_false(scene_write(&s, pcapng_end));
	scene_limit_files(0);
	assert_non_null(strstr(s.e.why, "/out.pcapng: File too large"));
	assert_false(scene_is_there(&s));
	scene_end(&s);
	scene_begin(&s, "/nowhere/out.pcapng", NULL);
	assert_false(pcapng_begin(&s.e));
	assert_string_equal(s.e.why, "/nowhere/out.pcapng: No such file or directory");
	scene_end(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(packets_have_comments_that_can_be_printed),
		cmocka_unit_test(devices_of_several_namespaces_have_names_of_their_own),
		cmocka_unit_test(what_is_not_known_is_0),
		cmocka_unit_test(a_full_disk_is_told),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
