/* SPDX-License-Identifier: MIT */
/*
 * Makes a tracepoint occur as often as it can: occur N. To each line on standard input it answers
 * with the nanoseconds one of N calls of prctl(PR_SET_NAME) took, each of which is one
 * task:task_rename: the median over batches so short that few are interrupted.
 */
#define _GNU_SOURCE
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <time.h>

static uint64_t now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

#define BATCH 500 /* calls */

static int by_size(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

int main(int argc, char **argv)
{
	long batches = argc == 2 ? atol(argv[1]) / BATCH : 0;
	uint64_t *took;
	char line[16];

	if (batches <= 0 || !(took = calloc((size_t)batches, sizeof(*took)))) {
		fprintf(stderr, "usage: occur N (at least %d)\n", BATCH);
		return 2;
	}
	while (fgets(line, sizeof(line), stdin)) {
		for (long i = 0; i < batches; i++) {
			uint64_t start = now();

			for (int k = 0; k < BATCH; k++)
				prctl(PR_SET_NAME, "occur");
			took[i] = now() - start;
		}
		qsort(took, (size_t)batches, sizeof(*took), by_size);
		printf("%.2f\n", (double)took[batches / 2] / BATCH);
		fflush(stdout);
	}
	free(took);
	return 0;
}
