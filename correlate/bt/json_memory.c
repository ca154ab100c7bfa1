/* SPDX-License-Identifier: MIT */
#include "json_memory.h"

#include <jansson.h>
#include <pthread.h>

#include "alloc.h"

/*
 * Serialises components in several threads; other users of jansson get the same functions as
 * before.
 */
static pthread_mutex_t turn = PTHREAD_MUTEX_INITIALIZER;
static json_malloc_t get;
static json_free_t give;

static void *counted(size_t size)
{
	void *memory = get(size);

	if (!memory)
		mg_memory_failed();
	return memory;
}

void json_memory_begin(void)
{
	pthread_mutex_lock(&turn);
	json_get_alloc_funcs(&get, &give);
	json_set_alloc_funcs(counted, give);
}

void json_memory_end(void)
{
	json_set_alloc_funcs(get, give);
	pthread_mutex_unlock(&turn);
}
