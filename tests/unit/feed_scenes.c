/* SPDX-License-Identifier: MIT */
/* Whole calls and segments, and access to the results in the core. */
#include "socket/socket.h"
#include "task/thread.h"
#include "feed.h"

void feed_send_kernel(struct core *c, uint32_t tid, uint64_t sock, uint32_t seq, uint32_t len,
	uint64_t at, uint64_t step)
{
	ev_enter(c, at + step, tid, sock, MG_SYS_sendto, seq);
	ev_send(c, at + 2 * step, tid, sock, seq, len, seq);
	ev_packet(c, at + 3 * step, tid, MG_EVENT_ip_out, sock, seq, len);
	ev_packet(c, at + 4 * step, tid, MG_EVENT_ip_post, sock, seq, len);
	ev_packet(c, at + 5 * step, tid, MG_EVENT_dev_queue, sock, seq, len);
	ev_packet(c, at + 6 * step, tid, MG_EVENT_dev_xmit, sock, seq, len);
	ev_done(c, at + 7 * step, tid, sock, seq, len);
	ev_exit(c, at + 8 * step, tid, sock, MG_SYS_sendto, seq + len, len);
}

void feed_send(struct core *c, uint32_t tid, uint64_t sock, uint32_t seq, uint32_t len, uint64_t at,
	uint64_t step)
{
	feed_send_kernel(c, tid, sock, seq, len, at, step);
	ev_app(c, tid, MG_FN_send, at, at + 9 * step, len);
}

void feed_segment(
	struct core *c, uint64_t sock, uint32_t seq, uint32_t len, uint64_t at, uint64_t step)
{
	ev_packet(c, at, 0, MG_EVENT_dev_recv, sock, seq, len);
	ev_packet(c, at + step, 0, MG_EVENT_ip_in, sock, seq, len);
	ev_tcp(c, at + 2 * step, sock, seq, len);
	ev_ready(c, at + 3 * step, sock, seq + len);
}

void feed_recv(struct core *c, uint32_t tid, uint64_t sock, uint32_t seq, uint32_t len, uint64_t at,
	uint64_t step)
{
	ev_enter(c, at + step, tid, sock, MG_SYS_recvfrom, seq);
	ev_copy(c, at + 2 * step, tid, sock, seq, len);
	ev_exit(c, at + 3 * step, tid, sock, MG_SYS_recvfrom, seq + len, len);
	ev_app(c, tid, MG_FN_recv, at, at + 4 * step, len);
}

struct flow *tx_of(const struct core *c, uint64_t sock)
{
	struct mg_sock *s = sock_look_up((struct core *)(uintptr_t)c, sock);

	assert_non_null(s);
	return &s->tx;
}

struct flow *rx_of(const struct core *c, uint64_t sock)
{
	struct mg_sock *s = sock_look_up((struct core *)(uintptr_t)c, sock);

	assert_non_null(s);
	return &s->rx;
}

const struct call_stats *calls_of(const struct core *c, int id)
{
	static const struct call_stats none;

	for (const struct call_stats *s = figures_of(c)->calls.calls; s; s = s->hh.next)
		if (s->key.id == id && s->key.kind == MG_KIND_tcp)
			return s;
	return &none;
}

struct thread *thread_of(struct core *c, uint32_t tid)
{
	struct thread *t = thread_get(c, tid, 0);

	assert_non_null(t);
	return t;
}

void assert_states(const struct call_stats *s, const uint64_t expected[STATES])
{
	for (int i = 0; i < STATES; i++) {
		if (s->state[i] == expected[i])
			continue;
		print_error("state %d is %llu, not %llu\n", i, (unsigned long long)s->state[i],
			(unsigned long long)expected[i]);
		fail();
	}
}

const struct fact_flow *fact_of(struct core *c, const struct flow *f)
{
	static struct fact_flow all[8];
	static unsigned int next;
	struct fact_flow *to = &all[next++ % 8];

	assert_true(core_flow(c, f->sock->cookie, f->rx, to));
	return to;
}

const struct flow_measures *measures_in(const struct flow *f)
{
	return measures_by_id(flow_fact(f));
}

struct flow_measures *measured(const struct flow *f)
{
	assert_non_null(*f->state);
	return *f->state;
}

struct measures_memory *memory_of(const struct core *c)
{
	assert_non_null(c->attached.what);
	return &((struct figures *)c->attached.what)->memory;
}

uint64_t stage_sum(const struct flow *f, int stage)
{
	return (uint64_t)measures_in(f)->stage[stage].sum;
}
