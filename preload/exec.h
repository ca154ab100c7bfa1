/* SPDX-License-Identifier: MIT */
/* What a recorded program's children are given to preload. */
#ifndef MAGNET_PRELOAD_EXEC_H
#define MAGNET_PRELOAD_EXEC_H

/* Takes out of the environment what was put there for this process only. */
void mg_exec_begin(void);

#endif
