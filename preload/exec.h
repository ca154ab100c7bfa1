/* SPDX-License-Identifier: MIT */
/* LD_PRELOAD of a recorded program and its children. */
#ifndef MAGNET_PRELOAD_EXEC_H
#define MAGNET_PRELOAD_EXEC_H

/* Removes from the environment what was added for this process only. */
void mg_exec_begin(void);

#endif
