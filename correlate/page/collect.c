/* SPDX-License-Identifier: MIT */
/* From facts to the rows of charts. */
#include "page/collect.h"

#include <string.h>

static const char no_word[] = "not recorded";

static bool is_taken(const struct page *p, enum fact kind, const void *fact)
{
	return !p->filter || filter_takes_fact(p->filter, p->core, kind, fact);
}

static struct track *flow_track(
	struct page *p, enum track_kind kind, const struct fact_flow_id *f, uint32_t sub)
{
	struct track_key key = {.of = f->sock, .sub = sub, .kind = kind, .rx = f->rx};

	return track_of(&p->tracks, &key);
}

/* Adds a point of a line with one value, if that is known. */
static void add_value(struct page *p, enum track_kind kind, const struct fact_flow_id *f,
	uint64_t time, uint64_t value)
{
	struct track *t = value != FACT_NONE ? flow_track(p, kind, f, 0) : NULL;

	if (t)
		track_add(&p->tracks, t, (uint64_t[TRACK_COLUMNS]){time, value});
}

static void on_packet(void *arg, const void *fact)
{
	const struct fact_packet *f = fact;
	struct page *p = arg;
	struct track *t =
		is_taken(p, FACT_packet, f) ? flow_track(p, TRACK_SIZE, &f->flow, f->layer) : NULL;

	if (!t)
		return;
	track_add(&p->tracks, t, (uint64_t[TRACK_COLUMNS]){f->time, f->payload, f->wire});
	if (!f->payload || f->fresh) /* as the figures of a layer count them */
		dist_add(&t->values, f->payload, 1);
}

static void on_buffer(void *arg, const void *fact)
{
	const struct fact_buffer *f = fact;

	if (!is_taken(arg, FACT_buffer, f))
		return;
	add_value(arg, TRACK_BUFFER, &f->flow, f->time, f->bytes);
	add_value(arg, TRACK_UNSENT, &f->flow, f->time, f->unsent);
}

/* A slow-start threshold at the largest value says that there is none yet. */
#define NO_SSTHRESH 0x7fffffff

static void on_state(void *arg, const void *fact)
{
	const struct fact_state *f = fact;

	if (!is_taken(arg, FACT_state, f))
		return;
	add_value(arg, TRACK_CWND, &f->flow, f->time, f->cwnd);
	if (f->ssthresh != NO_SSTHRESH)
		add_value(arg, TRACK_SSTHRESH, &f->flow, f->time, f->ssthresh);
	add_value(arg, TRACK_SRTT, &f->flow, f->time, f->srtt_us);
	add_value(arg, TRACK_RTO, &f->flow, f->time, f->rto_us);
	add_value(arg, TRACK_SND_WND, &f->flow, f->time, f->snd_wnd);
	add_value(arg, TRACK_RCV_WND, &f->flow, f->time, f->rcv_wnd);
}

static void on_retransmit(void *arg, const void *fact)
{
	const struct fact_retransmit *f = fact;
	struct page *p = arg;
	struct track *t;

	if (f->result < 0 || !is_taken(p, FACT_retransmit, f))
		return;
	t = flow_track(p, TRACK_RETRANSMIT, &f->flow, 0);
	if (t)
		track_add(
			&p->tracks, t, (uint64_t[TRACK_COLUMNS]){f->time, f->length, f->segments});
}

static void on_drop(void *arg, const void *fact)
{
	const struct fact_drop *f = fact;
	struct page *p = arg;
	struct track *t;
	char why[160];

	if (!f->flow.sock || !is_taken(p, FACT_drop, f))
		return;
	t = flow_track(p, TRACK_DROP, &f->flow, 0);
	snprintf(why, sizeof(why), "%s%s%s", f->reason ? f->reason : no_word,
		f->location ? " in " : "", f->location ? f->location : "");
	if (t)
		track_add(&p->tracks, t,
			(uint64_t[TRACK_COLUMNS]){
				f->time, f->payload, f->segments, texts_number(&p->texts, why)});
}

static void on_exchange(void *arg, const void *fact)
{
	const struct fact_exchange *f = fact;
	bool server = f->role == ROLE_SERVER;
	const struct fact_address *at = server ? &f->local : &f->remote;
	char address[64] = "a UNIX socket", name[128];
	struct page *p = arg;
	struct track_key key = {.kind = TRACK_EXCHANGE};
	struct track *t;

	if (!exchange_is_sure(f) || f->to_reply == FACT_NONE || !is_taken(p, FACT_exchange, f))
		return;
	if (at->addr)
		address_text(address, at->addr, at->port);
	snprintf(name, sizeof(name), "%s, %s %s", f->program ? f->program : "?",
		server ? "server at" : "client of", address);
	key.sub = texts_number(&p->texts, name);
	t = track_of(&p->tracks, &key);
	if (t)
		track_add(&p->tracks, t,
			(uint64_t[TRACK_COLUMNS]){f->request_last, f->to_reply,
				texts_number(&p->texts, flow_id(f->request)), f->ordinal});
}

/* Writes what a thread waited for, "system_call read, 10.0.0.1:80". */
static void why_waited(const struct fact_wait *f, char *to, size_t size)
{
	const struct fact_desc *d = &fact_table[FACT_wait];
	const char *in = no_word;
	char remote[66] = "";

	if (f->why == WAIT_PREEMPTED || f->why == WAIT_THROTTLED) {
		snprintf(to, size, "%s", f->why == WAIT_PREEMPTED ? "preempted" : "throttled");
		return;
	}
	for (int i = 0; i < d->columns; i++)
		if (strcmp(d->column[i].name, "blocked_in") == 0 &&
			f->blocked_in < d->column[i].count)
			in = d->column[i].words[f->blocked_in];
	if (f->remote.addr) {
		memcpy(remote, ", ", 2);
		address_text(remote + 2, f->remote.addr, f->remote.port);
	}
	snprintf(to, size, "%s%s%s%s%s", in, f->call ? " " : "", f->call ? f->call : "", remote,
		f->io == 1 ? ", disk" : "");
}

static void on_wait(void *arg, const void *fact)
{
	const struct fact_wait *f = fact;
	struct page *p = arg;
	struct track_key key = {.kind = TRACK_WAIT, .of = f->tid};
	struct track *t;
	char text[160];

	if (!f->begin || !f->end || !is_taken(p, FACT_wait, f))
		return;
	t = track_of(&p->tracks, &key);
	if (!t)
		return;
	snprintf(text, sizeof(text), "%s %llu", f->program ? f->program : "?",
		(unsigned long long)f->tid);
	t->name = texts_number(&p->texts, text);
	why_waited(f, text, sizeof(text));
	track_add(&p->tracks, t,
		(uint64_t[TRACK_COLUMNS]){
			f->begin, f->woken, f->end, texts_number(&p->texts, text)});
}

void page_listen(struct page *p, struct core *c, const struct filter *filter)
{
	struct facts *f = core_facts(c);

	*p = (struct page){.core = c, .filter = filter, .tracks = {.most = PAGE_ROWS}};
	facts_listen(f, FACT_packet, on_packet, p);
	facts_listen(f, FACT_buffer, on_buffer, p);
	facts_listen(f, FACT_state, on_state, p);
	facts_listen(f, FACT_retransmit, on_retransmit, p);
	facts_listen(f, FACT_drop, on_drop, p);
	facts_listen(f, FACT_exchange, on_exchange, p);
	facts_listen(f, FACT_wait, on_wait, p);
}

void page_free(struct page *p)
{
	tracks_free(&p->tracks);
	texts_free(&p->texts);
}
