/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "doctor_tune.h"

#include <errno.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "doctor_load.h"
#include "log.h"
#include "record_dir.h"
#include "tracer.h"

#define RUN_MS  400 /* of load in each recording; the longest interval is shorter */
#define CONFIRM 2   /* more recordings of what is chosen: the worst counts */
#define STOP_MS 15000

static const unsigned int buffers_kib[] = {64, 256, 1024, 4096, 16384};
static const unsigned int drains_ms[] = {1, 5, 20, 100, 300};
#define BUFFERS (sizeof(buffers_kib) / sizeof(buffers_kib[0]))
#define DRAINS  (sizeof(drains_ms) / sizeof(drains_ms[0]))

struct point {
	unsigned int runs;
	uint64_t events, lost; /* of the worst run */
	double percent;        /* lost of all, in that */
};

struct curve {
	struct point at[BUFFERS][DRAINS];
	const char *top;
	double limit;
	uint64_t events_max; /* of one run, with those that were lost */
};

/* A point of the curve: indices of its buffer and its interval. */
struct choice {
	size_t buffer, drain;
	bool found;
};

static uint64_t count(const json_t *done, const char *key)
{
	json_int_t n = json_integer_value(json_object_get(done, key));

	return n > 0 ? (uint64_t)n : 0;
}

/* Adds a run: the worst one counts. */
static void take(struct curve *c, struct point *p, const json_t *done)
{
	/* those that were skipped had nothing to do with the buffer */
	uint64_t lost = count(done, "lost") - count(done, "skipped");
	uint64_t events = count(done, "events"), all = events + lost;
	double percent = all ? 100.0 * (double)lost / (double)all : 0;

	if (!p->runs || percent > p->percent) {
		p->events = events;
		p->lost = lost;
		p->percent = percent;
	}
	p->runs++;
	if (all > c->events_max)
		c->events_max = all;
}

/* Records the load once. Returns 0, or a negative errno after a message. */
static int measure(struct curve *c, size_t buffer, size_t drain)
{
	char output[PATH_MAX], size[16], ms[16];
	const char *args[] = {"--buffer", size, "--drain", ms, NULL};
	struct tracer t;
	struct load l;
	int err;

	snprintf(output, sizeof(output), "%.4000s/tune", c->top);
	snprintf(size, sizeof(size), "%uK", buffers_kib[buffer]);
	snprintf(ms, sizeof(ms), "%u", drains_ms[drain]);
	err = load_start(&l);
	if (err) {
		mg_error("no load can be made: %s", strerror(-err));
		return err;
	}
	err = tracer_start(&t, output, l.pid, args);
	if (!err)
		err = tracer_wait_ready(&t, -1, false);
	if (err) {
		load_cancel(&l);
		mg_error("losses cannot be measured: %s", t.why[0] ? t.why : strerror(-err));
		tracer_free(&t);
		return err;
	}
	err = load_run(&l, RUN_MS);
	if (err)
		mg_error("losses cannot be measured: no TCP connection over loopback (ip link set "
			 "lo up)");
	if (tracer_stop(&t, STOP_MS) != 0 && !err) {
		mg_error("losses cannot be measured: %s", t.why);
		err = -EIO;
	}
	if (!err)
		take(c, &c->at[buffer][drain], t.done);
	tracer_free(&t);
	record_dir_remove_side(output);
	return err;
}

static bool is_below(const struct curve *c, size_t buffer, size_t drain)
{
	const struct point *p = &c->at[buffer][drain];

	return p->lost == 0 || p->percent < c->limit;
}

/* Returns the smallest buffer that keeps the limit, with the longest interval at which it does. */
static struct choice smallest_buffer(const struct curve *c)
{
	for (size_t b = 0; b < BUFFERS; b++)
		for (size_t d = DRAINS; d-- > 0;)
			if (is_below(c, b, d))
				return (struct choice){b, d, true};
	return (struct choice){0};
}

/* Returns the longest interval that keeps the limit, with the smallest buffer at which it does. */
static struct choice longest_interval(const struct curve *c)
{
	for (size_t d = DRAINS; d-- > 0;)
		for (size_t b = 0; b < BUFFERS; b++)
			if (is_below(c, b, d))
				return (struct choice){b, d, true};
	return (struct choice){0};
}

/*
 * Chooses, and records what is chosen again, until a choice has held each time. Returns 0 or a
 * negative errno.
 */
static int confirm(
	struct curve *c, struct choice (*choose)(const struct curve *c), struct choice *chosen)
{
	const struct point *p;
	int err = 0;

	do {
		*chosen = choose(c);
		p = &c->at[chosen->buffer][chosen->drain];
		if (!chosen->found || p->runs > CONFIRM)
			return 0;
		err = measure(c, chosen->buffer, chosen->drain);
	} while (!err);
	return err;
}

static json_t *choice_json(struct choice chosen)
{
	return chosen.found ? json_pack("{s:I, s:I}", "buffer_bytes",
				      (json_int_t)buffers_kib[chosen.buffer] * 1024, "drain_ms",
				      (json_int_t)drains_ms[chosen.drain])
			    : json_null();
}

static json_t *curve_json(const struct curve *c)
{
	json_t *all = json_array();

	for (size_t b = 0; b < BUFFERS; b++)
		for (size_t d = 0; d < DRAINS; d++)
			json_array_append_new(
				all, json_pack("{s:I, s:I, s:I, s:I, s:I, s:f}", "buffer_bytes",
					     (json_int_t)buffers_kib[b] * 1024, "drain_ms",
					     (json_int_t)drains_ms[d], "recordings",
					     (json_int_t)c->at[b][d].runs, "events",
					     (json_int_t)c->at[b][d].events, "lost",
					     (json_int_t)c->at[b][d].lost, "lost_percent",
					     c->at[b][d].percent));
	return all;
}

static void print_head(void)
{
	printf("Kernel events lost, in %%, by buffer for each CPU and drain interval, while %d TCP "
	       "connection%s over\nloopback send%s as fast as possible; %u recordings of %d ms\n"
	       "buffer  ",
		load_connections(), load_connections() > 1 ? "s" : "",
		load_connections() > 1 ? "" : "s", (unsigned int)(BUFFERS * DRAINS), RUN_MS);
	for (size_t d = 0; d < DRAINS; d++)
		printf("  %6u ms", drains_ms[d]);
	putchar('\n');
}

static void buffer_text(unsigned int kib, char out[16])
{
	snprintf(out, 16, kib < 1024 ? "%uK" : "%uM", kib < 1024 ? kib : kib / 1024);
}

static int measure_all(struct curve *c, bool print)
{
	char name[16];

	if (print)
		print_head();
	for (size_t b = 0; b < BUFFERS; b++) {
		for (size_t d = 0; d < DRAINS; d++) {
			int err = measure(c, b, d);

			if (err)
				return err;
		}
		buffer_text(buffers_kib[b], name);
		if (!print)
			continue;
		printf("%-8s", name);
		for (size_t d = 0; d < DRAINS; d++)
			printf("  %9.2f", c->at[b][d].percent);
		putchar('\n');
		fflush(stdout);
	}
	return 0;
}

json_t *doctor_tune(const char *top, double loss_percent, bool print)
{
	struct curve c = {.top = top, .limit = loss_percent};
	struct choice small = {0}, rare = {0};
	int err = measure_all(&c, print);

	if (!err)
		err = confirm(&c, smallest_buffer, &small);
	if (!err)
		err = confirm(&c, longest_interval, &rare);
	if (err)
		return NULL;
	return json_pack("{s:f, s:I, s:I, s:I, s:I, s:o, s:o, s:o}", "limit_percent", loss_percent,
		"load_connections", (json_int_t)load_connections(), "load_ms", (json_int_t)RUN_MS,
		"events_per_s", (json_int_t)(c.events_max * 1000 / RUN_MS), "confirmed_by",
		(json_int_t)CONFIRM + 1, "curve", curve_json(&c), "smallest_buffer",
		choice_json(small), "longest_interval", choice_json(rare));
}

static void print_choice(const json_t *choice, const char *what)
{
	char name[16];

	buffer_text(
		(unsigned int)(json_integer_value(json_object_get(choice, "buffer_bytes")) / 1024),
		name);
	printf("  --buffer %-4s --drain %-4lld  %s\n", name,
		json_integer_value(json_object_get(choice, "drain_ms")), what);
}

void doctor_print_tuned(const json_t *tune)
{
	const json_t *small = json_object_get(tune, "smallest_buffer");
	const json_t *rare = json_object_get(tune, "longest_interval");
	double limit = json_number_value(json_object_get(tune, "limit_percent"));
	long long rate = json_integer_value(json_object_get(tune, "events_per_s"));

	if (!json_is_object(small)) {
		printf("Each has larger losses than %g %% of up to %lld events/s: record fewer "
		       "layers (--layers) or connections (--port, --sample)\n",
			limit, rate);
		return;
	}
	printf(limit > 0 ? "Losses below %g %%" : "No losses", limit);
	printf(" of up to %lld events/s, in each of %lld recordings:\n", rate,
		json_integer_value(json_object_get(tune, "confirmed_by")));
	if (json_equal(small, rare)) {
		print_choice(small, "the smallest buffer and the longest interval");
	} else {
		print_choice(small, "the smallest buffer, and the longest interval with it");
		print_choice(rare, "the longest interval, and the smallest buffer with it");
	}
}
