/* SPDX-License-Identifier: MIT */
#include "capture/rebuilt.h"

#include <inttypes.h>
#include <netinet/in.h>
#include <string.h>

#include "capture/block.h"
#include "capture/comment.h"
#include "capture/loopback.h"

#define ETHERNET_HEADER 14
#define IPV4_HEADER     20
#define IPV6_HEADER     40
#define TCP_HEADER      20
#define TCP_HEADER_MOST 60
#define WINDOW_UNKNOWN  65535
#define SNAPLEN         262144
#define FLAG_INBOUND    1
#define FLAG_OUTBOUND   2
#define NANOSECONDS     9

/* A network device of a network namespace. */
struct device {
	struct {
		uint32_t netns, ifindex;
	} key;
	uint32_t number;
	UT_hash_handle hh;
};

struct writer {
	FILE *to;
	const struct traffic *t;
	struct device *devices;
	struct block block;
	struct rebuilt_counts *counts;
	bool several, apart; /* devices; namespaces */
	bool failed;
};

static void write_block(struct writer *w)
{
	block_finish(&w->block);
	w->failed = w->failed || !block_write(&w->block, w->to);
}

static void write_section(struct writer *w, const struct rebuilt_about *about)
{
	char text[1600];

	snprintf(text, sizeof(text),
		"Packets of a recording by magnet, as its sockets sent them (at the driver) and "
		"received "
		"them (at the device): %" PRIu64 " sent and %" PRIu64 " received, of which %" PRIu64
		" pairs are one packet on the loopback device and written once, as it was sent. "
		"Headers "
		"are rebuilt from the recording's events. Rebuilt: addresses, ports, TCP's "
		"sequence and "
		"acknowledgement numbers and flags, length of TCP's options, identification and "
		"fragment of datagrams, type of ICMP. Not recorded, and 0: time to live, type of "
		"service, identification of TCP's segments, checksums of TCP, UDP and ICMP, "
		"content of "
		"TCP's options, urgent pointer, code of ICMP. TCP's window is 0 where that was "
		"recorded, else 65535. Payload is not recorded: the original length counts it. The "
		"link "
		"layer's header is not recorded: packets begin with IP. A packet may stand for "
		"several "
		"that the device divides or has joined. %s",
		w->counts->sent, w->counts->received, w->counts->looped,
		w->t->wall_clock_ns
			? "Times are those of the wall clock as it was when the recording "
			  "began, followed by CLOCK_MONOTONIC."
			: "Times are those of CLOCK_MONOTONIC, as the recording does not "
			  "have the wall clock.");
	block_begin_section(&w->block);
	block_text(&w->block, OPTION_COMMENT, text);
	if (about->host)
		block_text(&w->block, OPTION_HARDWARE, about->host);
	if (about->kernel)
		block_text(&w->block, OPTION_SYSTEM, about->kernel);
	if (about->program)
		block_text(&w->block, OPTION_PROGRAM, about->program);
	write_block(w);
}

/* Two namespaces may have devices of the same number. */
static void name_of(const struct writer *w, const struct device *d, char *out, size_t size)
{
	int used = d->key.ifindex == LOOPBACK_IFINDEX
			   ? snprintf(out, size, "lo")
			   : snprintf(out, size, "device %" PRIu32, d->key.ifindex);

	if (w->apart)
		snprintf(out + used, size - (size_t)used, ", netns %" PRIu32, d->key.netns);
}

static void write_interface(struct writer *w, const struct device *d)
{
	static const uint8_t resolution = NANOSECONDS;
	char text[96];

	/*
	 * libpcap (1.10) refuses a second interface of the type LINK_RAW, which it takes for
	 * another one than the first; the type's number on BSD is raw IP to it and to Wireshark,
	 * too
	 */
	block_begin_interface(&w->block, w->several ? LINK_RAW_BSD : LINK_RAW, SNAPLEN);
	name_of(w, d, text, sizeof(text));
	block_text(&w->block, OPTION_NAME, text);
	snprintf(text, sizeof(text), "network device %" PRIu32 " of network namespace %" PRIu32,
		d->key.ifindex, d->key.netns);
	block_text(&w->block, OPTION_DESCRIPTION, text);
	block_option(&w->block, OPTION_RESOLUTION, &resolution, sizeof(resolution));
	write_block(w);
}

/* Returns the packet's device; `is_new` gets whether it is the first packet there. */
static struct device *device_of(struct writer *w, const struct traffic_packet *p, bool *is_new)
{
	const struct traffic_sock *s = traffic_sock(w->t, p->sock);
	struct device key = {.key = {s ? s->netns : 0, p->ifindex}}, *d = NULL;

	HASH_FIND(hh, w->devices, &key.key, sizeof(key.key), d);
	*is_new = !d;
	if (d)
		return d;
	d = mg_calloc(1, sizeof(*d));
	if (!d)
		return NULL;
	d->key = key.key;
	d->number = HASH_COUNT(w->devices);
	HASH_ADD(hh, w->devices, key, sizeof(d->key), d);
	return hash_kept(d);
}

static void write_interfaces(struct writer *w)
{
	struct device *d, *tmp;
	bool is_new;

	for (size_t i = 0; i < w->t->packets; i++)
		if (traffic_is_packet(&w->t->packet[i]))
			device_of(w, &w->t->packet[i], &is_new);
	w->several = HASH_COUNT(w->devices) > 1;
	w->counts->devices = HASH_COUNT(w->devices);
	HASH_ITER (hh, w->devices, d, tmp)
		w->apart |= d->key.netns != w->devices->key.netns;
	HASH_ITER (hh, w->devices, d, tmp)
		write_interface(w, d);
}

/*
 * Returns the bytes of TCP's options: the headers less those of the link layer and of IP. At the
 * driver an Ethernet header may be there, which is known by its length, as all others are
 * multiples of four. Padding of short frames makes the length useless; then there are none.
 */
static uint32_t tcp_options(const struct traffic_packet *p, bool is_ipv6)
{
	uint32_t headers = p->headers, ip = is_ipv6 ? IPV6_HEADER : IPV4_HEADER;

	if (headers % 4 == ETHERNET_HEADER % 4 && headers > ETHERNET_HEADER && !traffic_is_rx(p))
		headers -= ETHERNET_HEADER;
	if (headers % 4 || headers < ip + TCP_HEADER || headers > ip + TCP_HEADER_MOST)
		return 0;
	return headers - ip - TCP_HEADER;
}

/* Fills in the ends, those that one record does not know from the other one. */
static bool fill_ends(const struct writer *w, const struct traffic_packet *p,
	const struct traffic_packet *arrival, struct frame *f)
{
	static const struct frame_end none;
	struct frame other;
	bool known = traffic_ends(w->t, p, f);

	if (known || !arrival)
		return known;
	known = traffic_ends(w->t, arrival, &other);
	if (memcmp(f->from.addr, none.addr, sizeof(none.addr)) == 0)
		f->from = other.from;
	if (memcmp(f->to.addr, none.addr, sizeof(none.addr)) == 0)
		f->to = other.to;
	f->is_ipv6 = f->is_ipv6 || other.is_ipv6;
	return known;
}

static void fill_frame(struct writer *w, const struct traffic_packet *p,
	const struct traffic_packet *arrival, struct frame *f)
{
	memset(f, 0, sizeof(*f));
	w->counts->without_end += !fill_ends(w, p, arrival, f);
	f->proto = p->proto;
	f->seq = p->seq;
	f->ack = p->ack;
	f->len = p->len;
	f->tcp_flags = p->tcp_flags;
	f->icmp_type = p->icmp_type;
	f->ip_id = p->ip_id;
	f->frag = p->frag;
	if (p->proto == IPPROTO_TCP) {
		f->window = p->zero_window ? 0 : WINDOW_UNKNOWN;
		f->options = tcp_options(p, f->is_ipv6);
	} else if (p->proto == IPPROTO_ICMP || p->proto == IPPROTO_ICMPV6) {
		f->icmp_id = traffic_is_rx(p) ? f->to.port : f->from.port;
	}
}

static void add_comment(struct writer *w, const struct traffic_packet *p)
{
	struct comment_bytes b = {p->sock, traffic_is_rx(p), p->offset, p->len, p->time_ns};
	char text[COMMENT_MOST];

	comment_write(text, w->t, &b);
	block_text(&w->block, OPTION_COMMENT, text);
}

static void add_direction(struct writer *w, const struct traffic_packet *p)
{
	uint32_t flags = traffic_is_rx(p) ? FLAG_INBOUND : FLAG_OUTBOUND;

	block_option(&w->block, OPTION_FLAGS, &flags, sizeof(flags));
}

/* Writes a packet; `arrival` is its other record, NULL if it has none. */
static void write_packet(
	struct writer *w, const struct traffic_packet *p, const struct traffic_packet *arrival)
{
	uint8_t headers[FRAME_MOST];
	struct frame f;
	struct device *d;
	size_t size;
	bool is_new;

	d = device_of(w, p, &is_new);
	if (!d)
		return;
	fill_frame(w, p, arrival, &f);
	size = frame_build(&f, headers);
	block_begin_packet(&w->block, d->number, w->t->wall_clock_ns + p->time_ns, headers,
		(uint32_t)size, (uint32_t)size + p->len);
	add_comment(w, p);
	if (arrival)
		add_comment(w, arrival);
	else
		add_direction(w, p);
	write_block(w);
}

static void count(struct writer *w)
{
	for (size_t i = 0; i < w->t->packets; i++) {
		w->counts->sent += w->t->packet[i].place == PLACE_DRIVER;
		w->counts->received += w->t->packet[i].place == PLACE_DEVICE;
	}
}

bool rebuilt_write(FILE *to, const struct traffic *t, const struct rebuilt_about *about,
	struct rebuilt_counts *counts)
{
	struct writer w = {.to = to, .t = t, .counts = counts};
	struct device *d, *tmp;
	size_t *other;

	memset(counts, 0, sizeof(*counts));
	other = loopback_pairs(t, &counts->looped);
	count(&w);
	write_section(&w, about);
	write_interfaces(&w);
	for (size_t i = 0; i < t->packets && other && !w.failed; i++) {
		const struct traffic_packet *p = &t->packet[i];
		bool has_other = other[i] != LOOPBACK_NONE;

		if (traffic_is_packet(p) && !(has_other && traffic_is_rx(p)))
			write_packet(&w, p, has_other ? &t->packet[other[i]] : NULL);
	}
	HASH_ITER (hh, w.devices, d, tmp) {
		HASH_DEL(w.devices, d);
		free(d);
	}
	block_free(&w.block);
	free(other);
	return other && !w.failed;
}
