/* SPDX-License-Identifier: MIT */
#include "show_words.h"

#include <string.h>

#include "unit.h"

static char words[SHOW_WORDS];

/* Returns the word for a field of an event, "" if it has none. */
static const char *word(uint16_t id, const char *field, int64_t value)
{
	const struct mg_event_desc *d = mg_event_by_id(id);
	struct mg_event e = {.id = id};

	for (int i = 0; i < d->field_count; i++)
		if (strcmp(d->fields[i].name, field) == 0)
			return show_words(NULL, &e, &d->fields[i], value, words) ? words : "";
	fail_msg("%s has no %s", d->name, field);
	return NULL;
}

static void errors_have_names(void **unused)
{
	(void)unused;
	assert_string_equal(word(MG_EVENT_sys_exit, "ret", -11), "EAGAIN");
	assert_string_equal(word(MG_EVENT_sys_exit, "ret", -512), "ERESTARTSYS");
	assert_string_equal(word(MG_EVENT_sys_exit, "ret", 11), "");
	assert_string_equal(word(MG_APP_BASE + MG_FN_send, "error", 32), "EPIPE");
	assert_string_equal(word(MG_APP_BASE + MG_FN_send, "error", 0), "");
	assert_string_equal(word(MG_APP_BASE + MG_FN_send, "ret", -1), "");
}

static void states_are_letters(void **unused)
{
	(void)unused;
	assert_string_equal(word(MG_EVENT_sched_switch, "prev_state", 0), "R");
	assert_string_equal(word(MG_EVENT_sched_switch, "prev_state", 8193), "S");
	assert_string_equal(word(MG_EVENT_sched_switch, "prev_state", 2), "D");
	assert_string_equal(word(MG_EVENT_sched_switch, "prev_state", 0x402), "I");
	assert_string_equal(word(MG_EVENT_sched_task, "state", 1), "S");
	assert_string_equal(word(MG_EVENT_tcp_reset, "state", 1), ""); /* it has a name */
}

static void flags_of_tcp_have_names(void **unused)
{
	(void)unused;
	assert_string_equal(word(MG_EVENT_ip_out, "tcp_flags", 0x12), "SYN|ACK");
	assert_string_equal(word(MG_EVENT_ip_out, "tcp_flags", 0), "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(errors_have_names),
		cmocka_unit_test(states_are_letters),
		cmocka_unit_test(flags_of_tcp_have_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
