/* SPDX-License-Identifier: MIT */
/* Runs a target without libFuzzer, once on each given file or each file of a given directory. */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "target.h"

#define INPUT_MAX (1u << 20)

/* Copies the input to memory of exactly its size, so that tools detect reads past its end. */
static int run_file(const char *path)
{
	static uint8_t buffer[INPUT_MAX];
	FILE *f = fopen(path, "re");
	uint8_t *data;
	size_t size;

	if (!f) {
		fprintf(stderr, "%s: %s\n", path, strerror(errno));
		return 1;
	}
	size = fread(buffer, 1, sizeof(buffer), f);
	fclose(f);
	data = malloc(size ? size : 1);
	if (!data)
		return 1;
	memcpy(data, buffer, size);
	printf("%s: %zu bytes\n", path, size);
	fflush(stdout); /* flushed before a possible crash */
	LLVMFuzzerTestOneInput(data, size);
	free(data);
	return 0;
}

static int run(const char *path)
{
	char name[PATH_MAX];
	DIR *d = opendir(path);
	struct dirent *e;
	int failed = 0;

	if (!d)
		return run_file(path);
	while ((e = readdir(d))) {
		if (e->d_name[0] == '.')
			continue;
		snprintf(name, sizeof(name), "%.3000s/%s", path, e->d_name);
		failed |= run_file(name);
	}
	closedir(d);
	return failed;
}

int main(int argc, char **argv)
{
	int failed = argc < 2;

	for (int i = 1; i < argc; i++)
		failed |= run(argv[i]);
	return failed;
}
