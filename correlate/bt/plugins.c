/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "plugins.h"

#include <dlfcn.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

/* Writes DIRECTORY/babeltrace2/plugins, where DIRECTORY holds the loaded library. */
static bool path_of(const char *name, char path[PATH_MAX])
{
	const char *slash;
	Dl_info library;

	if (!dladdr(dlsym(RTLD_DEFAULT, "bt_plugin_find"), &library) || !library.dli_fname)
		return false;
	slash = strrchr(library.dli_fname, '/');
	if (!slash ||
		snprintf(path, PATH_MAX, "%.*s/babeltrace2/plugins/babeltrace-plugin-%s.so",
			(int)(slash - library.dli_fname), library.dli_fname, name) >= PATH_MAX)
		return false;
	return access(path, R_OK) == 0;
}

static const bt_plugin *installed(const char *name)
{
	const bt_plugin_set *set = NULL;
	const bt_plugin *plugin = NULL;
	char path[PATH_MAX];

	if (!path_of(name, path) || bt_plugin_find_all_from_file(path, BT_FALSE, &set) !=
					    BT_PLUGIN_FIND_ALL_FROM_FILE_STATUS_OK)
		return NULL;
	if (bt_plugin_set_get_plugin_count(set)) {
		plugin = bt_plugin_set_borrow_plugin_by_index_const(set, 0);
		bt_plugin_get_ref(plugin);
	}
	bt_plugin_set_put_ref(set);
	return plugin;
}

/* Removes the variables that the library would read plugins from, even when it is given a file. */
static void forget_environment(void)
{
	unsetenv("BABELTRACE_PLUGIN_PATH");
	unsetenv("LIBBABELTRACE2_PLUGIN_PROVIDER_DIR");
	setenv("LIBBABELTRACE2_DISABLE_PYTHON_PLUGINS", "1", 1);
}

const bt_plugin *mg_bt_plugin(const char *name)
{
	bool privileged = geteuid() == 0 || getauxval(AT_SECURE);
	const bt_plugin *plugin;

	if (privileged)
		forget_environment();
	plugin = installed(name);
	if (!plugin && !privileged &&
		bt_plugin_find(name, BT_TRUE, BT_TRUE, BT_TRUE, BT_TRUE, BT_FALSE, &plugin) !=
			BT_PLUGIN_FIND_STATUS_OK)
		return NULL;
	return plugin;
}
