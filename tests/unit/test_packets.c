/* SPDX-License-Identifier: MIT */
/* correlate/bt/packets.c: finds packets that would make babeltrace2 read for ever. */
#define _GNU_SOURCE
#include "packets.h"

#include <endian.h>
#include <string.h>

#include "unit.h"

#define OURS                                                                                \
	"trace {\n\tbyte_order = le;\n\tpacket.header := struct { x32 magic; u8 uuid[16]; " \
	"u32 stream_id; };\n};\nstream {\n\tpacket.context := struct {\n\t\tns_t "          \
	"timestamp_begin;\n\t\tns_t timestamp_end;\n\t\tu64 content_size;\n\t\tu64 "        \
	"packet_size;\n\t\ts32 cpu_id;\n\t};\n};\n"

static void known_packet_layouts_are_recognised(void **unused)
{
	struct packet_layout l = packet_layout_of(OURS);

	(void)unused;
	assert_true(l.known);
	assert_false(l.big_endian);
	assert_int_equal(l.sizes_at, 40);
	l = packet_layout_of("trace { byte_order = be; packet.header := struct { uint32_t magic; "
			     "uint8_t  uuid[16]; uint32_t stream_id; uint64_t stream_instance_id; "
			     "}; };\nstruct packet_context {\n\tuint64_t timestamp_begin;\n\tu64 "
			     "timestamp_end;\n\tu64 content_size;\n\tu64 packet_size;\n};\n");
	assert_true(l.known);
	assert_true(l.big_endian);
	assert_int_equal(l.sizes_at, 48);
}

static void others_are_left_alone(void **unused)
{
	(void)unused;
	assert_false(packet_layout_of("").known);
	assert_false(packet_layout_of("this is no metadata").known);
	assert_false(packet_layout_of("timestamp_begin").known);
	assert_false(packet_layout_of("packet.header := struct { u32 magic; };").known);
	/* another order: the sizes are elsewhere */
	assert_false(packet_layout_of("packet.header := struct { x32 magic; u8 uuid[16]; u32 "
				      "stream_id; }; packet.context := struct { u64 content_size; "
				      "ns_t timestamp_begin; };")
			     .known);
}

/* Checks one packet of `bytes` in a stream of `size`, whose header says `says` bytes. */
static bool is_sane(uint64_t says, size_t bytes, size_t size, uint64_t *at)
{
	struct packet_layout l = packet_layout_of(OURS);
	unsigned char stream[512] = {0};
	FILE *f = fmemopen(stream, size, "r");
	bool sane;

	for (size_t p = 0; p + 56 <= size; p += bytes) {
		uint32_t magic = htole32(0xC1FC1FC1);
		uint64_t bits = htole64((p ? bytes : says) * 8);

		memcpy(stream + p, &magic, 4);
		memcpy(stream + p + 48, &bits, 8);
	}
	sane = packets_are_sane(f, size, &l, at);
	fclose(f);
	return sane;
}

static void a_packet_without_a_size_is_found(void **unused)
{
	uint64_t at;

	(void)unused;
	assert_true(is_sane(100, 100, 300, &at));
	assert_false(is_sane(0, 100, 300, &at));
	assert_int_equal(at, 0);
	assert_false(is_sane(7, 100, 300, &at));
	/* longer than the file: its reader notices that */
	assert_true(is_sane(400, 100, 300, &at));
	assert_true(is_sane(100, 100, 30, &at));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(known_packet_layouts_are_recognised),
		cmocka_unit_test(others_are_left_alone),
		cmocka_unit_test(a_packet_without_a_size_is_found),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
