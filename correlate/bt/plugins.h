/* SPDX-License-Identifier: MIT */
/* babeltrace2's own plugins, which read a trace. */
#ifndef MAGNET_CORRELATE_BT_PLUGINS_H
#define MAGNET_CORRELATE_BT_PLUGINS_H

#include <babeltrace2/babeltrace.h>

/*
 * Returns the plugin installed with the library, NULL if it cannot be loaded. Other places are
 * searched only for users without privileges: root must not load other users' code.
 */
const bt_plugin *mg_bt_plugin(const char *name);

#endif
