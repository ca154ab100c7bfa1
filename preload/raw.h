/* SPDX-License-Identifier: MIT */
/* The C library's own syscall(), past our wrapper of it. */
#ifndef MAGNET_PRELOAD_RAW_H
#define MAGNET_PRELOAD_RAW_H

long mg_system_call(long nr, long a, long b, long c);

#endif
