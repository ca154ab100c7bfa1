/* SPDX-License-Identifier: MIT */
#include "lttng_ctl.h"

#include <dlfcn.h>
#include <stdbool.h>
#include <stdio.h>

#define LIBRARY "liblttng-ctl.so.0"

static const struct {
	const char *name;
	size_t at;
} functions[] = {
#define ROW(name) {#name, offsetof(struct lttng_ctl, name)},
	LTTNG_CTL_FUNCTIONS(ROW)
#undef ROW
};

const struct lttng_ctl *lttng_ctl(char *why, size_t size)
{
	static struct lttng_ctl ctl;
	static bool loaded;
	void *library = loaded ? NULL : dlopen(LIBRARY, RTLD_NOW | RTLD_LOCAL);

	if (loaded)
		return &ctl;
	if (!library) {
		snprintf(why, size, "%s: install liblttng-ctl0 (Debian) or lttng-tools", dlerror());
		return NULL;
	}
	for (size_t i = 0; i < sizeof(functions) / sizeof(functions[0]); i++) {
		void *f = dlsym(library, functions[i].name);

		if (!f) {
			snprintf(why, size, LIBRARY " has no %s: install LTTng 2.13 or newer",
				functions[i].name);
			dlclose(library);
			return NULL;
		}
		*(void **)((char *)&ctl + functions[i].at) = f;
	}
	loaded = true;
	return &ctl;
}
