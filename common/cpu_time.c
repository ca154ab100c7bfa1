/* SPDX-License-Identifier: MIT */
#include "cpu_time.h"

#include <dirent.h>
#include <stdio.h>
#include <unistd.h>

uint64_t process_cpu_ns(pid_t pid)
{
	char path[64];
	struct dirent *e;
	uint64_t sum = 0;
	DIR *tasks;

	snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
	tasks = opendir(path);
	while (tasks && (e = readdir(tasks))) {
		unsigned long long ns;
		char file[400];
		FILE *f;

		if (e->d_name[0] == '.')
			continue;
		snprintf(file, sizeof(file), "%s/%s/schedstat", path, e->d_name);
		f = fopen(file, "re");
		if (!f)
			continue;
		if (fscanf(f, "%llu", &ns) == 1)
			sum += ns;
		fclose(f);
	}
	if (tasks)
		closedir(tasks);
	return sum;
}

int64_t stolen_cpu_ns(void)
{
	FILE *f = fopen("/proc/stat", "re");
	long long ticks = -1;

	if (!f)
		return -1;
	/* user nice system idle iowait irq softirq steal */
	if (fscanf(f, "cpu %*u %*u %*u %*u %*u %*u %*u %lld", &ticks) != 1)
		ticks = -1;
	fclose(f);
	return ticks < 0 ? -1 : ticks * (1000000000 / sysconf(_SC_CLK_TCK));
}
