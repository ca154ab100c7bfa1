/* SPDX-License-Identifier: MIT */
#include "figures/measures_sums.h"

#include <pthread.h>
#include <stdlib.h>

#include "alloc.h"
#include "handover.h"

/* A thread takes about as long to start as some tens of flows. */
#define WORTH_IT 256

/* Addends by group, of which both threads take one after the other. */
struct groups {
	const struct measures_addend *all;
	uint32_t *order; /* numbers of addends, by group */
	size_t *begin;   /* of each group, in `order`; one more, for the end */
	size_t n, next;
};

/*
 * Fetches the values that wait. Each list of theirs would have the CPU wait for one cell after the
 * other; all lists together keep the memory busy.
 */
static void fetch_waiting(const struct flow_measures *m)
{
	struct dist *all[MEASURES_DISTS];
	uint32_t n = measures_dists((struct flow_measures *)(uintptr_t)m, all), lists = 0;
	const struct dist_cell *at[MEASURES_DISTS + 1];

	for (uint32_t i = 0; i <= n; i++) {
		at[lists] = i < n ? all[i]->late : m->waterfall.late;
		__builtin_prefetch(at[lists]);
		lists += at[lists] != NULL;
	}
	while (lists) {
		uint32_t left = 0;

		for (uint32_t i = 0; i < lists; i++) {
			at[left] = at[i]->before;
			__builtin_prefetch(at[left]);
			left += at[left] != NULL;
		}
		lists = left;
	}
}

static void *add(void *arg)
{
	struct groups *of = arg;
	size_t g;

	while ((g = __atomic_fetch_add(&of->next, 1, __ATOMIC_RELAXED)) < of->n)
		for (size_t i = of->begin[g]; i < of->begin[g + 1]; i++) {
			const struct measures_addend *one = &of->all[of->order[i]];

			fetch_waiting(one->flow);
			measures_add(one->sum, one->flow);
		}
	return NULL;
}

/* Puts the addends in order of groups, and keeps that within a group. */
static void sort(struct groups *of, size_t n)
{
	for (size_t i = 0; i < n; i++)
		of->begin[of->all[i].group + 1]++;
	for (size_t g = 0; g < of->n; g++)
		of->begin[g + 1] += of->begin[g];
	for (size_t i = 0; i < n; i++)
		of->order[of->begin[of->all[i].group]++] = (uint32_t)i;
	for (size_t g = of->n; g > 0; g--) /* each is where the next one began */
		of->begin[g] = of->begin[g - 1];
	of->begin[0] = 0;
}

void measures_add_groups(const struct measures_addend *all, size_t n, size_t groups)
{
	struct groups of = {.all = all, .n = groups};
	pthread_t thread;
	bool is_apart;

	of.order = mg_malloc((n + 1) * sizeof(*of.order));
	of.begin = mg_calloc(groups + 1, sizeof(*of.begin));
	if (of.order && of.begin) {
		sort(&of, n);
		is_apart = n >= WORTH_IT && groups > 1 && has_two_cpus() &&
			   thread_start(&thread, "magnet-sums", add, &of);
		add(&of);
		if (is_apart)
			pthread_join(thread, NULL);
	}
	free(of.order);
	free(of.begin);
}
