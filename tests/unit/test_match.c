/* SPDX-License-Identifier: MIT */
/* Captured packets are found among recorded ones, whatever their bounds and clocks. */
#include "capture/match.h"

#include <netinet/in.h>

#include "capture/capture_clock.h"
#include "unit.h"

#define PACKETS_MOST 400
#define CONNECTION   1
#define DATAGRAMS    2
#define PER_MS       1000000ull

static const struct match_places at_device = {PLACE_DRIVER, PLACE_DEVICE};

struct scene {
	struct traffic t;
	struct traffic_packet packet[PACKETS_MOST];
	struct traffic_sock connection, datagrams;
	struct matcher m;
};

static struct frame_end end(uint8_t last, uint16_t port)
{
	return (struct frame_end){.addr = {[10] = 0xff, [11] = 0xff, 10, 0, 0, last}, .port = port};
}

static struct traffic_packet *add(
	struct scene *s, uint64_t sock, enum traffic_place place, uint64_t time_ns)
{
	struct traffic_packet *p = &s->packet[s->t.packets++];

	*p = (struct traffic_packet){.sock = sock,
		.place = (uint8_t)place,
		.time_ns = time_ns,
		.proto = sock == CONNECTION ? IPPROTO_TCP : IPPROTO_UDP,
		.tcp_flags = sock == CONNECTION ? 16 : 0,
		.segs = 1};
	return p;
}

static void begin(struct scene *s)
{
	memset(s, 0, sizeof(*s));
	s->t.packet = s->packet;
	s->connection = (struct traffic_sock){.sock = CONNECTION,
		.local = end(1, 4000),
		.remote = end(2, 80),
		.has_local = true,
		.has_remote = true,
		.one_remote = true};
	s->datagrams = (struct traffic_sock){.sock = DATAGRAMS, .local = {.port = 53}};
	HASH_ADD(hh, s->t.socks, sock, sizeof(uint64_t), &s->connection);
	HASH_ADD(hh, s->t.socks, sock, sizeof(uint64_t), &s->datagrams);
}

static void finish(struct scene *s)
{
	matcher_free(&s->m);
	HASH_CLEAR(hh, s->t.socks);
}

static struct frame segment(uint32_t seq, uint32_t len)
{
	return (struct frame){.from = end(1, 4000),
		.to = end(2, 80),
		.proto = IPPROTO_TCP,
		.tcp_flags = 24,
		.seq = seq,
		.len = len};
}

static struct frame datagram(uint16_t ip_id, uint32_t len)
{
	return (struct frame){.from = end(9, 5353),
		.to = end(1, 53),
		.proto = IPPROTO_UDP,
		.ip_id = ip_id,
		.len = len};
}

/* Returns the packet that the frame is; NULL if there is none. */
static const struct traffic_packet *find(struct scene *s, const struct frame *f, uint64_t time_ns)
{
	struct matched sent, received;

	if (!s->m.t)
		matcher_init(&s->m, &s->t);
	if (match_frame(&s->m, f, at_device, time_ns, &sent, &received) != MATCH_NONE)
		return NULL;
	return sent.packet ? sent.packet : received.packet;
}

static void segments_are_found_by_the_bytes_they_share(void **unused)
{
	struct scene s;
	struct frame f;

	(void)unused;
	begin(&s);
	for (uint32_t i = 0; i < 4; i++) {
		struct traffic_packet *p = add(&s, CONNECTION, PLACE_DRIVER, i);

		p->seq = 0xfffffff0 + i * 1000; /* the numbers start again */
		p->len = 1000;
	}
	f = segment(0xfffffff0, 1000);
	assert_ptr_equal(find(&s, &f, 0), &s.packet[0]);
	f = segment(0xfffffff0 + 2500, 100); /* divided on its way */
	assert_ptr_equal(find(&s, &f, 0), &s.packet[2]);
	f = segment(0xfffffff0 + 1000, 2000); /* joined on its way */
	assert_non_null(find(&s, &f, 0));
	f = segment(0xfffffff0 + 4000, 10);
	assert_null(find(&s, &f, 0));
	f = segment(0xfffffff0 - 10, 10);
	assert_null(find(&s, &f, 0));
	f = segment(0xfffffff0, 1000);
	f.to.port = 81;
	assert_null(find(&s, &f, 0));
	finish(&s);
}

static void copies_are_told_apart_by_time(void **unused)
{
	struct frame f = segment(100, 50);
	struct matched sent, received;
	struct scene s;

	(void)unused;
	begin(&s);
	for (int i = 0; i < 3; i++) {
		struct traffic_packet *p =
			add(&s, CONNECTION, PLACE_DRIVER, (uint64_t)(i + 1) * PER_MS);

		p->seq = 100;
		p->len = 50;
	}
	for (int i = 0; i < 3; i++)
		assert_ptr_equal(find(&s, &f, (uint64_t)(i + 1) * PER_MS + 7), &s.packet[i]);
	assert_int_equal(match_frame(&s.m, &f, at_device, 0, &sent, &received), MATCH_NONE);
	assert_false(sent.is_only);
	finish(&s);
}

static void acknowledgements_are_found_by_their_number(void **unused)
{
	struct frame f = segment(500, 0);
	struct scene s;

	(void)unused;
	begin(&s);
	for (uint32_t i = 0; i < PACKETS_MOST; i++) {
		struct traffic_packet *p = add(&s, CONNECTION, PLACE_DRIVER, i);

		p->seq = 500;
		p->ack = 10 * i;
	}
	f.tcp_flags = 16;
	f.ack = 70;
	assert_ptr_equal(find(&s, &f, 0), &s.packet[7]);
	f.ack = 71;
	assert_null(find(&s, &f, 0));
	f.ack = 70;
	f.tcp_flags = 17; /* FIN: another one */
	assert_null(find(&s, &f, 0));
	finish(&s);
}

static void datagrams_are_found_by_identification_and_length(void **unused)
{
	struct traffic_packet *p;
	struct scene s;
	struct frame f;

	(void)unused;
	begin(&s);
	p = add(&s, DATAGRAMS, PLACE_DEVICE, 1);
	p->ip_id = 65535;
	p->len = 250; /* three of 100, 100 and 50 bytes */
	p->segs = 3;
	p->gso_size = 100;
	p = add(&s, DATAGRAMS, PLACE_DEVICE, 2);
	p->ip_id = 7;
	p->len = 30;
	f = datagram(65535, 250);
	assert_ptr_equal(find(&s, &f, 0), &s.packet[0]);
	f = datagram(0, 100);
	assert_ptr_equal(find(&s, &f, 0), &s.packet[0]);
	f = datagram(1, 50);
	assert_ptr_equal(find(&s, &f, 0), &s.packet[0]);
	f = datagram(2, 50);
	assert_null(find(&s, &f, 0));
	f = datagram(7, 30);
	assert_ptr_equal(find(&s, &f, 0), &s.packet[1]);
	f = datagram(7, 31);
	assert_null(find(&s, &f, 0));
	finish(&s);
}

/* IPv6 gives datagrams no identification: of very many that are alike the time tells. */
static void alike_datagrams_are_told_apart_by_time(void **unused)
{
	struct frame f = datagram(0, 30);
	struct matched sent, received;
	struct scene s;

	(void)unused;
	begin(&s);
	for (uint64_t i = 0; i < PACKETS_MOST; i++)
		add(&s, DATAGRAMS, PLACE_DEVICE, i * PER_MS)->len = 30;
	for (uint64_t i = 1; i < PACKETS_MOST; i++)
		assert_ptr_equal(find(&s, &f, i * PER_MS + 100), &s.packet[i]);
	assert_int_equal(match_frame(&s.m, &f, at_device, 0, &sent, &received), MATCH_SEVERAL);
	finish(&s);
}

/* Packets each way every millisecond; the capture is 20 us away in either direction. */
static void clocks_are_related_within_their_bound(void **unused)
{
	static const double skews[] = {0, 300e-6, -40e-6};

	(void)unused;
	for (int k = 0; k < 3; k++) {
		struct capture_interface nanoseconds = {.ticks = 1000000000};
		const uint64_t ahead = 1700000000000000000ull;
		struct capture_clock c;
		struct scene s;
		double half;

		begin(&s);
		for (uint32_t i = 0; i < PACKETS_MOST; i++) {
			struct traffic_packet *p = add(&s, CONNECTION,
				i & 1 ? PLACE_IP : PLACE_QUEUE, 5000 * PER_MS + i * PER_MS);

			p->seq = 100 * i;
			p->len = 100;
		}
		matcher_init(&s.m, &s.t);
		capture_clock_init(&c, &s.t, 1);
		for (uint32_t i = 0; i < PACKETS_MOST; i++) {
			struct frame f = segment(100 * i, 100);
			uint64_t x = s.packet[i].time_ns + (i & 1 ? -20000ull : 20000ull);
			struct captured p = {.interface = &nanoseconds,
				.has_time = true,
				.resolution_ns = 1,
				.ns = x + ahead + (uint64_t)(int64_t)llround((double)x * skews[k])};

			if (i & 1) {
				f.from = end(2, 80);
				f.to = end(1, 4000);
			}
			capture_clock_add(&c, &s.m, &p, &f);
		}
		capture_clock_solve(&c);
		for (uint64_t x = 5000 * PER_MS; x < 5400 * PER_MS; x += 10 * PER_MS) {
			uint64_t y = x + ahead + (uint64_t)(int64_t)llround((double)x * skews[k]);
			uint64_t found = capture_clock_time(&c, y, &half);

			assert_near((double)(int64_t)(found - x), 0, half);
			assert_true(half > 10000 && half < 100000); /* more at the ends */
		}
		capture_clock_free(&c);
		finish(&s);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(segments_are_found_by_the_bytes_they_share),
		cmocka_unit_test(copies_are_told_apart_by_time),
		cmocka_unit_test(acknowledgements_are_found_by_their_number),
		cmocka_unit_test(datagrams_are_found_by_identification_and_length),
		cmocka_unit_test(alike_datagrams_are_told_apart_by_time),
		cmocka_unit_test(clocks_are_related_within_their_bound),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
