/* SPDX-License-Identifier: MIT */
/* Windows of a file: what is in them is what the file has there, whoever has read it. */
#include "direct/window.h"

#include <fcntl.h>
#include <unistd.h>

#include "core/core.h"
#include "figures/figures.h"
#include "unit.h"

#define FILE_SIZE (3u << 20)
#define STEP_MOST (200u * 1024)

static uint8_t *content;
static struct core *core;
static struct window_source from;

static int setup(void **unused)
{
	char path[] = "/tmp/magnet-test-window-XXXXXX";
	uint64_t seed = 7;

	(void)unused;
	from = (struct window_source){.fd = mkstemp(path), .size = FILE_SIZE};
	unlink(path);
	content = malloc(FILE_SIZE);
	for (size_t i = 0; i < FILE_SIZE; i++)
		content[i] = (uint8_t)unit_random(&seed);
	assert_int_equal(write(from.fd, content, FILE_SIZE), FILE_SIZE);
	core = core_new();
	figures_attach(core);
	core_listen_apart(core);
	return 0;
}

static int teardown(void **unused)
{
	(void)unused;
	core_delete(core);
	close(from.fd);
	free(content);
	return 0;
}

static void assert_shows(const struct window *w, uint64_t at)
{
	assert_int_equal(w->at, at);
	assert_true(w->at + w->size <= FILE_SIZE);
	assert_true(w->size >= w->cap || w->at + w->size == FILE_SIZE);
	assert_memory_equal(w->bytes, content + at, w->size);
}

/* Goes through the file in steps, as long as packets are; returns how often it was read ahead. */
static int walk(struct window *w, uint64_t seed, useconds_t work_us)
{
	int ahead = 0;

	assert_null(window_begin(w, &from, false, core));
	for (uint64_t next = 0; next < FILE_SIZE;) {
		uint8_t *was_ahead = w->ahead.room.bytes;
		uint64_t end, step = 1 + unit_random_below(&seed, STEP_MOST);

		assert_null(step > w->cap ? window_enlarge(w, &from, next, step)
					  : window_move(w, &from, next));
		assert_shows(w, next);
		ahead += was_ahead && w->room.bytes == was_ahead;
		usleep(work_us);
		end = w->at + w->size; /* a packet may end before it, or not be finished there */
		next = end == FILE_SIZE ? end : end - unit_random_below(&seed, step);
	}
	return ahead;
}

static void what_is_read_ahead_is_what_the_file_has(void **unused)
{
	struct window w = {.bytes = NULL};
	int ahead = 0;

	(void)unused;
	for (uint64_t seed = 1; seed <= 20; seed++) {
		ahead += walk(&w, seed, 2000);
		window_end(&w);
	}
	assert_int_equal(ahead > 0, core_is_apart(core)); /* not with a single CPU */
}

/* Reading that has not begun is taken back, and waited for if it has. */
static void nothing_waits_for_a_thread_without_time(void **unused)
{
	struct window w = {.bytes = NULL};

	(void)unused;
	for (uint64_t seed = 1; seed <= 200; seed++) {
		walk(&w, seed, 0);
		window_end(&w);
	}
}

static void without_that_thread_it_is_read_as_well(void **unused)
{
	struct window w = {.bytes = NULL};

	(void)unused;
	assert_null(window_begin(&w, &from, false, core));
	assert_null(window_move(&w, &from, 0));
	core_end_apart(core); /* while something is left with it */
	assert_null(window_move(&w, &from, w.size - 100));
	assert_shows(&w, w.at);
	window_end(&w);
	assert_int_equal(walk(&w, 5, 0), 0);
	window_end(&w);
}

static void a_file_that_became_shorter_is_said_to_be(void **unused)
{
	struct window w = {.bytes = NULL};
	const char *why = NULL;

	(void)unused;
	assert_null(window_begin(&w, &from, false, core));
	for (uint64_t next = 0; !why; next = w.at + w.size) {
		assert_true(next < FILE_SIZE);
		why = window_move(&w, &from, next);
		if (!why)
			assert_shows(&w, next);
		assert_int_equal(ftruncate(from.fd, FILE_SIZE / 2), 0);
		usleep(2000);
	}
	assert_string_equal(why, "the file has become shorter");
	window_end(&w);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(what_is_read_ahead_is_what_the_file_has),
		TEST(nothing_waits_for_a_thread_without_time),
		TEST(without_that_thread_it_is_read_as_well),
		TEST(a_file_that_became_shorter_is_said_to_be),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
