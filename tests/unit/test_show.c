/* SPDX-License-Identifier: MIT */
/* Every event as a line, as the core passes it on. */
#include "connection.h"
#include "show.h"

static char *text;

static int teardown(void **unused)
{
	(void)unused;
	free(text);
	text = NULL;
	return 0;
}

/* Returns what is shown of one transfer of the connection. */
static const char *shown(struct show *s)
{
	struct core c;
	size_t size;

	free(text);
	s->to = open_memstream(&text, &size);
	assert_non_null(s->to);
	show_header(s);
	connection_begin(&c);
	s->core = &c;
	core_listen(&c, show_event, s);
	transfer(&c, 0, 10000, 10100);
	core_finish(&c);
	fclose(s->to);
	feed_end(&c);
	return text;
}

static int count_lines(const char *s)
{
	int n = 0;

	for (; *s; s++)
		n += *s == '\n';
	return n;
}

/* Returns the n-th line that contains `what`, without its end. */
static const char *line_with(const char *what)
{
	static char line[512];
	const char *p = strstr(text, what);
	const char *begin = p;

	assert_non_null(p);
	while (begin > text && begin[-1] != '\n')
		begin--;
	snprintf(line, sizeof(line), "%.*s", (int)strcspn(begin, "\n"), begin);
	return line;
}

static void tsv_has_a_header_and_ten_columns_in_each_row(void **unused)
{
	struct show s = {.tsv = true, .setup = true};
	const char *p = shown(&s);

	(void)unused;
	assert_begins(p, "time_ns\tcycles\tcpu\tpid\ttid\tevent\tflow\toffset\tlength\tfields\n");
	while (*p) {
		int tabs = 0;

		for (; *p != '\n'; p++)
			tabs += *p == '\t';
		p++;
		assert_int_equal(tabs, 9);
	}
	assert_int_equal(count_lines(text), 1 + 9 + 8); /* 8 + 1 to send, 4 + 3 + 1 to receive */
}

static void a_row_says_which_bytes_of_which_flow(void **unused)
{
	struct show s = {.tsv = true, .setup = true};

	(void)unused;
	shown(&s);
	assert_string_equal(line_with("\tdev_xmit\t"),
		"10006\t10006\t0\t10\t10\tdev_xmit\t1/tx\t0\t500\tseq=1000 len=500 ack=0 ifindex=0 "
		"headers=54 segs=1 gso_size=0 ip_id=0 frag=0 tcp_flags=0x0 zero_window=0 "
		"icmp_type=0 proto=0 context=unknown via=own");
	assert_string_equal(line_with("\tsock_copy\t"),
		"10102\t10102\t0\t20\t20\tsock_copy\t2/rx\t0\t500\tseq=1000 len=500 rcv_nxt=0");
}

static void calls_and_kinds_have_names(void **unused)
{
	struct show s = {.tsv = true, .setup = true};

	(void)unused;
	shown(&s);
	assert_non_null(strstr(line_with("\tsys_enter\t"), "call=sendto kind=tcp"));
	assert_non_null(strstr(line_with("\tsys_exit\t"), "ret=500 "));
	assert_non_null(strstr(line_with("\tmagnet:send\t"), "\t1/tx\t0\t500\t"));
	assert_non_null(strstr(line_with("\tmagnet:send\t"), "kind=tcp"));
}

/* Thread and process have columns: they are not repeated among the payload's fields. */
static void columns_are_not_repeated_as_fields(void **unused)
{
	struct show s = {.tsv = true, .setup = true};

	(void)unused;
	shown(&s);
	assert_null(strstr(line_with("\tmagnet:send\t"), "tid="));
	assert_null(strstr(line_with("\tdev_xmit\t"), "sock="));
}

static void one_flow_may_be_asked_for(void **unused)
{
	struct show s = {.tsv = true, .flow = "2/rx"};

	(void)unused;
	shown(&s);
	assert_null(strstr(text, "1/tx"));
	assert_int_equal(count_lines(text), 1 + 8);
	assert_true(s.flow_seen);
}

static void one_that_is_not_there_is_not_seen(void **unused)
{
	struct show s = {.tsv = true, .flow = "77/rx"};

	(void)unused;
	shown(&s);
	assert_int_equal(count_lines(text), 1);
	assert_false(s.flow_seen);
}

static void a_span_of_time_may_be_asked_for(void **unused)
{
	/* the first event of the recording, to which times relate, is at 1 */
	struct filter f = {.from_ns = 10006 - 1, .to_ns = 10022 - 1};
	struct show s = {.tsv = true, .filter = &f};

	(void)unused;
	assert_true(filter_begin(&f));
	shown(&s);
	filter_free(&f);
	assert_null(strstr(text, "10005\t"));
	assert_non_null(strstr(text, "10006\t"));
	assert_non_null(strstr(text, "10021\t"));
	assert_null(strstr(text, "10022\t"));
}

static void text_has_relative_times_and_short_ranges(void **unused)
{
	struct show s = {.setup = true};

	(void)unused;
	shown(&s);
	assert_int_equal(count_lines(text), 1 + 9 + 8);
	assert_non_null(strstr(line_with(" dev_xmit "), "0.000000005"));
	assert_non_null(strstr(line_with(" dev_xmit "), "0+500"));
}

static void an_unknown_cpu_is_left_empty(void **unused)
{
	struct mg_event e = feed_event(MG_EVENT_softirq_entry, 77, 5);
	struct show s = {.tsv = true, .setup = true};
	struct annotation a = {.cycles = 88};
	size_t size;

	(void)unused;
	free(text);
	s.to = open_memstream(&text, &size);
	e.cpu = -1;
	e.softirq.vec = 3;
	show_event(&s, &e, &a);
	fclose(s.to);
	assert_string_equal(
		line_with("softirq"), "77\t88\t\t5\t5\tsoftirq_entry\t\t\t\tvec=net_rx");
}

/* Names come from programs: they must not break a line or a column. */
static void text_cannot_forge_columns(void **unused)
{
	struct mg_event e = feed_event(MG_EVENT_task_exec, 77, 5);
	struct show s = {.tsv = true, .setup = true};
	struct annotation a = {0};
	size_t size;

	(void)unused;
	free(text);
	s.to = open_memstream(&text, &size);
	memcpy(e.task_exec.comm, "a\tb\nc d=e\x1b[0m", 14);
	show_event(&s, &e, &a);
	fclose(s.to);
	assert_int_equal(count_lines(text), 2); /* with the header */
	assert_string_equal(strrchr(text, '\t'), "\tcomm=a_b_c_d=e_[0m\n");
}

static void bytes_that_do_not_lie_together_are_listed(void **unused)
{
	struct mg_sock sock = {.cookie = 7};
	struct flow flow = {.sock = &sock};
	struct piece pieces[] = {{&flow, .off = 0, .len = 1000}, {&flow, .off = 1500, .len = 500}};
	struct mg_event e = feed_event(MG_APP_BASE + MG_FN_send, 77, 5);
	struct annotation a = {.piece = pieces, .pieces = 2, .has_offset = true, .length = 1500};
	struct show s = {.tsv = true, .setup = true};
	size_t size;

	(void)unused;
	free(text);
	s.to = open_memstream(&text, &size);
	show_event(&s, &e, &a);
	pieces[1].off = 1000;
	show_event(&s, &e, &a);
	fclose(s.to);
	assert_non_null(strstr(text, " ranges=0+1000,1500+500\n"));
	/* the second range is contiguous */
	assert_null(strstr(strstr(text, "ranges=") + 1, "ranges="));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(tsv_has_a_header_and_ten_columns_in_each_row),
		cmocka_unit_test(a_row_says_which_bytes_of_which_flow),
		cmocka_unit_test(calls_and_kinds_have_names),
		cmocka_unit_test(columns_are_not_repeated_as_fields),
		cmocka_unit_test(one_flow_may_be_asked_for),
		cmocka_unit_test(one_that_is_not_there_is_not_seen),
		cmocka_unit_test(a_span_of_time_may_be_asked_for),
		cmocka_unit_test(text_has_relative_times_and_short_ranges),
		cmocka_unit_test(an_unknown_cpu_is_left_empty),
		cmocka_unit_test(text_cannot_forge_columns),
		cmocka_unit_test(bytes_that_do_not_lie_together_are_listed),
	};

	return cmocka_run_group_tests(tests, NULL, teardown);
}
