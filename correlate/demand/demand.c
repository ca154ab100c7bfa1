/* SPDX-License-Identifier: MIT */
/* Computes the chosen statistics for each layer or pair of layers of a flow. */
#include <math.h>
#include <string.h>

#include "rows.h"

/*
 * For each statistic: the function for a layer, for a pair of layers, or both, and the keys of a
 * row, which are null where it is refused.
 */
/* clang-format off */
#define LAYERS_0(key) NULL
#define LAYERS_1(key) row_##key
#define PAIRS_0(key) NULL
#define PAIRS_1(key) pair_##key
#define KEY(type, name, child, doc) #name " "
#define FIGURE(NAME, key, name, layers, pairs, ...) \
	[DEMAND_##NAME] = {LAYERS_##layers(key), PAIRS_##pairs(key), MG_DEMAND_##key(KEY)},
#define WHOLE_FLOW(key) .flow = whole_##key
#define WHOLE_ALL(key)  .all = whole_##key
#define WHOLE(NAME, key, name, OF, ...) [DEMAND_##NAME] = {WHOLE_##OF(key)},
static const struct {
	layer_row *layer;
	pair_row *pair;
	const char *keys;
	flow_object *flow;
	all_object *all;
} figures[DEMAND_FIGURES] = {MG_DEMAND_STATISTICS(FIGURE) MG_DEMAND_WHOLE(WHOLE)};
/* clang-format on */

static void fill_up(json_t *row, const char *keys)
{
	char key[32];

	for (; *keys; keys += strspn(keys, " ")) {
		size_t len = strcspn(keys, " ");

		memcpy(key, keys, len);
		key[len] = 0;
		keys += len;
		if (!json_object_get(row, key))
			json_object_set_new(row, key, json_null());
	}
}

/* Completes a row with the coverage of its least observed layer. */
static void finish(
	json_t *row, double coverage, double time_coverage, const char *refused, const char *keys)
{
	row_set(row, "coverage", coverage);
	row_set(row, "time_coverage", time_coverage);
	json_object_set_new(row, "starred",
		json_boolean(coverage < COVERS_MOST || time_coverage < COVERS_MOST));
	json_object_set_new(row, "refused", refused ? json_string(refused) : json_null());
	fill_up(row, keys);
}

static const double *parameters(const struct layers *l, int figure)
{
	return l->r->demand->parameter[figure];
}

static json_t *layer_rows(const struct layers *l, int figure)
{
	json_t *rows = json_array();

	for (int i = 0; i < l->n; i++) {
		const struct layer *of = &l->v[i];
		const char *refused = layer_refused(l, of);
		json_t *row = json_pack("{s:s}", "layer", of->name);

		if (!refused)
			refused = figures[figure].layer(l, of, parameters(l, figure), row);
		finish(row, of->coverage, of->time_coverage, refused, figures[figure].keys);
		json_array_append_new(rows, row);
	}
	return rows;
}

static void add_pair(json_t *rows, const struct layers *l, int figure, const struct layer *from,
	const struct layer *to)
{
	const char *refused = layer_refused(l, from) ?: layer_refused(l, to);
	json_t *row = json_pack("{s:s, s:s}", "from", from->name, "to", to->name);

	if (!refused)
		refused = figures[figure].pair(l, from, to, parameters(l, figure), row);
	finish(row, fmin(from->coverage, to->coverage),
		fmin(from->time_coverage, to->time_coverage), refused, figures[figure].keys);
	json_array_append_new(rows, row);
}

/*
 * Returns the rows of pairs: the pair of which modulation is computed, then each layer with the
 * next.
 */
static json_t *pair_rows(const struct layers *l, int figure)
{
	const struct layer *from = layers_find(l, l->flow->flow.rx ? "peer_call" : "call");
	const struct layer *to = layers_find(l, l->flow->flow.rx ? "call" : "device");
	json_t *rows = json_array();

	if (from && to)
		add_pair(rows, l, figure, from, to);
	for (int i = 0; i + 1 < l->n; i++)
		if (&l->v[i] != from || &l->v[i + 1] != to)
			add_pair(rows, l, figure, &l->v[i], &l->v[i + 1]);
	return rows;
}

json_t *demand_of_flow(const struct report *r, const struct fact_flow *f)
{
	json_t *j = json_object();
	struct layers l;

	if (layers_init(&l, r, f)) {
		layers_free(&l);
		return j;
	}
	for (int i = 0; i < DEMAND_FIGURES; i++) {
		json_t *rows;

		if (!(r->demand->figures & 1u << i) || figures[i].all)
			continue;
		if (figures[i].flow) {
			json_object_set_new(j, demand_key(i), figures[i].flow(r, f));
			continue;
		}
		rows = json_object();
		if (figures[i].layer)
			json_object_set_new(rows, "layers", layer_rows(&l, i));
		if (figures[i].pair)
			json_object_set_new(rows, "pairs", pair_rows(&l, i));
		json_object_set_new(j, demand_key(i), rows);
	}
	layers_free(&l);
	return j;
}

json_t *demand_of_all(const struct report *r)
{
	json_t *j = json_object();

	for (int i = 0; i < DEMAND_FIGURES; i++)
		if (r->demand->figures & 1u << i && figures[i].all)
			json_object_set_new(j, demand_key(i), figures[i].all(r));
	return j;
}
