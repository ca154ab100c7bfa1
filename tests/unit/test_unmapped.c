/* SPDX-License-Identifier: MIT */
/* unmapped.c: connections whose bytes are not the program's, as with TLS in the kernel. */
#include "feed.h"
#include "reported.h"

#define TLS    29 /* bytes by which a record exceeds the program's data */
#define READER 7

/* The position read is known from the last call, though no copy tells which bytes those were. */
static void a_call_tells_how_far_it_was_read(void **unused)
{
	struct core c;

	(void)unused;
	feed_begin(&c, ALL_HOOKS);
	ev_opened(&c, 1000, A, 100, 200);
	rx_of(&c, A)->sock->ulp = MG_ULP_TLS;
	for (unsigned int i = 0; i < 3; i++) {
		uint32_t seq = 201 + i * (1000 + TLS);

		ev_enter(&c, 2000 + i * 100, READER, A, MG_SYS_recvfrom, seq);
		ev_exit(&c, 2050 + i * 100, READER, A, MG_SYS_recvfrom, seq + 1000 + TLS, 1000);
	}
	core_finish(&c);
	assert_int_equal(measures_in(rx_of(&c, A))->units[RX_CALL].bytes, 3000);
	assert_int_equal(rx_of(&c, A)->total, 3 * (1000 + TLS));
	feed_end(&c);
}

/* Bytes sent before are followed, but are no sample of the connection. */
static void ulp_connection_has_no_coverage_and_no_modulation(void **unused)
{
	struct core c;
	json_t *j;

	(void)unused;
	connection_record(&c);
	tx_of(&c, A)->sock->ulp = MG_ULP_TLS;
	rx_of(&c, B)->sock->ulp = MG_ULP_TLS;
	j = reported(&c);
	for (const char *const *path = (const char *const[]){"flows.0.coverage",
		     "flows.0.modulation.M", "flows.0.modulation.J_ns", "flows.0.modulation.S",
		     "flows.1.coverage", "flows.1.modulation.M", NULL};
		*path; path++)
		assert_null_at(j, *path);
	assert_string_equal(json_string_value(at(j, "flows.0.unmapped")), "ktls");
	json_decref(j);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_call_tells_how_far_it_was_read),
		cmocka_unit_test(ulp_connection_has_no_coverage_and_no_modulation),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
