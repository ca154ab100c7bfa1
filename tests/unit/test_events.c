/* SPDX-License-Identifier: MIT */
#include "event_table.h"
#include "events.h"
#include "ring.h"
#include "unit.h"

static const struct mg_event_desc *table;
static size_t count;

static int setup(void **unused)
{
	(void)unused;
	table = mg_event_table(&count);
	return table && count ? 0 : -1;
}

static void ids_and_names_are_unique(void **unused)
{
	(void)unused;
	for (size_t i = 0; i < count; i++)
		for (size_t j = 0; j < i; j++) {
			assert_int_not_equal(table[i].id, table[j].id);
			assert_string_not_equal(table[i].name, table[j].name);
		}
}

static void every_event_is_found_by_id_and_by_name(void **unused)
{
	(void)unused;
	for (size_t i = 0; i < count; i++) {
		assert_ptr_equal(mg_event_by_id(table[i].id), &table[i]);
		assert_ptr_equal(mg_event_by_name(table[i].name), &table[i]);
	}
}

static void others_are_not_found(void **unused)
{
	(void)unused;
	assert_null(mg_event_by_id(0));
	assert_null(mg_event_by_id(77));
	assert_null(mg_event_by_id(MG_APP_BASE + MG_FN_END));
	assert_null(mg_event_by_id(70000));
	assert_null(mg_event_by_name(""));
	assert_null(mg_event_by_name("send")); /* that one is magnet:send */
	assert_null(mg_event_by_name("tcp_sen"));
}

/* Readers use the struct for the payload: fields must be contiguous up to its end. */
static void fields_fill_the_payload_without_holes(void **unused)
{
	(void)unused;
	for (size_t i = 0; i < count; i++) {
		unsigned int at = 0;

		assert_true(table[i].field_count > 0);
		for (int f = 0; f < table[i].field_count; f++) {
			assert_int_equal(table[i].fields[f].offset, at);
			at += table[i].fields[f].size;
		}
		assert_int_equal(at, table[i].size);
	}
}

static void fields_have_unique_names_and_are_explained(void **unused)
{
	(void)unused;
	for (size_t i = 0; i < count; i++) {
		const struct mg_field_desc *f = table[i].fields;

		assert_true(strlen(table[i].doc) > 0);
		for (int a = 0; a < table[i].field_count; a++) {
			assert_true(strlen(f[a].doc) > 0);
			for (int b = 0; b < a; b++)
				assert_string_not_equal(f[a].name, f[b].name);
		}
	}
}

static void field_sizes_suit_their_class(void **unused)
{
	(void)unused;
	for (size_t i = 0; i < count; i++)
		for (int f = 0; f < table[i].field_count; f++) {
			int size = table[i].fields[f].size, class = table[i].fields[f].class;

			if (class == MG_CLASS_TEXT)
				assert_true(size % 8 == 0);
			else if (class == MG_CLASS_BYTES)
				assert_int_equal(size, 16);
			else
				assert_true(size == 1 || size == 2 || size == 4 || size == 8);
		}
}

static void ring_events_fit_a_slot(void **unused)
{
	(void)unused;
	for (size_t i = 0; i < count; i++) {
		/* the drain writes that one */
		if (table[i].id >= 64 || table[i].id == MG_EVENT_drop)
			continue;
		assert_true(table[i].size <= MG_SLOT_PAYLOAD);
	}
}

/* The correlator reads the socket of an event without checking its type. */
static void a_socket_cookie_is_the_first_field(void **unused)
{
	(void)unused;
	for (size_t i = 0; i < count; i++)
		for (int f = 1; f < table[i].field_count; f++)
			assert_string_not_equal(table[i].fields[f].name, "sock");
}

static void structs_are_as_large_as_the_table_says(void **unused)
{
	(void)unused;
#define SAME_SIZE(id, name, NAME, ...) \
	assert_int_equal(mg_event_by_id(MG_EVENT_##name)->size, MG_PAYLOAD_SIZE(NAME));
	MG_KERNEL_EVENTS(SAME_SIZE)
	/* the struct may only be longer, by padding at its end */
	assert_in_range(sizeof(struct mg_call) - MG_PAYLOAD_SIZE(CALL), 0, 7);
	assert_in_range(sizeof(struct mg_sys_exit) - MG_PAYLOAD_SIZE(SYS_EXIT), 0, 7);
}

static void every_wrapped_function_has_an_event(void **unused)
{
	char name[64];

	(void)unused;
	for (unsigned int n = 0; n < MG_FN_END; n++) {
		snprintf(name, sizeof(name), "magnet:%s", mg_function_name(n));
		assert_non_null(mg_event_by_name(name));
		assert_int_equal(mg_event_by_name(name)->id, MG_APP_BASE + n);
		assert_int_equal(mg_event_by_name(name)->layer, MG_LAYER_APP);
	}
}

static void every_event_is_of_a_layer_with_a_name(void **unused)
{
	(void)unused;
	for (size_t i = 0; i < count; i++)
		assert_true(table[i].layer < MG_LAYER_END);
	assert_string_equal(mg_layer_names[MG_LAYER_APP], "app");
	assert_string_equal(mg_layer_names[MG_LAYER_TRACER], "tracer");
}

/* Ids are stored in traces: they must not change. */
static void stored_numbers_stay_what_they_were(void **unused)
{
	(void)unused;
	assert_int_equal(MG_EVENT_sys_enter, 1);
	assert_int_equal(MG_EVENT_nf_in_begin, 64);
	assert_int_equal(MG_EVENT_task_exit, 90);
	assert_int_equal(MG_EVENT_clock_sync, 104);
	assert_int_equal(MG_EVENT_trace_end, 116);
	assert_int_equal(MG_EVENT_change, 109);
	assert_int_equal(MG_EVENT_dump, 110);
	assert_int_equal(MG_SYS_read, 1);
	assert_int_equal(MG_SYS_socket, 17);
	assert_int_equal(MG_FN_send, 0);
	assert_int_equal(MG_FN_close, 15);
	assert_int_equal(MG_KIND_tcp, 2);
	assert_int_equal(MG_KIND_socket, 9);
}

static void calls_have_names_and_directions(void **unused)
{
	(void)unused;
	assert_string_equal(mg_syscall_name(MG_SYS_sendto), "sendto");
	assert_int_equal(mg_syscall_direction(MG_SYS_sendto), MG_DIR_TX);
	assert_int_equal(mg_syscall_direction(MG_SYS_recvmmsg), MG_DIR_RX);
	assert_int_equal(mg_syscall_direction(MG_SYS_close), MG_DIR_OTHER);
	assert_string_equal(mg_function_name(MG_FN_recv), "recv");
	assert_int_equal(mg_function_direction(MG_FN_recv), MG_DIR_RX);
	assert_int_equal(mg_function_direction(MG_FN_writev), MG_DIR_TX);
	assert_string_equal(mg_kind_name(MG_KIND_unix_stream), "unix_stream");
}

static void unknown_numbers_are_harmless(void **unused)
{
	(void)unused;
	assert_string_equal(mg_syscall_name(0), "?");
	assert_string_equal(mg_syscall_name(MG_SYS_END), "?");
	assert_int_equal(mg_syscall_direction(0), MG_DIR_OTHER);
	assert_int_equal(mg_syscall_direction(1u << 31), MG_DIR_OTHER);
	assert_string_equal(mg_function_name(MG_FN_END), "?");
	assert_int_equal(mg_function_direction(UINT32_MAX), MG_DIR_OTHER);
	assert_string_equal(mg_kind_name(MG_KIND_END), "?");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(ids_and_names_are_unique),
		cmocka_unit_test(every_event_is_found_by_id_and_by_name),
		cmocka_unit_test(others_are_not_found),
		cmocka_unit_test(fields_fill_the_payload_without_holes),
		cmocka_unit_test(fields_have_unique_names_and_are_explained),
		cmocka_unit_test(field_sizes_suit_their_class),
		cmocka_unit_test(ring_events_fit_a_slot),
		cmocka_unit_test(a_socket_cookie_is_the_first_field),
		cmocka_unit_test(structs_are_as_large_as_the_table_says),
		cmocka_unit_test(every_wrapped_function_has_an_event),
		cmocka_unit_test(every_event_is_of_a_layer_with_a_name),
		cmocka_unit_test(stored_numbers_stay_what_they_were),
		cmocka_unit_test(calls_have_names_and_directions),
		cmocka_unit_test(unknown_numbers_are_harmless),
	};

	return cmocka_run_group_tests(tests, setup, NULL);
}
