/* SPDX-License-Identifier: MIT */
/* The fields of any event as text. */
#ifndef MAGNET_CORRELATE_BT_FIELDS_H
#define MAGNET_CORRELATE_BT_FIELDS_H

#include <babeltrace2/babeltrace.h>

/* Returns "name=value name=value", without spaces in names and values; NULL if memory is short. */
char *fields_text(const bt_field *payload);

#endif
