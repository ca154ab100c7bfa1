/* SPDX-License-Identifier: MIT */
/*
 * Counting of jansson's failed allocations, most of which it does not report. Between begin and end
 * they are counted by mg_memory_failures(); afterwards jansson has its previous allocation
 * functions again.
 */
#ifndef MAGNET_CORRELATE_BT_JSON_MEMORY_H
#define MAGNET_CORRELATE_BT_JSON_MEMORY_H

void json_memory_begin(void);
void json_memory_end(void);

#endif
