/* SPDX-License-Identifier: MIT */
#include "filter/found.h"

#include <stdlib.h>
#include <string.h>

#include "alloc.h"
#include "event_table.h"

/* ---- columns ---- */

static bool is_one_of(const char *name, const char *const names[])
{
	for (; *names; names++)
		if (strcmp(name, *names) == 0)
			return true;
	return false;
}

static void add_column(uint16_t offsets[TELLING], uint32_t *n, uint16_t offset)
{
	if (*n < TELLING)
		offsets[(*n)++] = offset;
}

/*
 * A flow belongs to all who used its socket, not to the last of them only, and its peer is another
 * row. The recording and its sides have times, but are not of a time.
 */
static void find_columns(enum fact kind, struct telling *t)
{
	static const char *const pids[] = {"pid", "request_pid", "reply_pid", NULL};
	static const char *const tids[] = {"tid", "request_tid", "reply_tid", "from", "to", NULL};
	const struct fact_desc *d = &fact_table[kind];
	bool has_times = kind != FACT_recording && kind != FACT_side;

	for (int i = 0; i < d->columns; i++) {
		const struct fact_column *c = &d->column[i];
		bool whose = kind != FACT_flow && c->type == FACT_TYPE_COUNT;

		if (c->type == FACT_TYPE_FLOW && (kind != FACT_flow || !t->flows))
			add_column(t->flow, &t->flows, c->offset);
		else if (whose && is_one_of(c->name, pids))
			add_column(t->pid, &t->pids, c->offset);
		else if (whose && is_one_of(c->name, tids))
			add_column(t->tid, &t->tids, c->offset);
		else if (has_times && (c->type == FACT_TYPE_TIME || c->type == FACT_TYPE_NS))
			add_column(t->time, &t->times, c->offset);
		t->is_ns |= c->type == FACT_TYPE_NS;
	}
}

struct filter_found *found_of(struct filter *f)
{
	if (f->found)
		return f->found;
	f->found = mg_calloc(1, sizeof(*f->found));
	if (!f->found)
		return NULL;
	f->found->f = f;
	for (int i = 0; i < FACTS; i++)
		find_columns(i, &f->found->telling[i]);
	return f->found;
}

/* ---- sets ---- */

bool found_has(const struct filter_found *f, enum found_set set, uint64_t number)
{
	struct found_number *n = NULL;

	HASH_FIND(hh, f->set[set], &number, sizeof(number), n);
	return n;
}

static void add(struct filter_found *f, enum found_set set, uint64_t number)
{
	struct found_number *n;

	if (!number || found_has(f, set, number))
		return;
	n = mg_calloc(1, sizeof(*n));
	if (!n)
		return;
	n->number = number;
	HASH_ADD(hh, f->set[set], number, sizeof(n->number), n);
	(void)hash_kept(n);
}

void filter_free(struct filter *f)
{
	struct found_number *n, *tmp;

	for (int i = 0; f->found && i < FOUND_SETS; i++)
		HASH_ITER (hh, f->found->set[i], n, tmp) {
			HASH_DEL(f->found->set[i], n);
			free(n);
		}
	for (int i = 0; f->found && i < 2; i++) {
		struct found_accepted **all = i ? &f->found->accepted : &f->found->returned, *one,
				      *next;

		HASH_ITER (hh, *all, one, next) {
			HASH_DEL(*all, one);
			free(one);
		}
	}
	free(f->found);
	f->found = NULL;
}

/* ---- listening sockets ---- */

/*
 * The trace does not have the port of a listening socket: that of the connections it accepts is. A
 * connection is known by its descriptor until there is a call on it.
 */
static uint64_t descriptor_key(uint32_t pid, int64_t fd)
{
	return (uint64_t)pid << 32 | (uint32_t)fd;
}

static void set_accepted(struct found_accepted **all, uint64_t number, uint64_t listener)
{
	struct found_accepted *one = NULL;

	HASH_FIND(hh, *all, &number, sizeof(number), one);
	if (one) {
		one->listener = listener;
		return;
	}
	one = mg_calloc(1, sizeof(*one));
	if (!one)
		return;
	one->number = number;
	one->listener = listener;
	HASH_ADD(hh, *all, number, sizeof(one->number), one);
	(void)hash_kept(one);
}

static void on_accepted(struct filter_found *f, const struct mg_event *e, uint64_t sock)
{
	uint32_t call = e->sys_exit.call;

	if ((call == MG_SYS_accept || call == MG_SYS_accept4) && e->sys_exit.ret >= 0)
		set_accepted(&f->returned, descriptor_key(e->pid, e->sys_exit.ret), sock);
}

static void on_call_begin(struct filter_found *f, const struct mg_event *e, uint64_t sock)
{
	uint64_t key = descriptor_key(e->pid, e->sys_enter.fd);
	struct found_accepted *one = NULL;

	HASH_FIND(hh, f->returned, &key, sizeof(key), one);
	if (!one)
		return;
	set_accepted(&f->accepted, sock, one->listener);
	HASH_DEL(f->returned, one);
	free(one);
}

/* Chooses the listening sockets of the chosen connections. */
static void add_listeners(struct filter_found *f)
{
	for (struct found_accepted *one = f->accepted; one; one = one->hh.next)
		if (found_has(f, FOUND_SOCKET, one->number))
			add(f, FOUND_SOCKET, one->listener);
}

/* ---- threads ---- */

/* Notes a thread that was asked for by number, and is in the recording. */
static void see_thread(struct filter_found *f, uint64_t tid)
{
	for (uint32_t i = 0; i < f->f->thread.n; i++)
		if (f->f->thread.tid[i] == tid)
			add(f, FOUND_SEEN, tid);
}

static bool takes_process(const struct filter_processes *p, uint64_t pid, const char *name)
{
	for (uint32_t i = 0; i < p->n; i++)
		if (p->of[i].pid ? p->of[i].pid == pid : name && strcmp(p->of[i].name, name) == 0)
			return true;
	return false;
}

/* Notes a thread by the name that its program has now. */
static void note_thread(struct filter_found *f, uint64_t pid, uint64_t tid, const char *name)
{
	if (!f->f->process.n || pid == FACT_NONE || tid == FACT_NONE)
		return;
	if (takes_process(&f->f->process, pid, name))
		add(f, FOUND_PROCESS, pid);
	if (found_has(f, FOUND_PROCESS, pid))
		add(f, FOUND_THREAD, tid);
}

static void on_call(void *arg, const void *fact)
{
	const struct fact_call *c = fact;
	struct filter_found *f = arg;

	see_thread(f, c->tid);
	note_thread(f, c->pid, c->tid, core_program(f->core, (uint32_t)c->tid));
	if (c->flow.sock && filter_takes_thread(f->f, (uint32_t)c->pid, (uint32_t)c->tid))
		add(f, FOUND_USED, c->flow.sock);
}

static void on_wait(void *arg, const void *fact)
{
	const struct fact_wait *w = fact;

	see_thread(arg, w->tid);
	note_thread(arg, w->pid, w->tid, w->program);
}

/* ---- sockets ---- */

static bool is_in(const struct mg_prefix *p, const uint8_t addr[16])
{
	uint32_t word[4];

	memcpy(word, addr, sizeof(word));
	for (int i = 0; i < 4; i++)
		if ((word[i] & p->mask[i]) != p->addr[i])
			return false;
	return true;
}

static bool takes_port(const struct filter *f, uint16_t port)
{
	for (uint32_t i = 0; i < f->port.n; i++)
		if (port && f->port.port[i] == port)
			return true;
	return !f->port.n;
}

static bool takes_peer(const struct filter *f, const uint8_t *addr, uint16_t port)
{
	for (uint32_t i = 0; i < f->peer.n; i++)
		if (addr && is_in(&f->peer.of[i].prefix, addr) &&
			(!f->peer.of[i].port || f->peer.of[i].port == port))
			return true;
	return !f->peer.n;
}

/* Returns whether a socket has a port or peer by its flow, or by a datagram of its own. */
static bool has_port(const struct filter_found *f, const struct fact_flow *flow)
{
	return takes_port(f->f, flow->local.port) || takes_port(f->f, flow->remote.port) ||
	       takes_port(f->f, flow->first_remote.port) ||
	       found_has(f, FOUND_PORT, flow->flow.sock);
}

static bool has_peer(const struct filter_found *f, const struct fact_flow *flow)
{
	return takes_peer(f->f, flow->remote.addr, flow->remote.port) ||
	       takes_peer(f->f, flow->first_remote.addr, flow->first_remote.port) ||
	       found_has(f, FOUND_PEER, flow->flow.sock);
}

static bool has_kind(const struct filter *f, uint8_t kind)
{
	return !f->kinds || f->kinds >> kind & 1;
}

static void on_flow(void *arg, const struct fact_flow *tx, const struct fact_flow *rx)
{
	struct filter_found *f = arg;
	const struct fact_flow *of[] = {tx, rx};

	if (has_kind(f->f, tx->kind) && (has_port(f, tx) || has_port(f, rx)) &&
		(has_peer(f, tx) || has_peer(f, rx)))
		add(f, FOUND_SOCKET, tx->flow.sock);
	for (int i = 0; i < 2; i++)
		if (!f->f->thread.n && takes_process(&f->f->process, of[i]->pid, of[i]->program))
			add(f, FOUND_USED, tx->flow.sock);
}

/* Datagrams may have gone to more far ends than a flow has room for. */
static void on_event(void *arg, const struct mg_event *e, const struct annotation *a)
{
	const struct mg_sock_peer *p = &e->sock_peer;
	struct filter_found *f = arg;

	if (e->id == MG_EVENT_task_exec)
		note_thread(f, e->pid, e->tid, core_program(f->core, e->tid));
	see_thread(f, e->tid);
	if (f->f->port.n && a->sock && e->id == MG_EVENT_sys_exit)
		on_accepted(f, e, annotated_flow(a).sock);
	if (f->f->port.n && a->sock && e->id == MG_EVENT_sys_enter)
		on_call_begin(f, e, annotated_flow(a).sock);
	if (e->id != MG_EVENT_sock_peer || !a->sock)
		return;
	if (f->f->port.n && takes_port(f->f, p->port))
		add(f, FOUND_PORT, annotated_flow(a).sock);
	if (f->f->peer.n && takes_peer(f->f, p->addr, p->port))
		add(f, FOUND_PEER, annotated_flow(a).sock);
}

bool filter_begin(struct filter *f)
{
	return found_of(f);
}

bool filter_follow(struct filter *f, struct core *c)
{
	struct filter_found *found = found_of(f);

	if (!found)
		return false;
	found->core = c;
	facts_listen(core_facts(c), FACT_call, on_call, found);
	facts_listen(core_facts(c), FACT_wait, on_wait, found);
	return true;
}

bool filter_learn(struct filter *f, struct core *c)
{
	if (!filter_follow(f, c))
		return false;
	core_listen(c, on_event, f->found);
	return true;
}

/* Returns whether an event may say who a socket is, or who uses it. */
static bool identifies(unsigned int id)
{
	return mg_events_have(MG_EVENTS(sock_new, sock_addr, sock_open, sock_state, sock_peer,
				      sys_enter, sys_exit),
		id);
}

void filter_see(struct filter *f, const struct mg_event *e, const struct annotation *a)
{
	struct fact_flow tx, rx;
	uint64_t sock;

	on_event(f->found, e, a);
	if (!a->sock || !identifies(e->id))
		return;
	sock = annotated_flow(a).sock;
	if (found_has(f->found, FOUND_SOCKET, sock) && found_has(f->found, FOUND_USED, sock))
		return;
	if (core_flow(f->found->core, sock, false, &tx) &&
		core_flow(f->found->core, sock, true, &rx))
		on_flow(f->found, &tx, &rx);
}

bool filter_learned(struct filter *f, struct core *c)
{
	const struct filter_found *found = f->found;

	core_each_flow(c, on_flow, f->found);
	if (f->port.n && !f->peer.n)
		add_listeners(f->found);
	if (f->thread.n && !HASH_COUNT(found->set[FOUND_SEEN]))
		return false;
	if (filter_chooses_sockets(f) && !HASH_COUNT(found->set[FOUND_SOCKET]))
		return false;
	if (f->process.n && !HASH_COUNT(found->set[FOUND_PROCESS]) &&
		!HASH_COUNT(found->set[FOUND_USED]))
		return false;
	return true;
}
