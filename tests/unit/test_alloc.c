/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <stdint.h>
#include <string.h>

#include "alloc.h"
#include "hash.h"
#include "unit.h"

#define TOO_MUCH ((size_t)PTRDIFF_MAX)

/* Otherwise AddressSanitizer ends a process that asks for so much memory. */
const char *__asan_default_options(void);
const char *__asan_default_options(void)
{
	return "allocator_may_return_null=1";
}

static void refused_memory_is_counted(void **unused)
{
	unsigned long before = mg_memory_failures();
	volatile size_t size = TOO_MUCH;

	(void)unused;
	assert_null(mg_malloc(size));
	assert_null(mg_calloc(2, size));
	assert_null(mg_realloc(NULL, size));
	assert_null(mg_aligned_alloc(64, size - 63));
	assert_int_equal(mg_memory_failures(), before + 4);
	errno = ENOENT;
	assert_null(mg_checked(NULL));
	assert_int_equal(mg_memory_failures(), before + 4);
	errno = ENOMEM;
	assert_null(mg_checked(NULL));
	assert_int_equal(mg_memory_failures(), before + 5);
}

static void nothing_is_no_failure(void **unused)
{
	unsigned long before = mg_memory_failures();

	(void)unused;
	free(mg_malloc(0));
	free(mg_calloc(0, 8));
	free(mg_realloc(NULL, 0));
	assert_int_equal(mg_memory_failures(), before);
}

static void a_text_is_whole(void **unused)
{
	size_t size;
	char *text;
	FILE *to = mg_text_open(&text, &size);

	(void)unused;
	fprintf(to, "ten bytes.");
	assert_true(mg_text_close(to, &text));
	assert_int_equal(size, 10);
	assert_string_equal(text, "ten bytes.");
	free(text);
}

struct element {
	int key;
	UT_hash_handle hh;
};

static void an_element_is_kept_or_freed(void **unused)
{
	struct element *all = NULL, *e = calloc(1, sizeof(*e));

	(void)unused;
	HASH_ADD_INT(all, key, e);
	assert_ptr_equal(hash_kept(e), e);
	HASH_DEL(all, e);
	e->hh.tbl = NULL; /* as HASH_ADD leaves it when memory is short */
	assert_null(hash_kept(e));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(refused_memory_is_counted),
		cmocka_unit_test(nothing_is_no_failure),
		cmocka_unit_test(a_text_is_whole),
		cmocka_unit_test(an_element_is_kept_or_freed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
