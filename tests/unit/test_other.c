/* SPDX-License-Identifier: MIT */
/* Events that are not in the table. */
#include "connection.h"
#include "show.h"

static void chosen(struct core *c, uint64_t t, const char *name, const char *text)
{
	struct mg_event e = feed_event(MG_EVENT_other, t, SENDER);

	e.other.name = name;
	e.other.text = text ? strdup(text) : NULL;
	feed(c, &e);
}

static uint64_t counted(const struct core *c, const char *name)
{
	struct other_stats *o;

	HASH_FIND_STR(c->others, name, o);
	return o ? o->n : 0;
}

static void other_events_are_counted_by_name(void **unused)
{
	char same[] = "napi:napi_poll"; /* by another reader */
	struct core c;

	(void)unused;
	feed_begin(&c, ALL_HOOKS);
	chosen(&c, 1000, "napi:napi_poll", NULL);
	chosen(&c, 1001, "irq:softirq_entry", NULL);
	chosen(&c, 1002, same, NULL);
	core_finish(&c);
	assert_int_equal(HASH_COUNT(c.others), 2);
	assert_int_equal(counted(&c, "napi:napi_poll"), 2);
	assert_int_equal(counted(&c, "irq:softirq_entry"), 1);
	assert_int_equal(c.counts.kernel_events, 3);
	assert_int_equal(c.counts.app_events, 0);
	assert_null(c.tasks.threads); /* the current thread did not cause it */
	core_free(&c);
}

static void show_has_them_in_order_with_all_others(void **unused)
{
	struct show s = {.tsv = true, .setup = true};
	char *text = NULL, *line;
	struct core c;
	size_t size;

	(void)unused;
	s.to = open_memstream(&text, &size);
	assert_non_null(s.to);
	feed_begin(&c, ALL_HOOKS);
	core_listen(&c, show_event, &s);
	ev_enter(&c, 1000, SENDER, 0, MG_SYS_sendto, 0);
	chosen(&c, 1001, "net:net_dev_queue", "len=60 name=eth0");
	chosen(&c, 1002, "tcp:no_fields", NULL);
	ev_exit(&c, 1003, SENDER, 0, MG_SYS_sendto, 0, 1);
	core_finish(&c);
	fclose(s.to);
	core_free(&c);
	line = strstr(text, "\tsys_enter\t");
	assert_non_null(line);
	line = strchr(line, '\n') + 1;
	assert_begins(line, "1001\t1001\t");
	assert_non_null(strstr(line, "\tnet:net_dev_queue\t\t\t\tlen=60 name=eth0\n"));
	line = strchr(line, '\n') + 1;
	assert_non_null(strstr(line, "\ttcp:no_fields\t\t\t\t\n"));
	line = strchr(line, '\n') + 1;
	assert_non_null(strstr(line, "\tsys_exit\t"));
	free(text);
}

static void a_recording_that_breaks_off_frees_them(void **unused)
{
	struct core c;

	(void)unused;
	core_init(&c);
	figures_attach(&c); /* without a clock they wait */
	chosen(&c, 1000, "net:net_dev_queue", "len=60");
	assert_false(queue_is_empty(&c.due.pending));
	core_free(&c);
}

static void their_losses_touch_no_flow(void **unused)
{
	struct mg_event e = feed_event(MG_EVENT_lost, 20000, 0);
	struct core c;

	(void)unused;
	connection_begin(&c);
	transfer(&c, 0, 10000, 10100);
	e.lost = (struct mg_lost){.count = 7,
		.from_ns = 10000,
		.to_ns = 20000,
		.reason = MG_LOST_CHOSEN,
		.producer = "--event ring"};
	feed(&c, &e);
	core_finish(&c);
	assert_int_equal(c.counts.lost_kernel, 7);
	assert_int_equal(c.counts.lost_app, 0);
	assert_int_equal(c.losses.gap_count, 1);
	for (struct mg_sock *s = c.sockets.socks; s; s = s->hh.next)
		assert_int_equal(s->tx.missing.gaps + s->rx.missing.gaps, 0);
	feed_end(&c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(other_events_are_counted_by_name),
		cmocka_unit_test(show_has_them_in_order_with_all_others),
		cmocka_unit_test(a_recording_that_breaks_off_frees_them),
		cmocka_unit_test(their_losses_touch_no_flow),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
