/* SPDX-License-Identifier: MIT */
#include "why_scenes.h"

void open_core(struct core *c)
{
	feed_begin(c, HOOKS);
	ev_opened(c, 10, SOCK, 999, 4999);
}

void enter(struct core *c, uint64_t t, int call, uint32_t seq, uint32_t flags, uint8_t nagle)
{
	struct mg_event e = feed_event(MG_EVENT_sys_enter, t, TID);

	e.sys_enter.sock = SOCK;
	e.sys_enter.call = (uint16_t)call;
	e.sys_enter.seq = seq;
	e.sys_enter.flags = flags;
	e.sys_enter.kind = MG_KIND_tcp;
	e.sys_enter.nagle = nagle;
	e.sys_enter.mss = MSS;
	feed(c, &e);
}

void leave(struct core *c, uint64_t t, int call, uint32_t seq, int64_t ret)
{
	ev_exit(c, t, TID, SOCK, call, seq, ret);
}

void copy(struct core *c, uint64_t t, uint32_t seq, uint32_t left, uint32_t una)
{
	struct mg_event e = feed_event(MG_EVENT_tcp_send, t, TID);

	e.tcp_send.sock = SOCK;
	e.tcp_send.seq = seq;
	e.tcp_send.left = left;
	e.tcp_send.snd_una = una;
	e.tcp_send.snd_nxt = seq; /* nothing unsent before it */
	e.tcp_send.snd_wnd = 100000;
	e.tcp_send.cwnd = 10;
	feed(c, &e);
}

void write_only(struct core *c, uint64_t t, uint32_t seq, uint32_t len, uint32_t una,
	uint32_t flags, uint8_t nagle)
{
	enter(c, t, MG_SYS_sendto, seq, flags, nagle);
	copy(c, t + 100, seq, len, una);
	leave(c, t + 200, MG_SYS_sendto, seq + len, len);
}

void out_on(struct core *c, uint64_t t, uint32_t tid, uint8_t context, uint32_t seq, uint32_t len,
	uint16_t segs)
{
	struct mg_event e = feed_event(MG_EVENT_ip_out, t, tid);

	e.packet.sock = SOCK;
	e.packet.seq = seq;
	e.packet.len = len;
	e.packet.segs = segs;
	e.packet.gso_size = segs > 1 ? MSS : 0;
	e.packet.context = context;
	feed(c, &e);
}

void out(struct core *c, uint64_t t, uint8_t context, uint32_t seq, uint32_t len)
{
	out_on(c, t, 0, context, seq, len, (uint16_t)((len + MSS - 1) / MSS));
}

void write_and_send(struct core *c, uint32_t len, uint32_t sent)
{
	enter(c, 1000, MG_SYS_sendto, 1000, 0, NODELAY);
	copy(c, 1100, 1000, len, 1000);
	out_on(c, 1200, TID, THREAD, 1000, sent, (uint16_t)((sent + MSS - 1) / MSS));
	leave(c, 1300, MG_SYS_sendto, 1000 + len, len);
}

void ack_on(struct core *c, uint64_t t, uint32_t tid, uint32_t una, uint32_t window, uint32_t cwnd)
{
	struct mg_event e = feed_event(MG_EVENT_tcp_recv, t, tid);

	e.tcp_recv.sock = SOCK;
	e.tcp_recv.seq = 5000;
	e.tcp_recv.snd_una = una;
	e.tcp_recv.snd_wnd = window;
	e.tcp_recv.cwnd = cwnd;
	feed(c, &e);
}

void ack(struct core *c, uint64_t t, uint32_t una, uint32_t window, uint32_t cwnd)
{
	ack_on(c, t, 0, una, window, cwnd);
}

void assert_row(struct core *c, int reason, int release, uint64_t bytes, uint64_t wait_per_byte)
{
	const struct why_sums *w = measures_in(tx_of(c, SOCK))->why;
	bool found = false;

	assert_non_null(w);
	for (uint32_t i = 0; i < w->rows; i++) {
		if (w->row[i].reason != reason || w->row[i].release != release)
			continue;
		found = true;
		assert_int_equal(w->row[i].bytes, bytes);
		assert_true(w->row[i].wait == (unsigned __int128)wait_per_byte * bytes);
	}
	for (uint32_t i = 0; i < w->rows && !found; i++)
		print_error("%u %u: %llu bytes\n", w->row[i].reason, w->row[i].release,
			(unsigned long long)w->row[i].bytes);
	assert_true(found);
}

void assert_held(struct core *c, int reason, uint64_t bytes, uint64_t wait, uint64_t cycles)
{
	const struct why_sums *s = measures_in(tx_of(c, SOCK))->why;

	assert_int_equal(s->bytes[reason], bytes);
	assert_int_equal(s->wait[reason], wait);
	assert_int_equal(s->cycles[reason], cycles);
}

static void settle(struct core *c)
{
	core_finish(c);
	assert_closes(c);
	assert_int_equal(tx_of(c, SOCK)->incomplete, 0);
}

void acknowledged(struct core *c, uint32_t seq)
{
	ev_ack(c, 900000, SOCK, seq);
	settle(c);
}
