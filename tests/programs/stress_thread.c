/* SPDX-License-Identifier: MIT */
/* What ThreadSanitizer cannot see, in the program it watches. */
const char *__tsan_default_suppressions(void);

/* A ring goes from a thread that has ended to a new one by way of the collector's process. */
const char *__tsan_default_suppressions(void)
{
	return "race:^claim$\nmutex:^claim$\n";
}
