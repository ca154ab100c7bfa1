/* SPDX-License-Identifier: MIT */
#include "render/report.h"
#include "render/table.h"
#include "reported.h"

static char why[400];

/* Returns the report with these statistics; frees the core. */
static json_t *demanded(struct core *c, const char *figures)
{
	struct demand demand;
	struct report r;
	json_t *j;

	assert_int_equal(demand_parse(&demand, figures, why, sizeof(why)), 0);
	core_finish(c);
	assert_int_equal(report_init(&r, c, NULL, "test"), 0);
	r.demand = &demand;
	j = report_json(&r, NULL);
	report_free(&r);
	core_free(c);
	return j;
}

static void begin_kept(struct core *c, size_t memory)
{
	feed_begin(c, ALL_HOOKS);
	figures_keep_series(c, memory);
	ev_opened(c, 10, A, 999, 4999);
}

/*
 * Returns the report of both ends of a connection: 20 writes of 500 bytes, one every 1,000 ns, read
 * 104 ns later and more.
 */
static json_t *of_connection(const char *figures)
{
	struct core c;

	begin_kept(&c, 1 << 20);
	ev_opened(&c, 20, B, 4999, 999);
	for (uint32_t i = 0; i < TRANSFERS; i++)
		transfer(&c, i, 10000 + i * 1000, 10100 + i * 1010);
	return demanded(&c, figures);
}

static const json_t *row(const json_t *j, const char *figure, const char *rows, const char *name)
{
	const json_t *list;
	char path[100];
	size_t i;
	json_t *r;

	snprintf(path, sizeof(path), "flows.0.on_demand.%s.%s", figure, rows);
	list = at(j, path);
	json_array_foreach (list, i, r) {
		const char *layer = json_string_value(json_object_get(r, "layer"));

		if (layer && strcmp(layer, name) == 0)
			return r;
	}
	fail();
	return NULL;
}

static void nothing_is_printed_unasked(void **unused)
{
	json_t *j = reported_connection();

	(void)unused;
	assert_null(json_object_get(at(j, "flows.0"), "on_demand"));
	assert_null(json_object_get(j, "on_demand"));
	assert_non_null(json_object_get(at(j, "flows.0.modulation"), "goodput_ratio"));
	json_decref(j);
}

static void every_figure_has_its_fields(void **unused)
{
	json_t *j = of_connection("all");

	(void)unused;
	assert_fields(j, "flows.0.on_demand",
		"ks bursts idc variance_time hurst spectrum coherence contract gcra goodput");
	assert_fields(j, "on_demand.jain.tx", "index n layer from_s to_s flows refused");
	assert_fields(j, "flows.0.on_demand.ks.pairs.0",
		"from to n_from n_to sup at_ns coverage time_coverage starred refused");
	assert_fields(j, "flows.0.on_demand.bursts.layers.0",
		"layer gap_ms bursts left_out max_at_least units bytes duration_ns refused");
	assert_fields(j, "flows.0.on_demand.hurst.layers.0",
		"layer H H_error octave_from octave_to alpha chi2_p first_half second_half "
		"variance_time refused");
	assert_fields(j, "flows.0.on_demand.contract.layers.0",
		"layer counted at_least mean_rate_bit_s buckets rate_for_bucket_bit_s");
	assert_fields(j, "flows.0.on_demand.gcra.layers.0",
		"layer cells mean_cells_s line_cells_s pcr_cells_s cdvt_ns contracts");
	json_decref(j);
}

static void the_pair_of_modulation_comes_first(void **unused)
{
	json_t *j = of_connection("ks");

	(void)unused;
	assert_string_equal(json_string_value(at(j, "flows.0.on_demand.ks.pairs.0.from")), "call");
	assert_string_equal(json_string_value(at(j, "flows.0.on_demand.ks.pairs.0.to")), "device");
	assert_string_equal(json_string_value(at(j, "flows.0.on_demand.ks.pairs.1.to")), "copy");
	assert_number_at(j, "flows.0.on_demand.ks.pairs.0.sup", 0);
	assert_number_at(j, "flows.0.on_demand.ks.pairs.0.n_to", TRANSFERS - 1);
	/* received: 1,000 ns apart when sent, 1,010 when read */
	assert_string_equal(
		json_string_value(at(j, "flows.1.on_demand.ks.pairs.0.from")), "peer_call");
	assert_number_at(j, "flows.1.on_demand.ks.pairs.0.sup", 1);
	assert_number_at(j, "flows.1.on_demand.ks.pairs.0.at_ns", 1000);
	json_decref(j);
}

static void parameters_reach_their_figure(void **unused)
{
	json_t *j = of_connection("bursts:gap=0.0005,contract:rate=4Gbit:bucket=750");

	(void)unused;
	assert_number_at(j, "flows.0.on_demand.bursts.layers.0.bursts", TRANSFERS);
	assert_number_at(j, "flows.0.on_demand.contract.layers.0.buckets.0.bucket_bytes", 500);
	/* 750 bytes hold one and a half writes: 19 writes in 19,000 ns less what is left, 250 */
	assert_near(json_number_value(
			    at(j, "flows.0.on_demand.contract.layers.0.rate_for_bucket_bit_s")),
		(19 * 500 - 250) * 8 / 19e-6, 0.1);
	json_decref(j);
	j = of_connection("bursts:gap=0.002");
	assert_number_at(j, "flows.0.on_demand.bursts.layers.0.bursts", 1);
	assert_number_at(j, "flows.0.on_demand.bursts.layers.0.bytes.mean", 10000);
	assert_number_at(j, "flows.0.on_demand.bursts.layers.0.duration_ns.max", 19000);
	json_decref(j);
}

static void retransmission_counts_on_the_wire_only(void **unused)
{
	json_t *j;
	struct core c;

	(void)unused;
	begin_kept(&c, 1 << 20);
	feed_send(&c, SENDER, A, 1000, 500, 10000, 1);
	ev_packet(&c, 20000, SENDER, MG_EVENT_dev_xmit, A, 1000, 500);
	feed_send(&c, SENDER, A, 1500, 500, 30000, 1);
	j = demanded(&c, "ks,contract:rate=8");
	/* call and device: one spacing each; in the bucket all three frames are */
	assert_number_at(j, "flows.0.on_demand.ks.pairs.0.n_to", 1);
	assert_near(json_number_value(json_object_get(
			    json_array_get(json_object_get(row(j, "contract", "layers", "device"),
						   "buckets"),
				    0),
			    "bucket_bytes")),
		3 * 554, 1e-3);
	json_decref(j);
}

/* The second of three writes a millisecond apart falls into a gap of the device's events. */
static void gaps_take_what_they_touch(void **unused)
{
	struct mg_event e = feed_event(MG_EVENT_lost, 5000000, 0);
	const json_t *device;
	struct core c;
	json_t *j;

	(void)unused;
	begin_kept(&c, 1 << 20);
	for (uint32_t i = 0; i < 4; i++) {
		if (i == 3) {
			e.lost.count = 1;
			e.lost.from_ns = 2100000;
			e.lost.to_ns = 2200000;
			e.lost.cpu = -1;
			e.lost.reason = MG_LOST_SKIPPED;
			strcpy(e.lost.producer, "dev_xmit");
			e.time_ns = e.cycles = 3900000;
			feed(&c, &e);
		}
		feed_send(&c, SENDER, A, 1000 + 500 * i, 500, 1000000 * (i + 1), 1);
	}
	j = demanded(&c, "ks,bursts,hurst,contract");
	assert_number_at(j, "flows.0.on_demand.ks.pairs.0.n_from", 3);
	assert_number_at(j, "flows.0.on_demand.ks.pairs.0.n_to", 2);
	device = row(j, "contract", "layers", "device");
	assert_true(json_is_true(json_object_get(device, "at_least")));
	assert_true(json_is_true(json_object_get(device, "starred")));
	assert_true(
		json_is_false(json_object_get(row(j, "contract", "layers", "call"), "at_least")));
	assert_near(json_number_value(json_object_get(device, "time_coverage")), 1 - 0.1 / 3, 1e-4);
	assert_string_equal(
		json_string_value(json_object_get(row(j, "hurst", "layers", "device"), "refused")),
		"events of this layer are missing");
	json_decref(j);
}

static void layers_that_saw_too_little_are_refused(void **unused)
{
	const json_t *device;
	struct core c;
	json_t *j;

	(void)unused;
	begin_kept(&c, 1 << 20);
	feed_send(&c, SENDER, A, 1000, 500, 10000, 1);
	for (uint32_t i = 1; i < 8; i++) { /* the device does not see the last one */
		uint64_t t = 10000 + 1000 * i;

		if (i < 7) {
			feed_send(&c, SENDER, A, 1000 + 500 * i, 500, t, 1);
			continue;
		}
		ev_enter(&c, t, SENDER, A, MG_SYS_sendto, 1000 + 500 * i);
		ev_send(&c, t + 1, SENDER, A, 1000 + 500 * i, 500, 1000 + 500 * i);
		ev_exit(&c, t + 2, SENDER, A, MG_SYS_sendto, 1500 + 500 * i, 500);
		ev_app(&c, SENDER, MG_FN_send, t, t + 3, 500);
		ev_ack(&c, t + 4, A, 1500 + 500 * i);
	}
	j = demanded(&c, "ks,bursts,goodput");
	device = row(j, "bursts", "layers", "device");
	assert_string_equal(json_string_value(json_object_get(device, "refused")),
		"less than 90 % of the bytes were seen at this layer");
	assert_true(json_is_null(json_object_get(device, "bursts")));
	assert_true(json_is_null(json_object_get(row(j, "bursts", "layers", "call"), "refused")));
	assert_null_at(j, "flows.0.on_demand.ks.pairs.0.sup");
	assert_null_at(j, "flows.0.on_demand.goodput.ratio");
	json_decref(j);
}

static void too_long_is_refused(void **unused)
{
	struct core c;
	json_t *j;

	(void)unused;
	begin_kept(&c, 4096);
	for (uint32_t i = 0; i < 300; i++)
		feed_send(&c, SENDER, A, 1000 + 500 * i, 500, 10000 + 1000 * i, 1);
	j = demanded(&c, "bursts");
	assert_non_null(strstr(
		json_string_value(json_object_get(row(j, "bursts", "layers", "driver"), "refused")),
		"too long"));
	json_decref(j);
}

static void too_fine_bins_are_refused(void **unused)
{
	struct core c;
	json_t *j;

	(void)unused;
	begin_kept(&c, 1 << 20);
	for (uint32_t i = 0; i < 3; i++) /* in 70 s */
		feed_send(&c, SENDER, A, 1000 + 500 * i, 500, 10000 + 35000000000 * i, 1);
	j = demanded(&c, "idc,spectrum:bin=1000,coherence:bin=0.001");
	assert_non_null(strstr(
		json_string_value(json_object_get(row(j, "idc", "layers", "call"), "refused")),
		"choose larger ones"));
	assert_null_at(j, "flows.0.on_demand.spectrum.layers.0.refused");
	assert_non_null(
		strstr(json_string_value(at(j, "flows.0.on_demand.coherence.pairs.0.refused")),
			"16 million"));
	json_decref(j);
}

static void fairness_is_of_all_flows(void **unused)
{
	struct core c;
	json_t *j;

	(void)unused;
	begin_kept(&c, 1 << 20);
	ev_opened(&c, 20, B, 4999, 999);
	for (uint32_t i = 0; i < 30; i++) {
		feed_send(&c, SENDER, A, 1000 + 500 * i, 500, 10000 + 1000 * i, 1);
		if (i % 3 == 0)
			feed_send(&c, SENDER, B, 5000 + 166 * i, 500, 10500 + 1000 * i, 1);
	}
	j = demanded(&c, "jain:from=0.00001:to=0.00004");
	assert_number_at(j, "on_demand.jain.tx.n", 2);
	assert_near(json_number_value(at(j, "on_demand.jain.tx.index")), 16. / 20, 0.05);
	assert_null_at(j, "on_demand.jain.rx.index");
	assert_string_equal(
		json_string_value(at(j, "on_demand.jain.rx.refused")), "there are not two flows");
	json_decref(j);
}

/* Returns the report of such a connection as text. */
static char *printed(const char *figures)
{
	struct demand demand;
	struct report r;
	struct core c;
	char *text = NULL;
	size_t size;
	FILE *to;

	begin_kept(&c, 1 << 20);
	ev_opened(&c, 20, B, 4999, 999);
	for (uint32_t i = 0; i < TRANSFERS; i++)
		transfer(&c, i, 10000 + i * 1000, 10100 + i * 1010);
	core_finish(&c);
	assert_int_equal(demand_parse(&demand, figures, why, sizeof(why)), 0);
	assert_int_equal(report_init(&r, &c, NULL, "test"), 0);
	r.demand = &demand;
	to = open_memstream(&text, &size);
	text_set_unicode(false);
	report_text(&r, to, NULL, false);
	fclose(to);
	text_set_unicode(true);
	report_free(&r);
	core_free(&c);
	return text;
}

static void text_has_what_json_has(void **unused)
{
	char *text = printed("all,bursts:gap=0.0005");

	(void)unused;
	assert_non_null(strstr(text, "On demand, flow 1/tx"));
	assert_non_null(strstr(text, "call->device          19        19      0.000"));
	assert_non_null(
		strstr(text, "Hurst parameter\n    not available: the flow has fewer than"));
	assert_non_null(strstr(text, "Fairness (Jain)\n  sent: not available"));
	free(text);
}

static void is_reported(const char *key, const char *name, bool layers, bool pairs)
{
	json_t *j = of_connection(name);
	char *text = printed(name), path[100];
	const char *heading = strstr(text, "On demand, flow 1/tx\n");
	const json_t *rows;

	snprintf(path, sizeof(path), "flows.0.on_demand.%s", key);
	rows = at(j, path);
	assert_int_equal(json_array_size(json_object_get(rows, "layers")) > 0, layers);
	assert_int_equal(json_array_size(json_object_get(rows, "pairs")) > 0, pairs);
	assert_non_null(heading);
	assert_int_equal(strncmp(strchr(heading, '\n'), "\n  ", 3), 0); /* its title */
	free(text);
	json_decref(j);
}

#define IS_REPORTED(NAME, key, name, layers, pairs, ...) is_reported(#key, name, layers, pairs);
static void every_row_of_the_table_is_reported(void **unused)
{
	(void)unused;
	MG_DEMAND_STATISTICS(IS_REPORTED)
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nothing_is_printed_unasked),
		cmocka_unit_test(every_figure_has_its_fields),
		cmocka_unit_test(the_pair_of_modulation_comes_first),
		cmocka_unit_test(parameters_reach_their_figure),
		cmocka_unit_test(retransmission_counts_on_the_wire_only),
		cmocka_unit_test(gaps_take_what_they_touch),
		cmocka_unit_test(layers_that_saw_too_little_are_refused),
		cmocka_unit_test(too_long_is_refused),
		cmocka_unit_test(too_fine_bins_are_refused),
		cmocka_unit_test(fairness_is_of_all_flows),
		cmocka_unit_test(text_has_what_json_has),
		cmocka_unit_test(every_row_of_the_table_is_reported),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
