/* SPDX-License-Identifier: MIT */
/*
 * jansson passes few of its failures on. In between these two what it is refused is counted by
 * mg_memory_failures(), too; its allocation functions are those of the process again afterwards.
 */
#ifndef MAGNET_CORRELATE_BT_JSON_MEMORY_H
#define MAGNET_CORRELATE_BT_JSON_MEMORY_H

void json_memory_begin(void);
void json_memory_end(void);

#endif
