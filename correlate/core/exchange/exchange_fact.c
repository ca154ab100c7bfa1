/* SPDX-License-Identifier: MIT */
#include "exchange/exchange_fact.h"

#include <string.h>

#include "event_table.h"
#include "coverage/gap.h"
#include "coverage/side.h"
#include "task/threads.h"

/* Returns the time between two, FACT_NONE if one is not known or they contradict each other. */
static uint64_t between(uint64_t from, uint64_t to)
{
	return from && to && from <= to ? to - from : FACT_NONE;
}

/* Divides the time of a client's exchange by the server's times. */
static void fill_ways(const struct exchange *e, struct fact_exchange *f)
{
	uint64_t way = between(f->request_last, e->there.request_last);
	uint64_t program = between(e->there.request_last, e->there.reply_first);
	uint64_t back = between(e->there.reply_first, f->reply_first);

	if (way == FACT_NONE || program == FACT_NONE || back == FACT_NONE) {
		f->part[PART_WAY] = between(f->request_last, f->reply_first);
		return;
	}
	f->server_request_last = e->there.request_last;
	f->server_reply_first = e->there.reply_first;
	f->in_program = program;
	f->part[PART_WAY] = way;
	f->part[PART_PROGRAM] = program;
	f->part[PART_BACK] = back;
}

/* The parts sum to the time from the request's first byte to the reply's last. */
static void fill_spans(const struct exchanges *x, const struct exchange *e, struct fact_exchange *f)
{
	f->part[PART_REQUEST] = between(f->request_first, f->request_last);
	f->part[PART_REPLY] = between(f->reply_first, f->reply_last);
	f->since_reply = between(x->told.reply_last, f->request_first);
	if (x->is_server) {
		f->in_program = f->part[PART_PROGRAM] = between(f->request_last, f->reply_first);
		f->to_reply = between(f->arrived, f->departed);
	} else if (e->reply.calls && e->request.calls) {
		fill_ways(e, f);
		f->to_reply = between(f->request_last, f->reply_first);
	}
}

static void fill_place(const struct mg_sock *s, struct fact_exchange *f)
{
	const struct far_end *far = s->far && !s->rport ? &s->far[1] : NULL;

	if (s->has_addr || s->lport) {
		f->local = sock_local(s);
		f->remote = sock_remote(s);
	}
	if (far && !far->known)
		far = &s->far[0];
	if (far && far->known)
		f->remote = (struct fact_address){
			far->several ? NULL : far->addr, far->several ? 0 : far->port};
}

/* Returns whether messages of several far ends may be mixed up. */
static bool is_mixed(const struct mg_sock *s, const struct exchange *e)
{
	return s->far && !s->rport && (s->far[0].several || s->far[1].several) &&
	       (e->request.calls > 1 || e->reply.calls > 1);
}

static bool is_pipelined(const struct exchanges *x, const struct exchange *e)
{
	return x->told.reply_first && e->arrived_first < x->told.reply_first;
}

/* Returns whether times are missing because the kernel side did not record all of the exchange. */
static bool is_unseen(struct core *c, const struct exchange *e)
{
	uint64_t from = e->edge[REQUEST_FIRST].t, to = e->edge[REPLY_LAST].t;

	if ((e->arrived && e->departed) || !c->counts.kernel_events || !from || !to)
		return false;
	return side_misses(c, CORE_KERNEL, from, to) ||
	       gap_within(c, MG_LAYER_DEVICE, from, to, -1, -1);
}

/*
 * A first request is larger, or written by more calls, if it is a stream in one direction, to which
 * nobody expects a reply.
 */
#define FIRST_BYTES 65536
#define FIRST_CALLS 2

/* Returns whether somebody may have waited for a reply, and none came. */
static bool is_waited_for(const struct mg_sock *s, const struct exchanges *x,
	const struct exchange *e, uint64_t last_byte)
{
	/* a reply that others wrote, or that was not read */
	bool replied = x->is_server ? s->tx.last.ip > last_byte : x->closed.unread;

	if (s->kind != MG_KIND_tcp || e->lost || e->overlaps || replied)
		return false;
	return x->told.reply_first ||
	       (e->request.bytes <= FIRST_BYTES && e->request.calls <= FIRST_CALLS);
}

/* Returns the earlier of two times that are later than `since`; 0 if neither is. */
static uint64_t first_of(uint64_t a, uint64_t b, uint64_t since)
{
	if (a <= since || (b > since && b < a))
		a = b;
	return a > since ? a : 0;
}

/*
 * Says until when a request had no reply: until who might have replied closed its direction, or the
 * socket was closed. A client that closes its own direction waits on only if it did so by
 * shutdown(). Nothing is known of the end of other sockets than TCP's.
 */
static void fill_end(
	struct core *c, const struct mg_sock *s, const struct exchange *e, struct fact_exchange *f)
{
	const struct exchanges *x = s->exchanges;
	uint64_t last_byte = e->last_byte ? e->last_byte : f->request_last, end;

	if (f->answer != UNANSWERED || !core_knows_states(c) || !is_waited_for(s, x, e, last_byte))
		return;
	end = first_of(x->is_server ? x->closed.own : x->closed.peer, x->closed.all, last_byte);
	if (!x->is_server && !e->half_closed)
		end = first_of(end, x->closed.own, last_byte);
	f->open = !end && !x->closed.all;
	f->ended = f->open ? x->open_until : end;
	if (gap_within(c, MG_LAYER_SYSCALL, last_byte, f->ended, -1, -1) ||
		gap_within(c, MG_LAYER_TCP, last_byte, f->ended, -1, -1))
		f->ended = 0;
	else
		f->waited = between(last_byte, f->ended);
}

void exchange_emit(struct core *c, struct mg_sock *s, const struct exchange *e)
{
	const struct exchanges *x = s->exchanges;
	struct fact_flow_id tx = flow_fact(&s->tx), rx = flow_fact(&s->rx);
	const struct exchange_edge *request = &e->edge[REQUEST_LAST],
				   *reply = &e->edge[REPLY_FIRST];
	struct fact_exchange f = {.request = x->is_server ? rx : tx,
		.reply = x->is_server ? tx : rx,
		.ordinal = e->ordinal,
		.kind = s->kind,
		.role = x->is_server ? ROLE_SERVER : ROLE_CLIENT,
		.role_assumed = x->is_assumed,
		.answer = !e->request.calls ? UNASKED
			  : !e->reply.calls ? UNANSWERED
					    : ANSWERED,
		.program = s->user.program ? s->user.program->comm : NULL,
		.request_offset = e->request.calls ? e->request.offset : FACT_NONE,
		.request_bytes = e->request.bytes,
		.request_calls = e->request.calls,
		.reply_offset = e->reply.calls ? e->reply.offset : FACT_NONE,
		.reply_bytes = e->reply.bytes,
		.reply_calls = e->reply.calls,
		.request_first = e->edge[REQUEST_FIRST].t,
		.request_last = request->t,
		.reply_first = reply->t,
		.reply_last = e->edge[REPLY_LAST].t,
		.arrived = e->arrived,
		.departed = e->departed,
		.request_pid = request->exit ? request->pid : FACT_NONE,
		.request_tid = request->exit ? request->tid : FACT_NONE,
		.request_function = request->exit ? request->function : FACT_NO_FUNCTION,
		.reply_pid = reply->exit ? reply->pid : FACT_NONE,
		.reply_tid = reply->exit ? reply->tid : FACT_NONE,
		.reply_function = reply->exit ? reply->function : FACT_NO_FUNCTION,
		.in_program = FACT_NONE,
		.to_reply = FACT_NONE,
		.waited = FACT_NONE,
		.pipelined = FACT_MAYBE,
		.half_closed = e->half_closed,
		.overlaps = e->overlaps,
		.several_peers = is_mixed(s, e),
		.begun_before = x->is_older && !e->ordinal,
		.lost = e->lost,
		.unseen = is_unseen(c, e)};

	memset(f.part, 0xff, sizeof(f.part)); /* FACT_NONE */
	fill_place(s, &f);
	fill_spans(x, e, &f);
	fill_end(c, s, e, &f);
	if (x->is_server && e->arrived_first)
		f.pipelined = is_pipelined(x, e);
	emit_exchange(&c->facts, &f);
}
