/* SPDX-License-Identifier: MIT */
/* Feeds a capture from memory to all that reads captures: it is compared with a recording of one
 * connection and one socket for datagrams, and copied with comments. */
#define _GNU_SOURCE
#include <netinet/in.h>
#include <stdio.h>

#include "capture/annotate_print.h"
#include "target.h"

#define SEGMENTS 8

static void add_packets(struct traffic_packet *p)
{
	for (uint32_t i = 0; i < SEGMENTS; i++) {
		p[i] = (struct traffic_packet){.sock = 1 + (i & 1),
			.time_ns = 1000 * (i + 1),
			.offset = 100 * i,
			.seq = 0xffffff00 + 100 * i,
			.len = i < 4 ? 100 : 0,
			.segs = 2,
			.gso_size = 50,
			.ip_id = (uint16_t)i,
			.proto = i & 1 ? IPPROTO_UDP : IPPROTO_TCP,
			.place = (uint8_t)(i % PLACES)};
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct traffic_packet packet[SEGMENTS];
	struct traffic_sock sock[2] = {
		{.sock = 1, .local = {.port = 80}, .remote = {.port = 4000}}, {.sock = 2}};
	struct traffic t = {.packet = packet, .packets = SEGMENTS, .wall_clock_ns = 1};
	struct capture_reader r;
	struct annotate a;
	FILE *to, *from;

	if (!size)
		return 0;
	from = fmemopen((void *)(uintptr_t)data, size, "rb");
	to = fopen("/dev/null", "we");
	add_packets(packet);
	for (int i = 0; i < 2; i++)
		HASH_ADD(hh, t.socks, sock, sizeof(sock[i].sock), &sock[i]);
	if (capture_open_stream(&r, from) == 0) {
		if (annotate_begin(&a, &t, &r) == 0 && annotate_write(&a, "fuzzed", to) == 0) {
			annotate_text(&a, to);
			json_decref(annotate_json(&a));
		}
		annotate_free(&a);
	}
	capture_close(&r);
	fclose(to);
	HASH_CLEAR(hh, t.socks);
	return 0;
}
