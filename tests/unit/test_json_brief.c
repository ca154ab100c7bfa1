/* SPDX-License-Identifier: MIT */
/* A report with more than a thousand flows prints most of them in brief. */
#include "render/report.h"
#include "reported.h"

#define CONNECTIONS 600 /* two flows with bytes each */

static void begin(struct core *c, uint32_t connections)
{
	feed_begin(c, ALL_HOOKS);
	for (uint32_t i = 0; i < connections; i++) {
		uint64_t client = 1000 + 2 * i, at = 1000 + i * 1000ull;

		ev_opened(c, at, client, 999, 4999 + i);
		ev_opened(c, at + 1, client + 1, 4999 + i, 999);
		feed_send(c, SENDER, client, 1000, 64, at + 10, 1);
		feed_segment(c, client + 1, 1000, 64, at + 100, 1);
		feed_recv(c, RECEIVER, client + 1, 1000, 64, at + 200, 1);
	}
	assert_int_equal(core_finish(c), 0);
}

/* Returns a report as it is printed. */
static json_t *printed_beside(const struct report *r, const struct json_beside *beside)
{
	char *text = NULL;
	size_t size;
	FILE *to = open_memstream(&text, &size);
	json_t *j;

	assert_non_null(to);
	report_json_print(r, beside, REPORT_DIGITS, to);
	fclose(to);
	j = json_loads(text, 0, NULL);
	assert_non_null(j);
	free(text);
	return j;
}

/* Returns its flows. */
static json_t *printed(const struct report *r)
{
	json_t *j = printed_beside(r, NULL), *flows = json_incref(json_object_get(j, "flows"));

	json_decref(j);
	return flows;
}

static size_t whole(const json_t *flows)
{
	const json_t *f;
	size_t i, n = 0;

	json_array_foreach (flows, i, f)
		n += json_object_get(f, "tcp") != NULL;
	return n;
}

static struct flow *flow_at(const struct report *r, size_t i)
{
	const struct flow_key *key = &r->flows[i];

	return key->rx ? rx_of(r->core, key->sock) : tx_of(r->core, key->sock);
}

static void all_beyond_a_thousand_but_eventful_ones_are_in_brief(void **unused)
{
	static struct core c;
	struct report r;
	json_t *flows;

	(void)unused;
	begin(&c, CONNECTIONS);
	assert_int_equal(report_init(&r, &c, NULL, "test"), 0);
	assert_int_equal(r.flow_count, 2 * CONNECTIONS);
	flow_at(&r, 1100)->drops.n = 1;
	for (size_t i = 1100; i < 2 * CONNECTIONS; i++)
		flow_at(&r, i)->use.calls = 1234567; /* counts have all their digits */
	flows = printed(&r);
	assert_int_equal(json_array_size(flows), 2 * CONNECTIONS);
	assert_int_equal(whole(flows), 1001);
	for (size_t i = 0; i < 2 * CONNECTIONS; i++) {
		const json_t *f = json_array_get(flows, i), *tx;

		assert_string_equal(json_string_value(json_object_get(f, "id")),
			flow_id(report_flow(&r, i)->flow));
		assert_fields(f, "",
			"id proto local remote direction pid comm bytes coverage layers residence "
			"residence_total_ns closure_error_cycles modulation");
		tx = json_object_get(f, "tx_call_n");
		assert_true(r.flows[i].rx ||
			    json_number_value(tx) == (double)flow_at(&r, i)->use.calls);
	}
	json_decref(flows);
	r.whole_flows = true;
	flows = printed(&r);
	assert_int_equal(whole(flows), 2 * CONNECTIONS);
	json_decref(flows);
	report_free(&r);
	core_free(&c);
}

static void up_to_a_thousand_are_whole(void **unused)
{
	static struct core c;
	struct report r;
	json_t *flows;

	(void)unused;
	begin(&c, 500);
	assert_int_equal(report_init(&r, &c, NULL, "test"), 0);
	flows = printed(&r);
	assert_int_equal(whole(flows), 1000);
	json_decref(flows);
	report_free(&r);
	core_free(&c);
}

static void flows_of_another_host_are_in_brief_too(void **unused)
{
	static struct core c;
	json_t *value = json_pack("{s:i, s:[i]}", "passings", 5, "flows", 1), *j;
	struct json_beside beside = {"hosts", value, NULL};
	struct report r;

	(void)unused;
	begin(&c, CONNECTIONS);
	assert_int_equal(report_init(&r, &c, NULL, "test"), 0);
	j = printed_beside(&r, &beside);
	assert_fields(j, "hosts", "passings flows");
	assert_null(json_object_get(json_object_get(j, "hosts"), "other"));
	json_decref(j);
	beside.other = &r;
	j = printed_beside(&r, &beside);
	assert_number_at(j, "hosts.passings", 5);
	assert_number_at(j, "hosts.flows.0", 1);
	assert_int_equal(whole(at(j, "hosts.other.flows")), 1000);
	assert_int_equal(json_array_size(at(j, "hosts.other.flows")), 2 * CONNECTIONS);
	assert_true(json_equal(at(j, "hosts.other.flows"), json_object_get(j, "flows")));
	assert_fields(j, "hosts.other", "session events calls together losses");
	json_decref(j);
	json_decref(value);
	report_free(&r);
	core_free(&c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(all_beyond_a_thousand_but_eventful_ones_are_in_brief),
		cmocka_unit_test(up_to_a_thousand_are_whole),
		cmocka_unit_test(flows_of_another_host_are_in_brief_too),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
