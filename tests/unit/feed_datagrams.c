/* SPDX-License-Identifier: MIT */
#include "feed_datagrams.h"

/* one CPU receives all packets, and another one reads */
static void on(struct core *c, int cpu, struct mg_event *e)
{
	e->cpu = (int16_t)cpu;
	feed(c, e);
}

void dg_known(struct core *c, int kind)
{
	for (int i = 0; i < 2; i++) {
		struct mg_event e = feed_event(MG_EVENT_sock_new, 5, SEND);

		e.sock_new =
			(struct mg_sock_new){.sock = i ? B : A, .netns = 1, .kind = (uint8_t)kind};
		feed(c, &e);
	}
}

void dg_begin(struct core *c)
{
	feed_begin(c, ALL_HOOKS ",sock_sent,sock_received,drop_raw");
	dg_known(c, MG_KIND_udp);
}

void dg_enter(struct core *c, uint64_t t, uint32_t tid, uint64_t sock, int call, int kind)
{
	struct mg_event e = feed_event(MG_EVENT_sys_enter, t, tid);

	e.sys_enter.sock = sock;
	e.sys_enter.call = (uint16_t)call;
	e.sys_enter.kind = (uint8_t)kind;
	feed(c, &e);
}

void dg_packet(struct core *c, uint16_t event, uint64_t t, uint32_t buffer, uint32_t len,
	const struct piece_of *p)
{
	bool rx = event == MG_EVENT_dev_recv || event == MG_EVENT_ip_in;
	struct mg_event e = feed_event(event, t, SEND);

	e.packet = (struct mg_packet){.sock = rx ? B : A,
		.seq = buffer,
		.len = len,
		.headers = 42,
		.segs = p->segs ? p->segs : 1,
		.gso_size = p->gso,
		.ip_id = p->id,
		.frag = p->frag | (p->part == 1 ? MG_FRAG_MORE : 0),
		.proto = UDP};
	on(c, 0, &e);
}

void dg_done(struct core *c, uint64_t t, uint32_t buffer, uint32_t len)
{
	struct mg_event e = feed_event(MG_EVENT_dev_done, t, SEND);

	e.dev_done = (struct mg_dev_done){.sock = A, .seq = buffer, .len = len, .segs = 1};
	feed(c, &e);
}

void dg_leaves(struct core *c, uint64_t t, uint32_t buffer, uint16_t id, uint32_t len)
{
	static const uint16_t events[] = {
		MG_EVENT_ip_out, MG_EVENT_ip_post, MG_EVENT_dev_queue, MG_EVENT_dev_xmit};

	for (int i = 0; i < 4; i++)
		dg_packet(c, events[i], t + (uint64_t)i, buffer, len, &(struct piece_of){.id = id});
	dg_done(c, t + 4, buffer, len);
}

void dg_moved(struct core *c, uint16_t event, uint64_t t, uint32_t tid, uint64_t sock, int32_t ret,
	uint32_t next, int kind)
{
	struct mg_event e = feed_event(event, t, tid);

	e.sock_moved = (struct mg_sock_moved){
		.sock = sock, .ret = ret, .next = next, .kind = (uint8_t)kind};
	feed(c, &e);
}

void dg_ready(struct core *c, uint64_t t, uint32_t tid, uint64_t sock, uint32_t buffer,
	uint32_t len, int kind)
{
	struct mg_event e = feed_event(MG_EVENT_sock_ready, t, tid);

	e.sock_ready = (struct mg_sock_ready){
		.sock = sock, .buffer = buffer, .len = len, .kind = (uint8_t)kind};
	on(c, 0, &e);
}

void dg_arrives(struct core *c, uint64_t t, uint32_t buffer, uint16_t id, uint32_t len)
{
	dg_packet(c, MG_EVENT_dev_recv, t, buffer, len, &(struct piece_of){.id = id});
	dg_packet(c, MG_EVENT_ip_in, t + 1, buffer, len, &(struct piece_of){.id = id});
	dg_ready(c, t + 2, SEND, B, buffer, len, MG_KIND_udp);
}

void dg_sends(struct core *c, uint64_t t, uint32_t buffer, uint16_t id, uint32_t len)
{
	dg_enter(c, t + 1, SEND, A, MG_SYS_sendto, MG_KIND_udp);
	dg_leaves(c, t + 3, buffer, id, len);
	dg_moved(c, MG_EVENT_sock_sent, t + 9, SEND, A, (int32_t)len, 0, MG_KIND_udp);
	ev_exit(c, t + 10, SEND, A, MG_SYS_sendto, 0, len);
	ev_app(c, SEND, MG_FN_send, t, t + 11, len);
}

void dg_reads(struct core *c, uint64_t t, uint32_t len, uint32_t next)
{
	dg_enter(c, t + 1, READ, B, MG_SYS_recvfrom, MG_KIND_udp);
	dg_moved(c, MG_EVENT_sock_received, t + 2, READ, B, (int32_t)len, next, MG_KIND_udp);
	ev_exit(c, t + 3, READ, B, MG_SYS_recvfrom, 0, len);
	ev_app(c, READ, MG_FN_recv, t, t + 4, len);
}

uint64_t dg_shifts(const struct core *c)
{
	return (uint64_t)measures_in(rx_of(c, B))->shift.sum;
}

void dg_begin_unix(struct core *c, int kind)
{
	feed_begin(c, "sys_enter,sys_exit,tcp_ready,sock_copy,sock_sent,sock_received");
	dg_known(c, kind);
}

void dg_puts_in(struct core *c, uint64_t t, uint32_t buffer, const uint32_t len[], int n,
	uint32_t sum, int kind)
{
	dg_puts_told(c, t, B, buffer, len, n, sum, kind);
}

void dg_puts_told(struct core *c, uint64_t t, uint64_t told, uint32_t buffer, const uint32_t len[],
	int n, uint32_t sum, int kind)
{
	dg_enter(c, t + 1, SEND, A, MG_SYS_write, kind);
	for (int i = 0; i < n; i++)
		dg_ready(c, t + 2 + (uint64_t)i, SEND, told, len[i] ? buffer + (uint32_t)i : 0,
			len[i], kind);
	dg_moved(c, MG_EVENT_sock_sent, t + 10, SEND, A, (int32_t)sum, 0, kind);
	ev_exit(c, t + 11, SEND, A, MG_SYS_write, 0, sum);
	ev_app(c, SEND, MG_FN_write, t, t + 12, sum);
}

void dg_takes(struct core *c, uint64_t t, uint32_t buffer, uint32_t len, int kind)
{
	struct mg_event e = feed_event(MG_EVENT_sock_copy, t + 2, READ);

	dg_enter(c, t + 1, READ, B, MG_SYS_read, kind);
	e.sock_copy = (struct mg_sock_copy){.sock = B, .seq = buffer, .len = len};
	feed(c, &e);
	dg_moved(c, MG_EVENT_sock_received, t + 3, READ, B, (int32_t)len, 0, kind);
	ev_exit(c, t + 4, READ, B, MG_SYS_read, 0, len);
	ev_app(c, READ, MG_FN_read, t, t + 5, len);
}
