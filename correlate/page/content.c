/* SPDX-License-Identifier: MIT */
#include "page/content.h"

#include <stdlib.h>
#include <string.h>

#include "figures/cause_table.h"
#include "figures/figures.h"
#include "page/packed.h"
#include "render/report.h"

/* Threads of a page: those with the most waits. */
#define THREADS 32

struct chosen {
	struct track **at;
	size_t n;
	size_t threads; /* of all tracks */
};

/* Returns the place of a socket among the flows of a page; PAGE_FLOWS if it has no charts. */
static size_t place_of(const struct report *r, uint64_t sock)
{
	size_t i = 0;

	while (i < PAGE_FLOWS && i < r->flow_count && r->flows[i].sock != sock)
		i++;
	return i < r->flow_count ? i : PAGE_FLOWS;
}

static bool is_of_flow(const struct track *t)
{
	return t->key.kind != TRACK_WAIT && t->key.kind != TRACK_EXCHANGE;
}

static int by_kind(const void *a, const void *b)
{
	const struct track *x = *(struct track *const *)a, *y = *(struct track *const *)b;

	if (x->key.kind != y->key.kind)
		return x->key.kind - y->key.kind;
	if (x->key.kind == TRACK_WAIT && x->seen != y->seen)
		return x->seen < y->seen ? 1 : -1;
	return memcmp(&x->key, &y->key, sizeof(x->key));
}

static struct chosen choose(const struct page *p, const struct report *r)
{
	struct chosen c = {.at = mg_calloc(HASH_COUNT(p->tracks.table) + 1u, sizeof(*c.at))};
	size_t all = 0, kept = 0;

	for (struct track *t = p->tracks.table; t && c.at; t = t->hh.next)
		if (!is_of_flow(t) || place_of(r, t->key.of) < PAGE_FLOWS)
			c.at[all++] = t;
	if (all)
		qsort(c.at, all, sizeof(*c.at), by_kind);
	for (size_t i = 0; i < all; i++) {
		bool is_thread = c.at[i]->key.kind == TRACK_WAIT;

		c.threads += is_thread;
		if (!is_thread || c.threads <= THREADS)
			c.at[kept++] = c.at[i];
	}
	c.n = kept;
	return c;
}

/* ---- the list ---- */

static json_t *columns(const struct track_form *f)
{
	static const char *const types[] = {"time", "span", "count", "text"};
	json_t *all = json_array();

	for (int i = 0; i < f->columns; i++)
		json_array_append_new(all,
			json_pack("{s:s, s:s}", "name", f->column[i], "type", types[f->type[i]]));
	return all;
}

static const char *layer_of(const struct track *t)
{
#define NAME(ID, name, label) name,
	static const char *const names[] = {MG_TX_LAYERS(NAME) MG_RX_LAYERS(NAME)};
#undef NAME
	return names[t->key.sub];
}

static json_t *described(const struct track *t)
{
	const struct track_form *f = track_form(t->key.kind);
	json_t *j = json_object();
	char flow[32];

	json_object_set_new(j, "kind", json_string(f->name));
	if (t->key.kind == TRACK_WAIT)
		json_object_set_new(j, "thread", json_integer((json_int_t)t->key.of));
	if (t->key.kind == TRACK_WAIT || t->key.kind == TRACK_EXCHANGE)
		json_object_set_new(
			j, "name", json_integer(t->key.kind == TRACK_WAIT ? t->name : t->key.sub));
	if (is_of_flow(t)) {
		flow_name(flow, t->key.of, t->key.rx);
		json_object_set_new(j, "flow", json_string(flow));
	}
	if (t->key.kind == TRACK_SIZE)
		json_object_set_new(j, "layer", json_string(layer_of(t)));
	json_object_set_new(j, "rows", json_integer((json_int_t)t->n));
	json_object_set_new(j, "seen", json_integer((json_int_t)t->seen));
	json_object_set_new(j, "columns", columns(f));
	return j;
}

static json_t *described_all(const struct chosen *c)
{
	json_t *all = json_array();

	for (size_t i = 0; i < c->n; i++)
		json_array_append_new(all, described(c->at[i]));
	return all;
}

/* ---- distributions ---- */

static void add_quantile(
	json_t *shares, json_t *values, const struct dist *d, double q, double unit)
{
	json_array_append_new(shares, json_real(q));
	json_array_append_new(values, json_real(dist_quantile(d, q) * unit));
}

/* Returns quantiles of a distribution, times `unit`; null if it is empty. */
static json_t *quantiles(const struct dist *d, double unit)
{
	static const double outer[] = {0.001, 0.002, 0.005};
	json_t *shares, *values;

	if (!d->n)
		return json_null();
	shares = json_array();
	values = json_array();
	for (int i = 0; i < 3; i++)
		add_quantile(shares, values, d, outer[i], unit);
	for (int i = 1; i < 100; i++)
		add_quantile(shares, values, d, i / 100.0, unit);
	for (int i = 2; i >= 0; i--)
		add_quantile(shares, values, d, 1 - outer[i], unit);
	add_quantile(shares, values, d, 1, unit);
	return json_pack(
		"{s:I, s:o, s:o}", "n", (json_int_t)d->n, "shares", shares, "values", values);
}

/* Returns the sizes and spacings of each layer of a flow. */
static void add_distributions(json_t *to, const struct page *p, const struct report *r, size_t at)
{
	const struct fact_flow *f = report_flow(r, at);
	const struct flow_measures *m = measures(f);
	const struct track *t;
	char flow[32];

	flow_name(flow, f->flow.sock, f->flow.rx);
	for (int i = 0; i < layer_count(f); i++) {
		struct track_key key = {.of = f->flow.sock,
			.sub = FACT_LAYER(f->flow.rx, i),
			.kind = TRACK_SIZE,
			.rx = f->flow.rx};

		HASH_FIND(hh, p->tracks.table, &key, sizeof(key), t);
		if (t)
			json_array_append_new(to,
				json_pack("{s:s, s:s, s:o, s:o}", "flow", flow, "layer",
					layer_name(f, i), "sizes", quantiles(&t->values, 1),
					"spacings", quantiles(&m->units[i].gaps, report_ns(r, 1))));
	}
}

static json_t *distributions(const struct page *p, const struct report *r)
{
	json_t *all = json_array();

	for (size_t i = 0; i < r->flow_count && i < PAGE_FLOWS; i++)
		add_distributions(all, p, r, i);
	return all;
}

/* ---- words ---- */

static json_t *words(void)
{
#define WORD(ID, name, label, ...) json_object_set_new(j, name, json_string(label));
	json_t *stages = json_object(), *causes = json_object(), *reasons = json_object();
	json_t *timed = json_object(), *j;

	j = stages;
	MG_TX_STAGES(WORD)
	MG_RX_STAGES(WORD)
	json_object_set_new(j, "ip_to_socket", json_string("IP to socket queue"));
	j = causes;
	MG_CAUSES(WORD)
	j = reasons;
	MG_WHY_REASONS(WORD)
	j = timed;
	MG_TIMED_STAGES(WORD)
	json_object_set_new(j, "at_most", json_string("total, at most"));
#undef WORD
	return json_pack("{s:o, s:o, s:o, s:o}", "stages", stages, "causes", causes, "reasons",
		reasons, "timed", timed);
}

json_t *content_json(struct page *p, const struct report *r)
{
	struct chosen c = choose(p, r);
	json_t *j = json_pack("{s:I, s:I, s:i, s:I, s:i, s:I, s:o, s:o, s:o, s:o}", "begin_ns",
		(json_int_t)r->recording.first, "end_ns", (json_int_t)r->recording.last,
		"flows_most", PAGE_FLOWS, "flows", (json_int_t)r->flow_count, "threads_most",
		THREADS, "threads", (json_int_t)c.threads, "tracks", described_all(&c),
		"distributions", distributions(p, r), "words", words(), "texts",
		texts_json(&p->texts));

	free(c.at);
	return j;
}

/* ---- numbers ---- */

/* Returns a number of which small ones of either sign are small. */
static uint64_t folded(int64_t n)
{
	return n < 0 ? 2 * (uint64_t) - (n + 1) + 1 : 2 * (uint64_t)n;
}

static void pack_times(struct packed *to, const struct track *t, int columns, struct core *c)
{
	uint64_t before = 0;
	struct fact_recording r;

	core_recording(c, &r);
	before = r.first;
	for (size_t i = 0; i < t->n; i++) {
		uint64_t now = core_ns(c, t->row[i * (size_t)columns]);

		packed_add(to, folded((int64_t)(now - before)));
		before = now;
	}
}

/* Returns a value for a page, one more than it is; 0 if it is not known. */
static uint64_t value(enum track_type type, uint64_t of, uint64_t first, struct core *c)
{
	if (of == FACT_NONE || (type == TRACK_TIME && of < first))
		return 0;
	if (type == TRACK_TIME)
		return core_ns(c, of) - core_ns(c, first) + 1;
	if (type == TRACK_SPAN)
		return (uint64_t)((double)of * 1e9 / core_hz(c) + 0.5) + 1;
	return of + 1;
}

static void pack(struct packed *to, const struct track *t, struct core *c)
{
	const struct track_form *f = track_form(t->key.kind);

	pack_times(to, t, f->columns, c);
	for (int i = 1; i < f->columns; i++)
		for (size_t k = 0; k < t->n; k++) {
			const uint64_t *row = t->row + k * (size_t)f->columns;

			packed_add(to, value(f->type[i], row[i], row[0], c));
		}
}

void content_tracks(struct page *p, const struct report *r, FILE *to)
{
	struct chosen c = choose(p, r);

	for (size_t i = 0; i < c.n; i++) {
		struct packed numbers = {0};

		pack(&numbers, c.at[i], p->core);
		fprintf(to, "<script type=\"application/octet-stream\" id=\"track-%zu\">", i);
		packed_write(&numbers, to);
		fputs("</script>\n", to);
	}
	free(c.at);
}
